// How late a delayed task starts, by Redis's clock: in a server, and in a Worker in workerd with the alarm of the
// Durable Object. Tasks are enqueued over HTTP, with delays of two seconds and more. Cron takes no part.

import { setTimeout } from "node:timers/promises";
import { serve } from "../serverless/node.ts";
import { createClient, type ClientOptions } from "../src/client/index.ts";
import { Queue } from "../src/index.ts";
import { startGateway } from "../src/local/index.ts";
import { upstash } from "../src/transports/upstash.ts";
import { startWorker } from "../tools/workerd/harness.ts";
import { dueWork } from "../test/platforms/due-deployment.ts";
import { startRedis } from "../test/support/redis.ts";
import { median, printTable, quick } from "./report.ts";

const tasks = quick ? 5 : 30;
/** The time between two tasks, ms. */
const APART = 700;

const token = "a-token-of-the-bench";
const redis = await startRedis();
const gateway = await startGateway({ redisUrl: redis.url });

const envOf = (prefix: string) => ({
  UPSTASH_REDIS_REST_URL: gateway.url,
  UPSTASH_REDIS_REST_TOKEN: gateway.token,
  SLUICE_TOKENS: JSON.stringify([{ token, scopes: ["enqueue"], queues: "*" }]),
  SLUICE_PREFIX: prefix,
});

/** How late each task started, ms. */
async function lateness(prefix: string, options: Pick<ClientOptions, "url" | "fetch">): Promise<number[]> {
  const client = createClient({ ...options, token }).queue("due");
  const queue = new Queue("due", { transport: upstash({ url: gateway.url, token: gateway.token }), prefix });
  const delays = Array.from({ length: tasks }, (_, i) => 2_000 + APART * i);
  const enqueued = await client.enqueueMany(delays.map((delay) => ({ payload: 1, delay })));
  await setTimeout(Math.max(...delays) + 3_000);
  return Promise.all(
    enqueued.map(async ({ id }, i) => {
      const { enqueuedAt = 0, transitions = [] } = (await queue.get(id)) ?? {};
      const begun = transitions.find(({ to }) => to === "working")?.at ?? Number.NaN;
      return begun - enqueuedAt - (delays[i] as number);
    }),
  );
}

// Neither logs its drains here.
const { info } = console;
console.info = () => {};
const server = await serve({
  ...dueWork,
  env: envOf("server"),
  port: 0,
  hostname: "127.0.0.1",
  signals: false,
});
const inServer = await lateness("server", { url: server.url });
await server.close();
const worker = await startWorker("test/platforms/cloudflare/alarm.toml", envOf("worker"));
const inWorker = await lateness("worker", {
  url: "https://worker.bench",
  fetch: (url, init) => worker.fetch(new Request(url, init)),
});
await worker.server.close();
await gateway.close();
await redis.stop();

console.info = info;
const row = (where: string, late: readonly number[]) => [
  where,
  String(late.length),
  median(late).toFixed(0),
  Math.max(...late).toFixed(0),
];
printTable(
  ["how late a delayed task starts, ms", "tasks", "median", "worst"],
  [row("a server on Node", inServer), row("a Worker in workerd, with the alarm", inWorker)],
);
