// One queue in partitions under equal load, with as many producers, consumers and tasks: on clusters of 1, 3 and
// 6 masters, and with 1 to 24 partitions. The clusters run at the same time and take turns.

import { cpus } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { Queue, type Transport } from "../../src/index.ts";
import { nameOfShard, queueKeys } from "../../src/kernel/names/keys.ts";
import { median, payload, printTable, quick, whole } from "../report.ts";
import { type Masters, startMasters } from "./cluster-masters.ts";

const MASTERS = [1, 3, 6];
/** How many partitions, on one master. */
const COUNTS = [1, 4, 12, 24];
/** Divisible by each number of masters. */
const PARTITIONS = 12;
/** Of each kind. */
const CALLERS = 24;
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

/** A name of a queue whose partitions are spread evenly over the masters. */
function evenName({ count, masterOf }: Masters, partitions: number): string {
  for (let i = 0; ; i++) {
    const name = `queue-${i}`;
    const on = Array<number>(count).fill(0);
    for (let p = 0; p < partitions; p++) {
      const master = masterOf(queueKeys(nameOfShard(name, p)).tasks);
      on[master] = (on[master] ?? 0) + 1;
    }
    if (partitions < count || Math.max(...on) - Math.min(...on) === 0) return name;
  }
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

async function run({ masters, partitions }: Place, { batch, tasks }: Load): Promise<Took> {
  await masters.empty();
  // New transports, so that no queue remembers an earlier round.
  const { transport: connection } = masters;
  const transport: Transport = {
    cluster: true,
    send: (commands, options) => connection.send(commands, options),
  };
  const queue = new Queue(evenName(masters, partitions), { transport, partitions, coalesce: false });
  await queue.counts();
  const before = await masters.used();
  const cpuBefore = process.cpuUsage();
  const coresBefore = coreTimes();
  const start = performance.now();
  await pass(queue, tasks, batch);
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

/** Where the queue is, and in how many partitions. */
interface Place {
  readonly name: string;
  readonly masters: Masters;
  readonly partitions: number;
}

/** Measures and prints the clusters, and what partitions cost. */
export async function compareClusters(): Promise<void> {
  const clusters: Masters[] = [];
  for (const count of MASTERS) clusters.push(await startMasters(count));
  const [first] = clusters;
  if (!first) return;
  const onMasters = clusters.map((masters) => {
    return { name: String(masters.count), masters, partitions: PARTITIONS };
  });
  const inPartitions = COUNTS.map((partitions) => ({ name: String(partitions), masters: first, partitions }));
  for (const one of LOADS) {
    const clients = `${CALLERS} producers and consumers each`;
    await compare(
      `${one.name}, a queue with ${PARTITIONS} partitions, ${clients}`,
      "masters",
      onMasters,
      one,
    );
    await compare(`${one.name}, on one master, ${clients}`, "partitions", inPartitions, one);
  }
  for (const masters of clusters) await masters.stop();
}

async function compare(title: string, what: string, places: readonly Place[], load: Load): Promise<void> {
  const took = places.map((): Took[] => []);
  // The first round warms up.
  for (let i = -1; i < ROUNDS; i++) {
    for (const [j, place] of places.entries()) {
      const result = await run(place, load);
      if (i >= 0) took[j]?.push(result);
    }
  }
  console.log(`\n${title}\n`);
  printTable(
    [
      what,
      "tasks /s",
      `against ${places[0]?.name}`,
      "CPU µs a task, all servers",
      "busiest server, % of a core",
      "CPU µs a task, callers",
      "callers, % of a core",
      `machine, % of ${CORES} cores`,
      "commands a task",
    ],
    took.map((times, i) => row(places[i]?.name ?? "", times, took[0] ?? [], load.tasks)),
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
