// One round: each operation once, after which the queue has as many tasks as before.

import type { LeasedTask } from "../../src/index.ts";
import { payload } from "../report.ts";
import type { GrowingQueue } from "./growing-queue.ts";
import { FAR, KEPT } from "./states.ts";

export const OPERATIONS = [
  "enqueue 1",
  "enqueue 100",
  "dequeue 1",
  "dequeue 100",
  "settle 1",
  "settle 100",
  "settle 100 of any age",
  "sweep that finds nothing",
  "sweep: promote 100",
  "sweep: reclaim 100",
  "sweep: remove 100 records",
  "get",
  "counts",
  "list, the first 100",
  "list, 100 in the middle",
] as const;

export type Operation = (typeof OPERATIONS)[number];

/** Measures an operation, one request of that script, which is to concern so many tasks. */
export type Measure = (
  operation: Operation,
  script: string,
  count: number,
  run: () => Promise<number>,
) => Promise<void>;

const BATCH = 100;
const SECOND = 1_000;

const newTasks = (count: number, delay = 0) =>
  Array.from({ length: count }, (_, i) => ({ payload: payload(i), resultTtl: KEPT, delay }));

export async function round(growing: GrowingQueue, measure: Measure): Promise<void> {
  await readTasks(growing, measure);
  await passTasks(growing, measure);
  await sweepTasks(growing, measure);
}

async function readTasks(growing: GrowingQueue, measure: Measure): Promise<void> {
  const { queue, operator } = growing;
  const { state } = growing.state;
  const { id } = await growing.inTheMiddle();
  const { cursor } = await growing.inTheMiddle();
  await measure("get", "get", 1, async () => ((await queue.get(id))?.state === state ? 1 : 0));
  await measure("counts", "count", 0, async () => {
    await queue.counts();
    return 0;
  });
  const list = async (from?: string) =>
    (await operator.list({ state, size: BATCH, cursor: from })).tasks.length;
  await measure("list, the first 100", "list", BATCH, () => list());
  await measure("list, 100 in the middle", "list", BATCH, () => list(cursor));
}

async function passTasks(growing: GrowingQueue, measure: Measure): Promise<void> {
  const { queue } = growing;
  for (const count of [1, BATCH] as const) {
    await measure(`enqueue ${count}`, "enqueue", count, async () => {
      const [task] = newTasks(1);
      if (count > 1) return (await queue.enqueueMany(newTasks(count))).length;
      return (await queue.enqueue(task?.payload, { resultTtl: KEPT })).created ? 1 : 0;
    });
    let leased: readonly LeasedTask[] = [];
    await measure(`dequeue ${count}`, "dequeue", count, async () => {
      leased = await queue.dequeue({ max: count, lease: FAR });
      return leased.length;
    });
    await measure(`settle ${count}`, "settle", count, async () => {
      await growing.settle(leased, "complete");
      return leased.length;
    });
  }
  if (growing.state.by !== "dequeue") return;
  await queue.enqueueMany(newTasks(BATCH));
  const settled = growing.exchange(await queue.dequeue({ max: BATCH, lease: FAR }));
  await measure("settle 100 of any age", "settle", BATCH, async () => {
    await growing.settle(settled, "complete");
    return settled.length;
  });
}

/** Of each kind of sweep just so many tasks are due as it is to move. */
async function sweepTasks(growing: GrowingQueue, measure: Measure): Promise<void> {
  const { queue } = growing;
  await measure("sweep that finds nothing", "sweep", 0, async () => {
    const { promoted, reclaimed, expired } = await growing.sweep(BATCH);
    return promoted + reclaimed + expired;
  });
  await queue.enqueueMany(newTasks(BATCH, SECOND));
  growing.now += SECOND;
  await measure("sweep: promote 100", "sweep", BATCH, async () => (await growing.sweep(BATCH)).promoted);
  await queue.dequeue({ max: BATCH, lease: SECOND });
  growing.now += SECOND;
  await measure("sweep: reclaim 100", "sweep", BATCH, async () => (await growing.sweep(BATCH)).reclaimed);
  // A task whose lease expired once travels in batches of a tenth.
  const reclaimed = await queue.dequeue({ max: 10 * BATCH });
  if (reclaimed.length !== BATCH) throw new Error(`${reclaimed.length} reclaimed tasks were dequeued`);
  await growing.settle(reclaimed, "complete");
  growing.now += KEPT;
  await measure(
    "sweep: remove 100 records",
    "sweep",
    BATCH,
    async () => (await growing.sweep(BATCH)).expired,
  );
  // What else was completed in this round.
  while ((await growing.sweep(10 * BATCH)).expired > 0);
}
