// Time per task that a sweep moves, with few and with many delayed tasks behind it: the time must not depend
// on the tasks that it leaves alone. Two queues in one Redis take turns, so that both meet the same
// disturbances.

import { Queue, sweep, type SweepReport } from "../src/index.ts";
import { resp } from "../src/transports/resp.ts";
import { startRedis } from "../test/support/redis.ts";
import { median, printGoal, printTable, quick, whole } from "./report.ts";

const BEHIND = quick ? [1_000, 50_000] : [1_000, 1_000_000];
const MOVED = quick ? 5_000 : 20_000;
const ROUNDS = quick ? 3 : 9;

const redis = await startRedis();
const transport = resp(redis.url);
let now = Date.now();
const far = now + 365 * 86_400_000;
const clock = { now: () => now };

const names = BEHIND.map((count) => `behind-${count}`);
const queues = names.map(
  (name) => new Queue<number>(name, { transport, resultTtl: 0, lease: "1m", ...clock }),
);

async function fill(queue: Queue<number>, count: number, at: number): Promise<void> {
  for (let first = 0; first < count; first += 1_000) {
    const size = Math.min(1_000, count - first);
    await queue.enqueueMany(
      Array.from({ length: size }, (_, i) => ({ payload: first + i, at: at + first + i })),
    );
  }
}

async function dequeueAll(queue: Queue<number>, complete: boolean): Promise<void> {
  for (;;) {
    const batch = await queue.dequeue({ max: 1_000 });
    if (batch.length === 0) return;
    if (complete) await queue.settle(batch.map(({ receipt }) => ({ receipt, outcome: "complete" })));
  }
}

/** One sweep of that queue at the present instant: microseconds per task moved. */
async function swept(name: string, kind: "promoted" | "reclaimed" | "expired"): Promise<number> {
  const start = performance.now();
  const report: SweepReport = await sweep(transport, {
    queues: (other) => other === name,
    budget: "60s",
    ...clock,
  });
  const took = performance.now() - start;
  if (report[kind] !== MOVED) throw new Error(`${report[kind]} were ${kind}, not ${MOVED}`);
  return (took * 1_000) / MOVED;
}

for (const [i, queue] of queues.entries()) await fill(queue, BEHIND[i] as number, far);

/** Kind of move -> for each queue, microseconds per task in each round. */
const kinds = { promoted: "promote", reclaimed: "reclaim", expired: "drop a record" } as const;
const times = Object.fromEntries(Object.keys(kinds).map((kind) => [kind, names.map((): number[] => [])]));

for (let round = -1; round < ROUNDS; round++) {
  const note = async (i: number, kind: keyof typeof kinds) => {
    const time = await swept(names[i] as string, kind);
    // The first round warms up.
    if (round >= 0) times[kind]?.[i]?.push(time);
  };
  for (const queue of queues) await fill(queue, MOVED, now + 1_000);
  now += MOVED + 1_000;
  for (const i of queues.keys()) await note(i, "promoted");
  for (const queue of queues) await dequeueAll(queue, false);
  now += 60_000;
  for (const i of queues.keys()) await note(i, "reclaimed");
  for (const queue of queues) await dequeueAll(queue, true);
  now += 600_000;
  for (const i of queues.keys()) await note(i, "expired");
}

console.log(`µs per task that a sweep moves, medians of ${ROUNDS} rounds of ${whole(MOVED)} tasks\n`);
const goals: (() => void)[] = [];
const rows = Object.entries(kinds).map(([kind, name]) => {
  const [few = [], many = []] = times[kind] ?? [];
  const ratio = median(many.map((time, i) => time / (few[i] ?? Number.NaN)));
  goals.push(() => printGoal(name, `${ratio.toFixed(2)}×`, "≤ 1.5×", ratio <= 1.5));
  return [name, median(few).toFixed(2), median(many).toFixed(2), ratio.toFixed(2)];
});
printTable(["", ...BEHIND.map((count) => `${whole(count)} delayed behind`), "ratio"], rows);
console.log();
for (const print of goals) print();

await transport.close();
await redis.stop();
