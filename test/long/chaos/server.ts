// The HTTP interface in a process of its own, which sweeps each second.

import { serve } from "../../../serverless/node.ts";
import { RunProcess } from "./run-process.ts";

const { env } = new RunProcess();
await serve({
  env: {
    ...(env.CHAOS_GATEWAY === ""
      ? { REDIS_URL: env.CHAOS_REDIS }
      : { UPSTASH_REDIS_REST_URL: env.CHAOS_GATEWAY, UPSTASH_REDIS_REST_TOKEN: env.CHAOS_TOKEN }),
    SLUICE_TOKENS: JSON.stringify([
      { token: env.CHAOS_TOKEN, scopes: ["enqueue", "consume", "admin"], queues: "*" },
    ]),
  },
  port: Number(new URL(env.CHAOS_SERVER).port),
  hostname: "127.0.0.1",
  every: "1s",
});
