// Redis bytes per task in each state: 200-byte payload, generated id, no group. The whole of Redis's memory
// counts, keys, tables and allocator included, less what it takes empty.

import { createClient } from "@redis/client";
import { setTimeout as sleep } from "node:timers/promises";
import { Queue, type QueueOptions } from "../src/index.ts";
import { resp } from "../src/transports/resp.ts";
import { startRedis } from "../test/support/redis.ts";
import { payload, printGoal, printTable, quick, whole } from "./report.ts";

// Hash tables double: a count just above a power of two is the worst, one just below it the best.
const COUNTS = quick ? [10_000] : [100_000, 130_000, 140_000, 380_000];

const redis = await startRedis();
const control = await createClient({ url: redis.url }).connect();

async function usedMemory(): Promise<number> {
  return Number(/^used_memory:(\d+)/m.exec(await control.info("memory"))?.[1]);
}

/** Memory once it no longer changes: Redis moves grown tables over bit by bit. */
async function settledMemory(): Promise<number> {
  let last = -1;
  let same = 0;
  for (;;) {
    const now = await usedMemory();
    same = Math.abs(now - last) < 1_024 ? same + 1 : 0;
    if (same === 5) return now;
    last = now;
    await sleep(200);
  }
}

type Fill = (queue: Queue, count: number) => Promise<void>;

async function enqueueAll(queue: Queue, count: number): Promise<void> {
  for (let first = 0; first < count; first += 1_000) {
    const size = Math.min(1_000, count - first);
    await queue.enqueueMany(Array.from({ length: size }, (_, i) => ({ payload: payload(first + i) })));
  }
}

async function completeAll(queue: Queue, result?: unknown): Promise<void> {
  for (;;) {
    const batch = await queue.dequeue({ max: 1_000 });
    if (batch.length === 0) return;
    await queue.settle(batch.map(({ receipt }) => ({ receipt, outcome: "complete", result })));
  }
}

const states: { name: string; options?: Partial<QueueOptions>; fill: Fill }[] = [
  { name: "pending", fill: enqueueAll },
  { name: "delayed", options: { delay: "1h" }, fill: enqueueAll },
  {
    name: "working",
    fill: async (queue, count) => {
      await enqueueAll(queue, count);
      for (let left = count; left > 0; left -= 1_000) await queue.dequeue({ max: 1_000 });
    },
  },
  {
    name: "completed, with a small result",
    fill: async (queue, count) => {
      await enqueueAll(queue, count);
      await completeAll(queue, { ok: true });
    },
  },
  {
    name: "completed, no result kept (a tombstone, 5 minutes)",
    options: { resultTtl: 0 },
    fill: async (queue, count) => {
      await enqueueAll(queue, count);
      await completeAll(queue);
    },
  },
];

async function bytesPerTask({ options, fill }: (typeof states)[number], count: number): Promise<number> {
  await control.flushAll();
  const empty = await settledMemory();
  const transport = resp(redis.url);
  await fill(new Queue("bench", { transport, ...options }), count);
  await transport.close();
  return ((await settledMemory()) - empty) / count;
}

// Once before it counts: scripts are loaded, and Redis has the buffers that it keeps.
for (const state of states) await bytesPerTask(state, 1_000);

let pending = 0;
const rows: string[][] = [];
for (const state of states) {
  const figures: number[] = [];
  for (const count of COUNTS) figures.push(await bytesPerTask(state, count));
  if (state.name === "pending") pending = Math.max(...figures);
  rows.push([state.name, ...figures.map((figure) => figure.toFixed(0))]);
}
console.log("Bytes per task, by how many there are; 200-byte payload, generated id\n");
printTable(["", ...COUNTS.map(whole)], rows);
console.log();
printGoal("pending", `at most ${pending.toFixed(0)} B`, "≤ 340 B", pending <= 340);

control.destroy();
await redis.stop();
