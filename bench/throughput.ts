// Tasks per second through a whole cycle (enqueue, dequeue, complete), against BullMQ: one Redis, the same
// Redis client, the same payloads, in turns. A ratio is taken within each round, so that what disturbs the
// machine disturbs both; the median of the ratios counts. CPU times are printed beside it: they show who is
// the bottleneck, and other load hardly changes them.

import { createClient } from "@redis/client";
import { resp } from "../src/transports/resp.ts";
import { startRedis } from "../test/support/redis.ts";
import { BATCH, bullmq, CALLERS, type Contestant, sluice } from "./contestants.ts";
import { redisCpu } from "./redis-cpu.ts";
import { median, printGoal, printTable, quick, server, words, whole } from "./report.ts";

const ROUNDS = quick ? 3 : 9;
const WARM_UP = quick ? 1_000 : 10_000;

const redis = await startRedis({ program: server });
const control = await createClient({ url: redis.url }).connect();
const transport = resp(redis.url);
const ours = sluice(transport, { coalesce: false });
const coalescing = sluice(transport, { coalesce: "in-flight" });
const theirs = bullmq(redis.url);

/** What is compared: goals are least ratios to BullMQ's rate, and most ratios to its Redis CPU a task. */
interface Race {
  readonly name: string;
  readonly tasks: number;
  readonly sluice: Contestant;
  readonly bullmq: Contestant;
  /** Which part the rate is of. @default "cycle" */
  readonly part?: "cycle" | "consume";
  readonly rate?: number;
  readonly redisCpu?: number;
}

const races: readonly Race[] = [
  {
    name: "singly, calls that come together coalesced",
    tasks: 10_000,
    sluice: coalescing.singly,
    bullmq: theirs.singly,
    rate: 4,
  },
  {
    name: "singly, each call its own request, settleAndDequeue",
    tasks: 10_000,
    sluice: ours.together,
    bullmq: theirs.singly,
    rate: 1.3,
    redisCpu: 0.6,
  },
  {
    name: `in batches of ${BATCH}`,
    tasks: 30_000,
    sluice: ours.batches,
    bullmq: theirs.batches,
    rate: 5,
    redisCpu: 0.2,
  },
  {
    name: "drain",
    tasks: 30_000,
    sluice: ours.drain,
    bullmq: theirs.worker,
    part: "consume",
    rate: 4,
  },
];
const chosen = races.filter(({ name }) => words.length === 0 || words.some((word) => name.includes(word)));

/** What one task took, in microseconds. */
interface Cost {
  readonly enqueue: number;
  readonly consume: number;
  readonly cycle: number;
  /** CPU time of Redis, and of the process that holds all callers. */
  readonly redisCpu: number;
  readonly clientCpu: number;
}

async function cost(contestant: Contestant, tasks: number): Promise<Cost> {
  await control.flushAll();
  const halves: number[] = [];
  let onRedis = 0;
  let onClient = 0;
  await contestant(tasks, async (half) => {
    const redisBefore = await redisCpu(control);
    const clientBefore = process.cpuUsage();
    const start = performance.now();
    await half();
    halves.push(((performance.now() - start) * 1_000) / tasks);
    const { user, system } = process.cpuUsage(clientBefore);
    onClient += (user + system) / tasks;
    onRedis += ((await redisCpu(control)) - redisBefore) / tasks;
  });
  const [enqueue = Number.NaN, consume = Number.NaN] = halves;
  return { enqueue, consume, cycle: enqueue + consume, redisCpu: onRedis, clientCpu: onClient };
}

function row(name: string, costs: readonly Cost[]): string[] {
  const middle = (value: (cost: Cost) => number) => median(costs.map(value));
  return [
    name,
    whole(1e6 / middle(({ enqueue }) => enqueue)),
    whole(1e6 / middle(({ consume }) => consume)),
    whole(1e6 / middle(({ cycle }) => cycle)),
    middle(({ redisCpu }) => redisCpu).toFixed(1),
    middle(({ clientCpu }) => clientCpu).toFixed(1),
  ];
}

const units = ["", "enqueue /s", "dequeue, complete /s", "full cycle /s", "Redis CPU µs", "client CPU µs"];
const goals: (() => void)[] = [];
console.log(`${CALLERS} concurrent callers, 200-byte payloads, medians of ${ROUNDS} rounds\n`);
for (const { name, part = "cycle", ...race } of chosen) {
  const tasks = quick ? race.tasks / 5 : race.tasks;
  for (const contestant of [race.sluice, race.bullmq]) await cost(contestant, WARM_UP);
  const rounds: { sluice: Cost; bullmq: Cost }[] = [];
  for (let i = 0; i < ROUNDS; i++) {
    rounds.push({ sluice: await cost(race.sluice, tasks), bullmq: await cost(race.bullmq, tasks) });
  }
  const ratios = rounds.map(({ sluice, bullmq }) => bullmq[part] / sluice[part]).toSorted((a, b) => a - b);
  const ratio = median(ratios);
  const cpu = median(rounds.map(({ sluice, bullmq }) => sluice.redisCpu / bullmq.redisCpu));
  console.log(`${name}\n`);
  printTable(units, [
    row(
      "Sluice",
      rounds.map(({ sluice }) => sluice),
    ),
    row(
      "BullMQ",
      rounds.map(({ bullmq }) => bullmq),
    ),
  ]);
  const spread = `${ratios[0]?.toFixed(2)} to ${ratios.at(-1)?.toFixed(2)}`;
  const what = part === "cycle" ? "full cycle" : "dequeue and complete";
  console.log(
    `\n${what} ${ratio.toFixed(2)} times BullMQ's rate (${spread}); Redis CPU ${cpu.toFixed(2)} times BullMQ's\n`,
  );
  const { rate, redisCpu: mostCpu } = race;
  if (rate !== undefined) {
    goals.push(() => printGoal(`${name}: ${what}`, `${ratio.toFixed(2)}×`, `≥ ${rate}×`, ratio >= rate));
  }
  if (mostCpu !== undefined) {
    goals.push(() =>
      printGoal(`${name}: Redis CPU a task`, `${cpu.toFixed(2)}×`, `≤ ${mostCpu}×`, cpu <= mostCpu),
    );
  }
}
for (const print of goals) print();

await transport.close();
control.destroy();
await redis.stop();
