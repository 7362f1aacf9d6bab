// How full a drain's requests are, and what that costs in time: handlers of 5 to 50 ms, twenty at once, over
// round trips of several lengths. The time is shown as a ratio to the ideal, in which no handler ever waits. And how
// many tasks a second a drain works on if its handlers do nothing. Both over HTTP, where the gateway counts commands
// and requests, and over TCP, where commands have no price.

import { setTimeout as sleep } from "node:timers/promises";
import { drain, Queue, type Transport } from "../src/index.ts";
import { startGateway } from "../src/local/index.ts";
import { resp } from "../src/transports/resp.ts";
import { upstash } from "../src/transports/upstash.ts";
import { dice } from "../test/support/dice.ts";
import { startRedis } from "../test/support/redis.ts";
import { median, payload, printGoal, printTable, quick, whole } from "./report.ts";

const CONCURRENCY = 20;
const SHORTEST = 5;
const LONGEST = 50;
const ROUND_TRIPS = [0, 1, 5, 20];
const tasks = quick ? 500 : 2_000;
const rounds = quick ? 1 : 3;

const redis = await startRedis();
const gateway = await startGateway({ redisUrl: redis.url });
const tcp = resp(redis.url);
/** How a drain reaches Redis, by the names in the tables. */
const wires = { HTTP: upstash({ url: gateway.url, token: gateway.token }), TCP: tcp } as const;
type Wire = keyof typeof wires;

let requests = 0;
/** A transport that counts its requests, each of which takes so many ms more. */
function distant(wire: Wire, ms: number): Transport {
  const over = wires[wire];
  return {
    connected: wire === "TCP",
    async send(commands, options) {
      requests++;
      if (ms === 0) return over.send(commands, options);
      await sleep(ms / 2);
      const outcomes = await over.send(commands, options);
      await sleep(ms / 2);
      return outcomes;
    },
  };
}

/** What one drain of all tasks took; times in ms. */
async function round(wire: Wire, roundTrip: number) {
  const queue = new Queue<{ ms: number }>("bench", { transport: distant(wire, roundTrip) });
  const random = dice(1);
  const durations = Array.from({ length: tasks }, () => SHORTEST + random() * (LONGEST - SHORTEST));
  for (let from = 0; from < tasks; from += 500) {
    const some = durations.slice(from, from + 500);
    await queue.enqueueMany(some.map((ms, i) => ({ payload: { ...payload(i), ms }, resultTtl: 0 })));
  }
  gateway.resetUsage();
  requests = 0;
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
  return {
    requests: requests / tasks,
    commands: gateway.usage().commands / tasks,
    slowdown: took / (worked / CONCURRENCY),
  };
}

/** Tasks a second, if handlers do nothing, and tasks a request. */
async function idleHandlers(wire: Wire, concurrency: number) {
  const queue = new Queue("bench", { transport: distant(wire, 0) });
  const count = 10 * tasks;
  for (let from = 0; from < count; from += 500) {
    await queue.enqueueMany(Array.from({ length: 500 }, (_, i) => ({ payload: payload(from + i) })));
  }
  requests = 0;
  const start = performance.now();
  const { completed } = await drain(queue, () => undefined, { concurrency, budget: "2m" });
  const took = performance.now() - start;
  if (completed !== count) throw new Error(`${completed} of ${count} tasks were completed`);
  return { rate: (1_000 * count) / took, requests: requests / count };
}

await round("HTTP", 0);
const rows: string[][] = [];
const goals: (() => void)[] = [];
for (const wire of ["HTTP", "TCP"] as const) {
  for (const roundTrip of ROUND_TRIPS) {
    const costs = [];
    for (let i = 0; i < rounds; i++) costs.push(await round(wire, roundTrip));
    const commands = median(costs.map((cost) => cost.commands));
    rows.push([
      `${wire}, ${roundTrip} ms more a round trip`,
      (1 / median(costs.map((cost) => cost.requests))).toFixed(1),
      wire === "HTTP" ? commands.toFixed(2) : "",
      `${median(costs.map((cost) => cost.slowdown)).toFixed(2)}×`,
    ]);
    if (wire === "TCP") continue;
    goals.push(() =>
      printGoal(`commands a task, ${roundTrip} ms`, commands.toFixed(2), "≤ 1.5", commands <= 1.5),
    );
  }
}
console.log(`${tasks} tasks of ${SHORTEST} to ${LONGEST} ms, ${CONCURRENCY} handlers at once\n`);
printTable(["", "tasks a request", "commands a task", "time against the ideal"], rows);
console.log(`\n${10 * tasks} tasks whose handlers do nothing\n`);
const idle: string[][] = [];
for (const wire of ["HTTP", "TCP"] as const) {
  for (const concurrency of [1, 5, 50]) {
    const costs = [];
    for (let i = 0; i <= rounds; i++) costs.push(await idleHandlers(wire, concurrency));
    const [, ...measured] = costs;
    idle.push([
      `${wire}, concurrency ${concurrency}`,
      (1 / median(measured.map((cost) => cost.requests))).toFixed(1),
      whole(median(measured.map(({ rate }) => rate))),
    ]);
  }
}
printTable(["", "tasks a request", "tasks /s"], idle);
console.log();
for (const print of goals) print();

await tcp.close();
await gateway.close();
await redis.stop();
