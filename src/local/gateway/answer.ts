import { setTimeout as sleep } from "node:timers/promises";
import { type Hit, scriptSha } from "./faults.ts";
import { RedisUnavailable } from "./redis.ts";
import { errorJson, type Outcome, outcomeJson } from "./reply.ts";
import type { RestRequest } from "./request.ts";
import type { Command, Rights, Runner } from "./run.ts";

/** What goes back over HTTP. `cut` breaks the connection before the body, or in its middle. */
export interface Answer {
  readonly status: number;
  readonly body: string;
  readonly contentType?: string;
  readonly cut?: "before" | "within";
}

const cutBefore: Answer = { status: 500, body: "", cut: "before" };
const noScript: Outcome = { error: "NOSCRIPT No matching script. Please use EVAL." };
const quota: Outcome = {
  error:
    "ERR max requests limit exceeded. Limit: 500000, Usage: 500000. " +
    "See https://upstash.com/docs/redis/troubleshooting/max_requests_limit for details",
};

/** Answers a request as the fault that hits it wants. */
export async function answerFaulty(
  runner: Runner,
  request: RestRequest,
  rights: Rights,
  hit: Hit,
): Promise<Answer> {
  const { fault } = hit;
  const run = (): Promise<Answer> => answer(runner, request, rights);
  switch (fault.kind) {
    case "cut":
      return cutBefore;
    case "hold":
      hit.hold(run);
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
      return fault.answer === "first" ? first : second;
    }
    case "http":
      return { status: fault.status, body: fault.body, contentType: fault.contentType };
    case "quota":
      return await answer(runner, request, rights, () => quota);
    case "noscript":
      break;
  }
  const lost = (command: Command) =>
    hit.matching.has(command) && scriptSha(command) !== undefined ? noScript : undefined;
  return await answer(runner, request, rights, lost);
}

/**
 * Runs a request's commands.
 * @param instead an outcome for a command that is not to run
 */
export async function answer(
  runner: Runner,
  request: RestRequest,
  rights: Rights,
  instead: (command: Command) => Outcome | undefined = () => undefined,
): Promise<Answer> {
  const { form, commands } = request;
  try {
    if (form === "multi-exec") {
      const refusal = commands.map(instead).find((outcome) => outcome !== undefined);
      const outcomes = refusal ?? (await runner.transaction(commands, rights));
      if (Array.isArray(outcomes)) return answerWith(request, outcomes);
      return { status: 400, body: outcomeJson(outcomes, "plain") };
    }
    const running = commands.map(async (command) => instead(command) ?? (await runner.run(command, rights)));
    return answerWith(request, await Promise.all(running));
  } catch (error) {
    if (!(error instanceof RedisUnavailable)) throw error;
    return { status: 500, body: errorJson(`ERR Redis is not reachable: ${error.message}`) };
  }
}

function answerWith({ form, encoding }: RestRequest, outcomes: readonly Outcome[]): Answer {
  if (form !== "single")
    return { status: 200, body: `[${outcomes.map((one) => outcomeJson(one, encoding)).join(",")}]` };
  const [outcome] = outcomes as [Outcome];
  return { status: failed(outcome) ? 400 : 200, body: outcomeJson(outcome, encoding) };
}

const failed = (outcome: Outcome): boolean => "error" in outcome || outcome.reply instanceof Error;
