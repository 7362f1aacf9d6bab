// The four scenarios of BullMQ's own bench (github.com/taskforcesh/bullmq-bench), with BullMQ and Sluice in turns on
// one Redis: its sizes, its payloads and results, its number of tasks. One caller adds; one worker works. What it
// reports is a rate, and here also the CPU time of Redis and of the process with the caller or the worker.

import { randomUUID } from "node:crypto";
import { cpus } from "node:os";
import { createClient } from "@redis/client";
import { startRedis } from "../test/support/redis.ts";
import { redisCpu } from "./redis-cpu.ts";
import { median, printGoal, printTable, quick, server, whole, words } from "./report.ts";
import { bullmq, bullmqVersion, type Side, sluice } from "./yardstick/sides.ts";

const WARM_UP = quick ? 100 : 1_000;
const TASKS = quick ? 1_000 : 10_000;
const ROUNDS = quick ? 1 : 5;
/** In which portions a worker's tasks are added before it starts. */
const PORTION = 100;

/** Runs one scenario, and calls `start` after the warm-up. */
type Run = (side: Side, start: () => void) => Promise<void>;

interface Scenario {
  readonly name: string;
  readonly run: Run;
  /** The least ratio to BullMQ's rate. */
  readonly goal: number;
}

/** An object of `width` chains of `depth` objects, each under a UUID, as BullMQ's bench makes it. */
function sample(width: number, depth: number): object {
  const chain = (left: number): object => (left === 0 ? {} : { [randomUUID()]: chain(left - 1) });
  return Object.fromEntries(Array.from({ length: width }, () => [randomUUID(), chain(depth - 1)]));
}

function adding(size: number, add: (side: Side) => Promise<unknown>): Run {
  return async (side, start) => {
    for (let added = 0; added < WARM_UP; added += size) await add(side);
    start();
    for (let added = 0; added < TASKS; added += size) await add(side);
  };
}

/** The time of a worker begins with the call for the last task of the warm-up, and ends when all are completed. */
function working(concurrency: number): Run {
  return async (side, start) => {
    const payloads = Array<object>(PORTION).fill(sample(1, 1));
    const tasks = WARM_UP + TASKS;
    for (let added = 0; added < tasks; added += PORTION) await side.addBulk(payloads);
    const result = sample(1, 1);
    let calls = 0;
    await side.work(concurrency, tasks, () => {
      if (++calls === WARM_UP) start();
      return result;
    });
  };
}

const large = sample(10, 10);
const bulk = Array<object>(50).fill(sample(1, 1));
const scenarios: readonly Scenario[] = [
  { name: "queue-add", run: adding(1, (side) => side.add(large)), goal: 1.3 },
  { name: "queue-add-bulk of 50", run: adding(bulk.length, (side) => side.addBulk(bulk)), goal: 4 },
  { name: "worker, concurrency 1", run: working(1), goal: 4 },
  { name: "worker, concurrency 100", run: working(100), goal: 4 },
];

const redis = await startRedis({ program: server });
const control = await createClient({ url: redis.url }).connect();

/** What one task took, in microseconds. */
interface Cost {
  readonly time: number;
  readonly redisCpu: number;
  readonly clientCpu: number;
}

async function cost(open: (url: string) => Promise<Side>, run: Run): Promise<Cost> {
  await control.flushAll();
  const side = await open(redis.url);
  let began: { time: number; client: NodeJS.CpuUsage; redis: Promise<number> } | undefined;
  await run(side, () => {
    began = { time: performance.now(), client: process.cpuUsage(), redis: redisCpu(control) };
  });
  if (!began) throw new Error("the warm-up did not end");
  const time = performance.now() - began.time;
  const { user, system } = process.cpuUsage(began.client);
  const onRedis = (await redisCpu(control)) - (await began.redis);
  await side.close();
  return {
    time: (time * 1e3) / TASKS,
    redisCpu: onRedis / TASKS,
    clientCpu: (user + system) / TASKS,
  };
}

const chosen = scenarios.filter(
  ({ name }) => words.length === 0 || words.some((word) => name.includes(word)),
);
const rows: string[][] = [];
const goals: (() => void)[] = [];
for (const { name, run, goal } of chosen) {
  const rounds: { sluice: Cost; bullmq: Cost }[] = [];
  for (let i = 0; i < ROUNDS; i++) {
    rounds.push({ sluice: await cost(sluice, run), bullmq: await cost(bullmq, run) });
  }
  const ratios = rounds.map((round) => round.bullmq.time / round.sluice.time).toSorted((a, b) => a - b);
  const ratio = median(ratios);
  for (const side of ["sluice", "bullmq"] as const) {
    const middle = (value: (cost: Cost) => number) => median(rounds.map((round) => value(round[side])));
    rows.push([
      `${name}: ${side === "sluice" ? "Sluice" : "BullMQ"}`,
      whole(1e6 / middle(({ time }) => time)),
      middle((one) => one.redisCpu).toFixed(1),
      middle((one) => one.clientCpu).toFixed(1),
      side === "sluice"
        ? `${ratio.toFixed(2)} (${ratios[0]?.toFixed(2)} to ${ratios.at(-1)?.toFixed(2)})`
        : "",
    ]);
  }
  goals.push(() => printGoal(name, `${ratio.toFixed(2)}×`, `≥ ${goal}×`, ratio >= goal));
}
const info = await control.info("server");
// Valkey also says with which version of Redis it is compatible.
const [, name, version] = /^(valkey)_version:(\S+)/m.exec(info) ?? /^(redis)_version:(\S+)/m.exec(info) ?? [];
const [cpu] = cpus();
console.log(
  `${name} ${version}, Node ${process.versions.node}, BullMQ ${bullmqVersion}, ${cpus().length} × ${cpu?.model}\n` +
    `${whole(TASKS)} tasks after ${whole(WARM_UP)}, medians of ${ROUNDS} rounds in turns\n`,
);
printTable(["", "tasks /s", "Redis CPU µs", "client CPU µs", "times BullMQ's rate"], rows);
console.log();
for (const print of goals) print();

control.destroy();
await redis.stop();
