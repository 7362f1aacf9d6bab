import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { SluiceError } from "../../src/errors.ts";
import type { Command } from "../../src/kernel/transport.ts";
import type { RetryOptions } from "../../src/transports/retry.ts";
import { upstash } from "../../src/transports/upstash.ts";
import { script } from "./script.ts";

// The REST protocol of Upstash: what is sent, and which answers are sent again. What this transport has in common with
// others: test/proofs/conformance.

const token = "the-secret-token";
/** Part of the arguments of every script call: no error may show it. */
const payload = "the-secret-payload";
const echo = script("echo", "return ARGV[1]");
const call: Command = {
  script: echo,
  keys: ["{q}:k"],
  args: [payload, "0"],
  resendArgs: [payload, "1"],
};
const evalsha = ["EVALSHA", echo.keyLockingSha1, "1", "{q}:k"];
const firstCopy = [...evalsha, payload, "0"];
const resend = [...evalsha, payload, "1"];

type Responder = (signal: AbortSignal) => Response | Promise<Response>;

let sent: { readonly path: string; readonly headers: object; readonly body: unknown }[];
let responders: Responder[];
beforeEach(() => {
  sent = [];
  vi.stubGlobal("fetch", async (url: string, { headers, body, signal }: RequestInit) => {
    const path = url.replace("https://redis.test", "");
    sent.push({ path, headers: Object.fromEntries(new Headers(headers)), body: JSON.parse(body as string) });
    return responders.shift()!(signal!);
  });
});
afterEach(() => void vi.unstubAllGlobals());

/** A transport whose requests get these answers, one after the other. */
function answering(answers: readonly Responder[], retry: RetryOptions = {}) {
  responders = [...answers];
  return upstash({ url: "https://redis.test", token }, { retry: { firstWait: 0, longestWait: 0, ...retry } });
}

const text = (status: number, body: string, type: string) => () =>
  new Response(body, { status, headers: { "content-type": type } });
const json = (body: unknown, status = 200) => text(status, JSON.stringify(body), "application/json");
const html = (status: number) => text(status, `<h1>${payload}</h1>`, "text/html");
const error = (status: number, reason: string) => json({ error: reason }, status);
const ok = json([{ result: "done" }]);
/** A reply of which half arrives, before something happens that may end it. */
const half = (then: (controller: ReadableStreamDefaultController) => void) =>
  new Response(
    new ReadableStream({
      start: (controller) => controller.enqueue(new TextEncoder().encode(`[{"result":"${payload}`)),
      pull: then,
    }),
  );

async function failure(sending: Promise<readonly unknown[]>): Promise<Pick<SluiceError, "code" | "message">> {
  const outcome: unknown = await sending.then(
    ([first]) => (first as { error?: unknown }).error,
    (reason: unknown) => reason,
  );
  if (!(outcome instanceof SluiceError)) throw new Error("expected a SluiceError");
  // In every form in which an error is commonly shown or logged.
  for (let each: unknown = outcome; each instanceof Error; each = each.cause) {
    const all = JSON.stringify(each, Object.getOwnPropertyNames(each));
    expect([String(each), each.stack, JSON.stringify(each), all].join("\n")).not.toMatch(/the-secret/);
  }
  const { code, message } = outcome;
  return { code, message };
}

describe("the request", () => {
  test("is one pipeline of all commands, even for one, and nothing else", async () => {
    const transport = answering([ok, json([{ result: 1 }, { result: null }])]);
    expect(await transport.send([call])).toEqual([{ reply: "done" }]);
    const reads = [
      ["LLEN", "l"],
      ["GET", "007"],
    ] as const;
    expect(await transport.send(reads)).toEqual([{ reply: 1 }, { reply: null }]);
    expect(sent).toMatchObject([
      { path: "/pipeline", body: [firstCopy] },
      { path: "/pipeline", body: reads },
    ]);
  });

  test("authorizes itself, asks for plain replies, sends no telemetry, and the sync token of the reply before", async () => {
    const synced = () => Response.json([{ result: "done" }], { headers: { "upstash-sync-token": "t1" } });
    const transport = answering([synced, ok]);
    await transport.send([call]);
    await transport.send([call]);
    const authorization = `Bearer ${token}`;
    expect(sent.map(({ headers }) => headers)).toEqual([
      expect.objectContaining({ authorization, "upstash-sync-token": "" }),
      expect.objectContaining({ authorization, "upstash-sync-token": "t1" }),
    ]);
    const names = sent.flatMap(({ headers }) => Object.keys(headers));
    expect(names.filter((name) => /telemetry|upstash-encoding/.test(name))).toEqual([]);
  });
});

describe("is sent again, as a resend:", () => {
  test.each<[string, Responder, string]>([
    ["a lost reply", () => Promise.reject(new TypeError(`lost: ${token}`)), "a network error (lost: …)"],
    [
      "a reply that is cut",
      () => half((reply) => reply.error(new TypeError("terminated"))),
      "a network error",
    ],
    [
      "a reply that is whole for HTTP and half for JSON",
      text(200, '[{"result":"do', "application/json"),
      "a reply that is not JSON",
    ],
    ["HTTP 429", error(429, "Too Many Requests"), "an HTTP error (Too Many Requests)"],
    ["HTTP 429 in the words of Redis", error(429, "ERR too many requests"), "an HTTP error (ERR too many"],
    ["HTTP 500", error(500, "Internal Server Error"), "an HTTP error (Internal Server Error)"],
    ["HTTP 500 in the words of Redis", error(500, "ERR internal"), "an HTTP error (ERR internal)"],
    ["HTTP 500 without a reason", json({}, 500), "an HTTP error"],
    ["HTML with HTTP 502", html(502), "a reply that is not JSON"],
    ["an empty HTTP 503", text(503, "", "text/plain"), "a reply that is not JSON"],
    ["a plain HTTP 504", text(504, "timeout", "text/plain"), "a reply that is not JSON"],
    ["HTML with HTTP 200", html(200), "a reply that is not JSON"],
    ["JSON that is no reply", json({ hello: 1 }), "not one of the Redis REST protocol"],
    ["JSON that is no result", json([{ hello: 1 }]), "not one of the Redis REST protocol"],
    ["JSON that is no object", json("hello"), "not one of the Redis REST protocol"],
    ["JSON null", json(null), "not one of the Redis REST protocol"],
    [
      "Redis that is loading, for the request as a whole",
      error(500, "LOADING Redis is loading"),
      "LOADING Redis is",
    ],
    ["fewer results than commands", json([]), "not one of the Redis REST protocol"],
    [
      "more results than commands",
      json([{ result: 0 }, { result: 1 }]),
      "not one of the Redis REST protocol",
    ],
  ])("%s", async (_, fault, cause) => {
    expect(await answering([fault, fault, ok]).send([call])).toEqual([{ reply: "done" }]);
    expect(sent.map(({ body }) => body)).toEqual([[firstCopy], [resend], [resend]]);

    const { code, message } = await failure(answering([fault, fault], { tries: 2 }).send([call]));
    expect(code).toBe("redis_unreachable");
    expect(message).toMatch(/^Redis gave no useful answer in 2 tries over \d+ ms; the last time: /);
    expect(message).toContain(cause);
  });
});

describe("a request that is refused is not sent again:", () => {
  test.each([
    ["a syntax error", error(400, "ERR syntax error"), "redis_error"],
    ["a bad request", error(400, "Bad Request"), "redis_error"],
    ["a wrong path", error(404, "Not Found"), "redis_error"],
    ["a wrong token", error(401, "WRONGPASS invalid or missing auth token"), "redis_unauthorized"],
    ["HTTP 401 in other words", error(401, "Unauthorized"), "redis_unauthorized"],
    ["a used up quota", error(400, "ERR max requests limit exceeded. Limit: 1, Usage: 1."), "redis_quota"],
    ["a request above the limit", error(400, "ERR max request size exceeded. Limit: 1 bytes"), "too_large"],
  ])("%s", async (_, fault, code) => {
    expect(await failure(answering([fault]).send([call, ["GET", "k"]]))).toMatchObject({ code });
    expect(sent).toHaveLength(1);
  });
});

test.each([
  [
    "UPSTASH_REDIS_REST_TOKEN",
    { UPSTASH_REDIS_REST_URL: "https://redis.test", UPSTASH_REDIS_REST_TOKEN: token },
  ],
  ["KV_REST_API_TOKEN", { KV_REST_API_URL: "https://redis.test", KV_REST_API_TOKEN: token }],
])("a refused token of an environment is named: %s", async (name, env) => {
  responders = [error(401, "WRONGPASS invalid or missing auth token")];
  const { code, message } = await failure(upstash(env).send([call]));
  expect(code).toBe("redis_unauthorized");
  expect(message).toMatch(new RegExp(`WRONGPASS .*; the token is that of ${name}$`));
  expect(message).not.toContain(token);
});

test("a signal that aborts in the middle of the reply rejects, and nothing more is sent", async () => {
  const controller = new AbortController();
  const transport = answering([
    (signal) =>
      half((reply) => {
        signal.addEventListener("abort", () => reply.error(signal.reason));
        controller.abort();
      }),
  ]);
  const { code } = await failure(transport.send([call], { signal: controller.signal }));
  expect([code, sent.length]).toEqual(["aborted", 1]);
});

test.each([
  ["the command that the SDK repeats in it", error(400, "ERR syntax error"), "ERR syntax error"],
  ["the arguments that a proxy repeats in it", error(400, `ERR parse: ${payload}`), "ERR parse: …"],
  ["the arguments that Redis repeats in it", json([{ error: `ERR bad: ${payload}` }]), "ERR bad: …"],
])("an error text loses %s", async (_, answer, shown) => {
  const { message } = await failure(answering([answer]).send([call]));
  expect(message).toBe(`Redis refused the command: ${shown}`);
});
