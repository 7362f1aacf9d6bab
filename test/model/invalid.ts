/** Calls that must be refused before they reach Redis, each with what is wrong with it. */
import type { Operator, Queue } from "../../src/index.ts";

const RECEIPT = "1.1.1.token-of-lease.t1";

/** What is said of them, in the order of {@link invalidCalls}. */
export const INVALID_PATHS = [
  "id",
  "delay",
  "priority",
  "tasks[0].group",
  "payload",
  "max",
  "lease",
  "token",
  "worker.name",
  "settlements[0].receipt",
  "settlements[0].outcome",
  "settlements[0].delay",
  "id",
  "lease",
  "state",
  "group",
  "rate",
  "maxWorking",
  "limit",
  "dedup.window",
  "again",
] as const;

export function invalidCalls(queue: Queue, operator: Operator): readonly (() => Promise<unknown>)[] {
  const anything = (value: unknown) => value as never;
  return [
    () => queue.enqueue(1, { id: "~t1" }),
    () => queue.enqueue(1, { delay: -1 }),
    () => queue.enqueue(1, { priority: 10 }),
    () => queue.enqueueMany([{ payload: 1, group: "two words" }]),
    () => queue.enqueue(undefined),
    () => queue.dequeue({ max: 0 }),
    () => queue.dequeue({ lease: 0 }),
    () => queue.dequeue({ token: "short" }),
    () => queue.dequeue({ worker: { name: "" } }),
    () => queue.settle([{ receipt: "1.2.3", outcome: "complete" }]),
    () => queue.settle([{ receipt: RECEIPT, outcome: anything("done") }]),
    () => queue.settle([{ receipt: RECEIPT, outcome: "requeue", delay: Number.NaN }]),
    () => queue.cancel(""),
    () => queue.cancel("t1", { lease: -1 }),
    () => operator.purge({ state: anything("working") }),
    () => operator.purge({ state: "pending", reason: "rejected" }),
    () => operator.redrive({ rate: 0 }),
    () => operator.configure({ maxWorking: 0 }),
    () => operator.failWorker("w1", { limit: 0 }),
    () => queue.enqueue(1, { dedup: { key: "k", window: 0 } }),
    () => queue.enqueue(1, { again: true }),
  ];
}
