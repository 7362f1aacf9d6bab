// How full a drain's requests are, and what that costs in time: handlers of 5 to 50 ms, twenty at once, over
// round trips of several lengths. Commands and requests are counted by the gateway; the time is shown as a
// ratio to the ideal, in which no handler ever waits.

import { setTimeout as sleep } from "node:timers/promises";
import { drain, Queue, type Transport } from "../src/index.ts";
import { startGateway } from "../src/local/index.ts";
import { upstash } from "../src/transports/upstash.ts";
import { dice } from "../test/support/dice.ts";
import { startRedis } from "../test/support/redis.ts";
import { median, payload, printGoal, printTable, quick } from "./report.ts";

const CONCURRENCY = 20;
const SHORTEST = 5;
const LONGEST = 50;
const ROUND_TRIPS = [0, 1, 5, 20];
const tasks = quick ? 500 : 2_000;
const rounds = quick ? 1 : 3;

const redis = await startRedis();
const gateway = await startGateway({ redisUrl: redis.url });
const near = upstash({ url: gateway.url, token: gateway.token });

/** A transport whose requests take so many ms more. */
function distant(ms: number): Transport {
  if (ms === 0) return near;
  return {
    async send(commands, options) {
      await sleep(ms / 2);
      const outcomes = await near.send(commands, options);
      await sleep(ms / 2);
      return outcomes;
    },
  };
}

/** What one drain of all tasks took; times in ms. */
async function round(roundTrip: number) {
  const queue = new Queue<{ ms: number }>("bench", { transport: distant(roundTrip) });
  const random = dice(1);
  const durations = Array.from({ length: tasks }, () => SHORTEST + random() * (LONGEST - SHORTEST));
  for (let from = 0; from < tasks; from += 500) {
    const some = durations.slice(from, from + 500);
    await queue.enqueueMany(some.map((ms, i) => ({ payload: { ...payload(i), ms }, resultTtl: 0 })));
  }
  gateway.resetUsage();
  const start = performance.now();
  let worked = 0;
  const report = await drain(
    queue,
    async (task) => {
      const began = performance.now();
      await sleep(task.payload.ms);
      worked += performance.now() - began;
    },
    { concurrency: CONCURRENCY, budget: "2m" },
  );
  const took = performance.now() - start;
  if (report.completed !== tasks) throw new Error(`${report.completed} of ${tasks} tasks were completed`);
  const { commands, requests } = gateway.usage();
  return { requests: requests / tasks, commands: commands / tasks, slowdown: took / (worked / CONCURRENCY) };
}

await round(0);
const rows: string[][] = [];
const goals: (() => void)[] = [];
for (const roundTrip of ROUND_TRIPS) {
  const costs = [];
  for (let i = 0; i < rounds; i++) costs.push(await round(roundTrip));
  const commands = median(costs.map((cost) => cost.commands));
  rows.push([
    `${roundTrip} ms more a round trip`,
    (1 / median(costs.map((cost) => cost.requests))).toFixed(1),
    commands.toFixed(2),
    `${median(costs.map((cost) => cost.slowdown)).toFixed(2)}×`,
  ]);
  goals.push(() =>
    printGoal(`commands a task, ${roundTrip} ms`, commands.toFixed(2), "≤ 1.5", commands <= 1.5),
  );
}
console.log(`${tasks} tasks of ${SHORTEST} to ${LONGEST} ms, ${CONCURRENCY} handlers at once\n`);
printTable(["", "tasks a request", "commands a task", "time against the ideal"], rows);
console.log();
for (const print of goals) print();

await gateway.close();
await redis.stop();
