/** Calls that must be refused before they reach Redis, each with the path of its error. */
import type { Operator, Queue } from "../../../src/index.ts";

const RECEIPT = "1.1.1.token-of-lease.t1";

const anything = (value: unknown) => value as never;

/** The path that the error names, and the call. */
type Invalid = readonly [path: string, call: (queue: Queue, operator: Operator) => Promise<unknown>];

export const INVALID: readonly Invalid[] = [
  ["id", (queue) => queue.enqueue(1, { id: "~t1" })],
  ["delay", (queue) => queue.enqueue(1, { delay: -1 })],
  ["priority", (queue) => queue.enqueue(1, { priority: 10 })],
  ["tasks[0].group", (queue) => queue.enqueueMany([{ payload: 1, group: "two words" }])],
  ["payload", (queue) => queue.enqueue(undefined)],
  ["max", (queue) => queue.dequeue({ max: 0 })],
  ["lease", (queue) => queue.dequeue({ lease: 0 })],
  ["token", (queue) => queue.dequeue({ token: "short" })],
  ["worker.name", (queue) => queue.dequeue({ worker: { name: "" } })],
  ["settlements[0].receipt", (queue) => queue.settle([{ receipt: "1.2.3", outcome: "complete" }])],
  ["settlements[0].outcome", (queue) => queue.settle([{ receipt: RECEIPT, outcome: anything("done") }])],
  [
    "settlements[0].delay",
    (queue) => queue.settle([{ receipt: RECEIPT, outcome: "requeue", delay: Number.NaN }]),
  ],
  ["id", (queue) => queue.cancel("")],
  ["lease", (queue) => queue.cancel("t1", { lease: -1 })],
  ["state", (_, operator) => operator.purge({ state: anything("working") })],
  ["group", (_, operator) => operator.purge({ state: "pending", reason: "rejected" })],
  ["rate", (_, operator) => operator.redrive({ rate: 0 })],
  ["maxWorking", (_, operator) => operator.configure({ maxWorking: 0 })],
  ["limit", (_, operator) => operator.failWorker("w1", { limit: 0 })],
  ["dedup.window", (queue) => queue.enqueue(1, { dedup: { key: "k", window: 0 } })],
  ["again", (queue) => queue.enqueue(1, { again: true })],
  ["unique", (queue) => queue.enqueue(1, { unique: "1d" })],
];
