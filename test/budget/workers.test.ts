import { beforeEach, describe, expect, test } from "vitest";
import { type LeasedTask, type Operator, type Queue, sweep } from "../../src/index.ts";
import { useBilled } from "../support/billed.ts";
import { many } from "../support/new-tasks.ts";

// What workers cost beyond the budgets of commands.test.ts; exact, as there.

const billed = useBilled();
const { cost } = billed;
const worker = { name: "one", incarnation: "a", silentAfter: "1h" } as const;
let queue: Queue;
let operator: Operator;
beforeEach(() => void ({ queue, operator } = billed));

test("a task with a worker costs 2 more to dequeue and 1 more to settle, 2 more the worker's first; the same in a batch of 100", async () => {
  await queue.enqueueMany(many(102));
  expect(await cost(() => queue.dequeue({ worker }))).toBe(6 + 2 + 2);
  let tasks: readonly LeasedTask[] = [];
  expect(await cost(async () => (tasks = await queue.dequeue({ worker })))).toBe(6 + 2);
  expect(await cost(async () => tasks[0]?.extend("1m", { progress: 1 }))).toBe(6);
  expect(await cost(async () => tasks[0]?.complete())).toBe(6 + 1);
  expect(await cost(async () => (tasks = await queue.dequeue({ max: 100, worker })))).toBe(7 + 2);
  const settlements = tasks.map(({ receipt }) => ({ receipt, outcome: "complete" as const }));
  expect(await cost(() => queue.settle(settlements))).toBe(6 + 1);
  expect(await cost(() => queue.dequeue({ worker }))).toBe(5 + 3);
});

test("a worker's first dequeue of an empty queue costs 5 more; 3 if it has failed, and one more if it moves the timer for silent workers", async () => {
  expect(await cost(() => queue.dequeue({ worker }))).toBe(5 + 5);
  await operator.failWorker(worker);
  expect(await cost(() => queue.dequeue({ worker: { ...worker, silentAfter: "1s" } }))).toBe(5 + 3 + 1);
});

describe("a heartbeat", () => {
  test("costs 6 without tasks, 7 with up to 500, 9 with 1,000", async () => {
    const costs: [leases: number, commands: number][] = [];
    for (const leases of [0, 1, 500, 501, 1_000]) {
      const another = { ...worker, incarnation: `i${leases}` };
      if (leases > 0) await queue.enqueueMany(many(leases));
      await queue.dequeue({ max: Math.max(1, leases), worker: another });
      costs.push([leases, await cost(() => queue.heartbeat(another))]);
    }
    expect(costs).toEqual([
      [0, 6],
      [1, 7],
      [500, 7],
      [501, 8],
      [1_000, 9],
    ]);
  });

  test("costs one less with receipts, 4 of a failed worker", async () => {
    await queue.enqueueMany(many(100));
    const tasks = await queue.dequeue({ max: 100, worker });
    const receipts = tasks.map(({ receipt }) => receipt);
    expect(await cost(() => queue.heartbeat(worker, { receipts }))).toBe(6);
    await operator.failWorker(worker);
    expect(await cost(() => queue.heartbeat(worker))).toBe(4);
  });
});

describe("an operator", () => {
  test("lists workers for 3, 4 and 1 each if there are any, 2 if one has a hundred tasks", async () => {
    expect(await cost(() => operator.workers())).toBe(3);
    await queue.heartbeat(worker);
    expect(await cost(() => operator.workers())).toBe(4 + 1);
    for (const name of ["two", "three"]) await queue.heartbeat({ name });
    expect(await cost(() => operator.workers())).toBe(4 + 3);
    await queue.enqueueMany(many(100));
    await queue.dequeue({ max: 100, worker });
    expect(await cost(() => operator.workers())).toBe(4 + 3 + 1);
  });

  test.each<[string, string | typeof worker, number]>([
    ["its name", worker.name, 6],
    ["its name and incarnation", worker, 5],
  ])("fails a worker by %s: 4 if there is none, %#, and 7 more with tasks", async (_, by, commands) => {
    const fail = () => cost(() => operator.failWorker(by));
    await queue.enqueueMany(many(100));
    await queue.heartbeat({ ...worker, name: "other" });
    expect(await cost(() => operator.failWorker("unknown"))).toBe(4);
    await queue.heartbeat(worker);
    expect(await fail()).toBe(commands);
    await queue.dequeue({ max: 100, worker });
    expect(await fail()).toBe(commands + 7);
  });
});

test("a sweep costs no more for live workers: 5 a queue", async () => {
  await queue.enqueue(1, { delay: "1h" });
  await queue.dequeue({ worker });
  expect(await cost(() => sweep(billed.transport))).toBe(3 + 5);
});
