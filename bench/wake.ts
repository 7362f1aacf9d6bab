// How long after an enqueue its handler starts, if nothing runs and the consumer is woken; beside what a bare
// HTTP call to the same consumer takes, turn by turn in the same run.

import { fork } from "node:child_process";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { Queue, webhookWaker } from "../src/index.ts";
import { startGateway } from "../src/local/index.ts";
import { upstash } from "../src/transports/upstash.ts";
import { startRedis } from "../test/support/redis.ts";
import { median, payload, printGoal, printTable, quick } from "./report.ts";

const rounds = quick ? 20 : 200;
const secret = `whsec_${Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString("base64")}`;
const now = () => performance.timeOrigin + performance.now();

const redis = await startRedis();
const gateway = await startGateway({ redisUrl: redis.url });
const consumer = fork(fileURLToPath(new URL("wake-consumer.ts", import.meta.url)), [
  gateway.url,
  gateway.token,
  secret,
]);
const started = new Map<string, (at: number) => void>();
const port = await new Promise<number>((resolve) =>
  consumer.on("message", (message: { port?: number; id?: string; startedAt?: number }) => {
    if (message.port !== undefined) resolve(message.port);
    else started.get(message.id ?? "")?.(message.startedAt ?? Number.NaN);
  }),
);

const consumerUrl = `http://127.0.0.1:${port}`;
const emails = new Queue("bench", {
  transport: upstash({ url: gateway.url, token: gateway.token }),
  wake: webhookWaker({ url: `${consumerUrl}/wake`, secret, waitUntil: () => {} }),
});

/** Milliseconds from the call of `begin` to the start of the handler for that id. */
async function latency(id: string, begin: () => Promise<unknown>): Promise<number> {
  const start = new Promise<number>((resolve) => started.set(id, resolve));
  const begun = now();
  await begin();
  const took = (await start) - begun;
  started.delete(id);
  return took;
}

const bare: number[] = [];
const woken: number[] = [];
for (let round = -5; round < rounds; round++) {
  const call = () => fetch(consumerUrl, { method: "POST", headers: { "task-id": `call-${round}` } });
  const task = () => emails.enqueue(payload(round + 5), { id: `task-${round + 5}` });
  const [a, b] = [await latency(`call-${round}`, call), await latency(`task-${round + 5}`, task)];
  if (round >= 0) {
    bare.push(a);
    woken.push(b);
  }
  // Wait until the drain has found nothing more: then no consumer is awake for the next task.
  while ((await emails.counts()).working > 0) await setTimeout(5);
  await setTimeout(30);
}

const slow = (times: readonly number[]) =>
  times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.95)] ?? 0;
const ms = (time: number) => time.toFixed(1);
printTable(
  [`${rounds} of each, ms`, "median", "95 %"],
  [
    ["a bare HTTP call, to the consumer's first line", ms(median(bare)), ms(slow(bare))],
    ["enqueue, wake, pull, to the handler's first line", ms(median(woken)), ms(slow(woken))],
  ],
);
printGoal("enqueue to handler start, woken", `${ms(median(woken))} ms`, "50 ms", median(woken) <= 50);

consumer.kill();
await gateway.close();
await redis.stop();
