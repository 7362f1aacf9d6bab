import { afterEach, expect, vi } from "vitest";

import { SluiceError } from "../../src/errors.ts";
import type { Command, CommandOutcome } from "../../src/queue/redis/transport.ts";
import type { RetryOptions } from "../../src/transport/retry.ts";
import { upstash } from "../../src/transport/upstash.ts";
import { script } from "../transport/script.ts";

export const url = "http://redis.test";
export const token = "the-secret-token";
/** Part of the arguments of every script call: no error may show it. */
export const payload = "the-secret-payload";

export const echo = script("echo", "return ARGV[1]");
export const call: Command = {
  script: echo,
  keys: ["{q}:k"],
  args: [payload, "0"],
  resendArgs: [payload, "1"],
};
const evalsha = ["EVALSHA", echo.keyLockingSha1, "1", "{q}:k"];
export const firstCopy = [...evalsha, payload, "0"];
export const resend = [...evalsha, payload, "1"];

export type Responder = () => Response | Promise<Response>;

/** Replaces the network in a test file by an Upstash. Each test sets its answers. */
export function useUpstash() {
  afterEach(() => vi.unstubAllGlobals());

  /** Answers the n-th request with the n-th responder and keeps the requests. */
  function answering(...responders: Responder[]) {
    const sent: { path: string; headers: Headers; body: unknown }[] = [];
    vi.stubGlobal("fetch", async (input: string | URL | Request, init?: RequestInit) => {
      const request = new Request(input, init);
      const { pathname: path } = new URL(request.url);
      sent.push({ path, headers: request.headers, body: await request.json() });
      const responder = responders[sent.length - 1];
      if (!responder) throw new Error(`request ${sent.length} was one too many`);
      const { signal } = request;
      const aborted = new Promise<never>((_, reject) => {
        signal.addEventListener("abort", () => reject(signal.reason as Error));
      });
      return Promise.race([responder(), aborted]);
    });
    return sent;
  }

  return { answering };
}

export function transport(retry: RetryOptions = {}) {
  return upstash({ url, token }, { retry: { firstWait: 1, longestWait: 1, ...retry } });
}

export async function failure(sending: Promise<CommandOutcome[]>): Promise<SluiceError> {
  const outcome: unknown = await sending.then(
    ([first]) => first && "error" in first && first.error,
    (reason: unknown) => reason,
  );
  if (!(outcome instanceof SluiceError)) throw new Error("expected a SluiceError");
  expectNoSecret(outcome);
  return outcome;
}

/** Checks every form in which an error is commonly shown or logged. */
function expectNoSecret(error: Error) {
  for (let each: unknown = error; each instanceof Error; each = each.cause) {
    const shown = [
      String(each),
      each.stack,
      JSON.stringify(each),
      JSON.stringify(each, Object.getOwnPropertyNames(each)),
    ].join("\n");
    expect(shown).not.toContain(payload);
    expect(shown).not.toContain(token);
  }
}

export const ok: Responder = () => Response.json([{ result: "done" }]);
/** The command fails; the request does not. */
export const refused = (text: string) => () => Response.json([{ error: text }]);
/** The request fails. */
export const error = (status: number, text: string) => () => Response.json({ error: text }, { status });
