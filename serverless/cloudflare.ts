import { type Environment, readConfig } from "../src/config.ts";
import { SluiceError } from "../src/errors.ts";
import { createApp } from "../src/http/app.ts";
import { misconfigured } from "../src/http/misconfigured.ts";
import { sweep } from "../src/queue/sweep.ts";
import { upstash } from "../src/transport/upstash.ts";

/** Well within the minute until cron calls again. */
const sweepBudget = "20s";

let deployment: ReturnType<typeof deploy> | undefined;

function deploy(env: Environment) {
  const { redis, tokens, cronSecret, prefix } = readConfig(env);
  if ("redisUrl" in redis) {
    throw new SluiceError(
      "invalid_argument",
      "A Worker reaches Redis over HTTP: set UPSTASH_REDIS_REST_URL and UPSTASH_REDIS_REST_TOKEN, not REDIS_URL",
    );
  }
  const transport = upstash(redis);
  return { transport, prefix, app: createApp({ transport, tokens, cronSecret, prefix }) };
}

export default {
  async fetch(request: Request, env: Environment): Promise<Response> {
    try {
      deployment ??= deploy(env);
    } catch (error) {
      return misconfigured(error);
    }
    return deployment.app.fetch(request);
  },

  /** Sweeps every registered queue. A sweep that moved or missed something leaves a line in the log. */
  async scheduled(_event: unknown, env: Environment): Promise<void> {
    deployment ??= deploy(env);
    const { transport, prefix } = deployment;
    const report = await sweep(transport, { budget: sweepBudget, prefix });
    const { promoted, reclaimed, rejected, expired, failed } = report;
    if (failed.length > 0) console.error(JSON.stringify({ sweep: report }));
    else if (promoted + reclaimed + rejected + expired > 0) console.log(JSON.stringify({ sweep: report }));
  },
};
