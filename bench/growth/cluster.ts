// Clusters of 1, 3 and 6 masters under equal load: as many queues, producers, consumers and tasks on each. The
// clusters run at the same time and take turns.

import { cpus } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { Queue } from "../../src/index.ts";
import { median, payload, printTable, quick, whole } from "../report.ts";
import { type Masters, startMasters } from "./cluster-masters.ts";

const MASTERS = [1, 3, 6];
/** Divisible by each number of masters. */
const QUEUES = 6;
/** Of each kind, for each queue. */
const CALLERS = 4;
const ROUNDS = quick ? 2 : 7;
const CORES = cpus().length;

const LOADS = [
  { name: "batches of 100", batch: 100, tasks: quick ? 6_000 : 60_000 },
  { name: "singly", batch: 1, tasks: quick ? 1_200 : 12_000 },
] as const;

type Load = (typeof LOADS)[number];

/** What a load took. */
interface Took {
  readonly seconds: number;
  /** CPU seconds of each server, and of this process, which holds all callers. */
  readonly servers: readonly number[];
  readonly callers: number;
  readonly commands: number;
  /** Of the time of all cores, the part in which they worked, for whatever program. */
  readonly machine: number;
}

/** How long all cores together have worked and been idle, ms. */
function coreTimes(): { readonly worked: number; readonly all: number } {
  const times = cpus().map(({ times: { user, nice, sys, irq, idle } }) => [user + nice + sys + irq, idle]);
  const worked = sum(times.map(([busy = 0]) => busy));
  return { worked, all: worked + sum(times.map(([, idle = 0]) => idle)) };
}

const sum = (numbers: readonly number[]) => numbers.reduce((total, n) => total + n, 0);

/** Names of queues, so many on each master. */
function queuesOn(masters: Masters): string[] {
  const found = Array.from({ length: masters.count }, (): string[] => []);
  for (let i = 0; found.flat().length < QUEUES; i++) {
    const name = `queue-${i}`;
    const own = found[masters.masterOf(name)] ?? [];
    if (own.length < QUEUES / masters.count) own.push(name);
  }
  return found.flat();
}

/** Enqueues that many tasks into a queue, and at the same time takes them through it. */
async function pass(queue: Queue, tasks: number, batch: number): Promise<void> {
  let [enqueued, completed] = [0, 0];
  const produce = async () => {
    while (enqueued < tasks) {
      const first = enqueued;
      enqueued += batch;
      if (batch === 1) await queue.enqueue(payload(first));
      else
        await queue.enqueueMany(Array.from({ length: batch }, (_, i) => ({ payload: payload(first + i) })));
    }
  };
  const consume = async () => {
    while (completed < tasks) {
      const leased = await queue.dequeue({ max: batch });
      if (leased.length === 0) await sleep(1);
      else await queue.settle(leased.map(({ receipt }) => ({ receipt, outcome: "complete" })));
      completed += leased.length;
    }
  };
  await Promise.all(Array.from({ length: CALLERS }, () => [produce(), consume()]).flat());
}

async function run(masters: Masters, { batch, tasks }: Load): Promise<Took> {
  await masters.empty();
  const queues = queuesOn(masters).map(
    (name) => new Queue(name, { transport: masters.transport, coalesce: false }),
  );
  const before = await masters.used();
  const cpuBefore = process.cpuUsage();
  const coresBefore = coreTimes();
  const start = performance.now();
  await Promise.all(queues.map((queue) => pass(queue, tasks / QUEUES, batch)));
  const seconds = (performance.now() - start) / 1_000;
  const { user, system } = process.cpuUsage(cpuBefore);
  const cores = coreTimes();
  const used = (await masters.used()).map(({ cpu, commands }, i) => ({
    cpu: cpu - (before[i]?.cpu ?? 0),
    commands: commands - (before[i]?.commands ?? 0),
  }));
  return {
    seconds,
    servers: used.map(({ cpu }) => cpu),
    callers: (user + system) / 1e6,
    commands: sum(used.map(({ commands }) => commands)),
    machine: (cores.worked - coresBefore.worked) / (cores.all - coresBefore.all),
  };
}

function row(name: string, took: readonly Took[], first: readonly Took[], tasks: number): string[] {
  const middle = (value: (one: Took) => number) => median(took.map(value));
  const against = median(took.map(({ seconds }, i) => (first[i]?.seconds ?? Number.NaN) / seconds));
  return [
    name,
    whole(tasks / middle(({ seconds }) => seconds)),
    `${against.toFixed(2)}×`,
    middle(({ servers }) => (sum(servers) * 1e6) / tasks).toFixed(0),
    middle(({ servers, seconds }) => (100 * Math.max(...servers)) / seconds).toFixed(0),
    middle(({ callers }) => (callers * 1e6) / tasks).toFixed(0),
    middle(({ callers, seconds }) => (100 * callers) / seconds).toFixed(0),
    (100 * middle(({ machine }) => machine)).toFixed(0),
    middle(({ commands }) => commands / tasks).toFixed(2),
  ];
}

/** Measures and prints the clusters. */
export async function compareClusters(): Promise<void> {
  const clusters: Masters[] = [];
  for (const count of MASTERS) clusters.push(await startMasters(count));
  for (const one of LOADS) {
    const took = clusters.map((): Took[] => []);
    // The first round warms up.
    for (let i = -1; i < ROUNDS; i++) {
      for (const [j, masters] of clusters.entries()) {
        const result = await run(masters, one);
        if (i >= 0) took[j]?.push(result);
      }
    }
    console.log(`\n${one.name}, ${QUEUES} queues with ${CALLERS} producers and consumers each\n`);
    printTable(
      [
        "masters",
        "tasks /s",
        "against 1",
        "CPU µs a task, all servers",
        "busiest server, % of a core",
        "CPU µs a task, callers",
        "callers, % of a core",
        `machine, % of ${CORES} cores`,
        "commands a task",
      ],
      took.map((times, i) => row(String(MASTERS[i]), times, took[0] ?? [], one.tasks)),
    );
    const machine = median(took.flat().map((result) => result.machine));
    const callers = median(took.flat().map((result) => result.callers / result.seconds));
    const limit =
      machine > 0.9
        ? `the limit: the ${CORES} cores of this machine`
        : callers > 0.9
          ? "the limit: the callers, which have one core"
          : "no core was the limit";
    console.log(`\n${limit}`);
  }
  for (const masters of clusters) await masters.stop();
}
