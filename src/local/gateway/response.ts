import { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { type Hit, scriptSha } from "./faults.ts";
import type { Feed } from "./feed.ts";
import { RedisUnavailable } from "./redis-client.ts";
import { arrayResp2, errorJson, type Outcome, outcomeJson, outcomeResp2 } from "./reply.ts";
import type { RestRequest } from "./request.ts";
import type { Command, Rights, Runner } from "./run.ts";

/**
 * The response to an HTTP request. `cut` breaks the connection before the body or in the middle of it. The
 * middle of a stream is its first event after the confirmation.
 */
export interface GatewayResponse {
  readonly status: number;
  readonly body: string | Buffer | Feed;
  readonly contentType?: string;
  readonly cut?: "before" | "within";
  /** Called with the number of bytes sent, unless the response is cut. */
  readonly sent?: (bytes: number) => void;
}

const cutBefore: GatewayResponse = { status: 500, body: "", cut: "before" };
const noScript: Outcome = { error: "NOSCRIPT No matching script. Please use EVAL." };
const quota: Outcome = {
  error:
    "ERR max requests limit exceeded. Limit: 500000, Usage: 500000. " +
    "See https://upstash.com/docs/redis/troubleshooting/max_requests_limit for details",
};

/** Executes a request with the fault that hits it. */
export async function executeWithFault(
  runner: Runner,
  request: RestRequest,
  rights: Rights,
  hit: Hit,
): Promise<GatewayResponse> {
  const { fault } = hit;
  const run = (): Promise<GatewayResponse> => execute(runner, request, rights);
  switch (fault.kind) {
    case "cut":
      return cutBefore;
    case "hold":
      hit.hold(async () => discard(await run()));
      return cutBefore;
    case "lose-reply":
      return { ...(await run()), cut: "before" };
    case "cut-body":
      return { ...(await run()), cut: "within" };
    case "delay":
      await sleep(fault.ms);
      return await run();
    case "duplicate": {
      const first = await run();
      const second = await run();
      discard(fault.answer === "first" ? second : first);
      return fault.answer === "first" ? first : second;
    }
    case "http":
      if (fault.runs) discard(await run());
      return { status: fault.status, body: fault.body, contentType: fault.contentType };
    case "stall": {
      const ran = fault.runs ? await run() : undefined;
      return await new Promise((resolve) => {
        hit.hold(async () => {
          const answered = ran ? Promise.resolve(ran) : run();
          resolve(answered);
          await answered;
        });
      });
    }
    case "flush-scripts":
      return await execute(runner, request, rights, (command) => {
        if (hit.matching.has(command) && scriptSha(command) !== undefined) runner.forgetScripts();
        return undefined;
      });
    case "quota":
      return await execute(runner, request, rights, () => quota);
    case "noscript":
      break;
  }
  const withoutScript = (command: Command) =>
    hit.matching.has(command) && scriptSha(command) !== undefined ? noScript : undefined;
  return await execute(runner, request, rights, withoutScript);
}

/**
 * Executes the commands of a request.
 * @param instead returns an outcome for a command that must not run
 */
export async function execute(
  runner: Runner,
  request: RestRequest,
  rights: Rights,
  instead: (command: Command) => Outcome | undefined = () => undefined,
): Promise<GatewayResponse> {
  const { form, commands } = request;
  try {
    if (form === "stream") {
      const [command] = commands as readonly [Command];
      const opened = instead(command) ?? (await runner.open(command, rights));
      if (opened instanceof Readable) return { status: 200, body: opened, contentType: "text/event-stream" };
      return { status: 400, body: outcomeJson(opened, "json") };
    }
    if (form === "multi-exec") {
      const refusal = commands.map(instead).find((outcome) => outcome !== undefined);
      const outcomes = refusal ?? (await runner.transaction(commands, rights));
      if (Array.isArray(outcomes)) return responseOf(request, outcomes);
      return { status: 400, body: outcomeJson(outcomes, "json") };
    }
    const running = commands.map(async (command) => instead(command) ?? (await runner.run(command, rights)));
    return responseOf(request, await Promise.all(running));
  } catch (error) {
    if (!(error instanceof RedisUnavailable)) throw error;
    return { status: 500, body: errorJson(`ERR Redis is not reachable: ${error.message}`) };
  }
}

function responseOf({ form, format }: RestRequest, outcomes: readonly Outcome[]): GatewayResponse {
  const [first] = outcomes as [Outcome];
  const single = form === "single";
  const status = single && failed(first) ? 400 : 200;
  if (format === "resp2") {
    const replies = outcomes.map(outcomeResp2);
    const body = single ? Buffer.concat(replies) : arrayResp2(replies);
    return { status, body, contentType: "application/octet-stream" };
  }
  const replies = outcomes.map((outcome) => outcomeJson(outcome, format)).join(",");
  return { status, body: single ? replies : `[${replies}]` };
}

const failed = (outcome: Outcome): boolean => "error" in outcome || outcome.reply instanceof Error;

/** Discards a response that is not sent. A stream is closed. */
export function discard({ body }: GatewayResponse): void {
  if (body instanceof Readable) body.destroy();
}
