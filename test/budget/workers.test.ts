import { beforeEach, describe, expect, test } from "vitest";
import { sweep, type Operator, type Queue } from "../../src/index.ts";
import { useBilled } from "../support/billed.ts";

// What workers cost beyond the budgets of commands.test.ts; exact, as there.

const billed = useBilled(async ({ queue, operator }) => {
  await queue.enqueue("warm", { resultTtl: 0 });
  await (await queue.dequeue({ worker }))[0]?.complete();
  await queue.heartbeat(worker);
  await operator.workers();
  await operator.failWorker("unknown");
  await sweep(queue["transport"]);
});
const { cost } = billed;
const worker = { name: "one", incarnation: "a", silentAfter: "1h" } as const;
let queue: Queue;
let operator: Operator;
beforeEach(() => {
  ({ queue, operator } = billed);
});

const add = async (count: number) =>
  queue.enqueueMany(Array.from({ length: count }, (_, i) => ({ payload: i })));

describe("a task with a worker", () => {
  test("costs 2 more to dequeue and 1 more to settle", async () => {
    await add(2);
    expect(await cost(() => queue.dequeue({ worker }))).toBe(6 + 2);
    const [task] = await queue.dequeue({ worker });
    expect(await cost(async () => task?.extend("1m", { progress: 1 }))).toBe(6);
    expect(await cost(async () => task?.complete())).toBe(6 + 1);
  });

  test("costs the same in a batch of 100", async () => {
    await add(100);
    let tasks: Awaited<ReturnType<Queue["dequeue"]>> = [] as never;
    expect(await cost(async () => (tasks = await queue.dequeue({ max: 100, worker })))).toBe(7 + 2);
    const settlements = tasks.map(({ receipt }) => ({ receipt, outcome: "complete" as const }));
    expect(await cost(() => queue.settle(settlements))).toBe(6 + 1);
  });

  test("costs 3 more for a dequeue of an empty queue; one more if it moves the timer for silent workers", async () => {
    expect(await cost(() => queue.dequeue({ worker }))).toBe(5 + 3);
    await operator.failWorker(worker);
    expect(await cost(() => queue.dequeue({ worker: { ...worker, silentAfter: "1s" } }))).toBe(5 + 3 + 1);
  });
});

describe("a heartbeat", () => {
  test("costs 6 without tasks, 7 with up to 500, 9 with 1,000", async () => {
    const costs: [leases: number, commands: number][] = [];
    for (const leases of [0, 1, 100, 500, 501, 1_000]) {
      const another = { ...worker, incarnation: `i${leases}` };
      if (leases > 0) await add(leases);
      await queue.dequeue({ max: Math.max(1, leases), worker: another });
      costs.push([leases, await cost(() => queue.heartbeat(another))]);
    }
    expect(costs).toEqual([
      [0, 6],
      [1, 7],
      [100, 7],
      [500, 7],
      [501, 8],
      [1_000, 9],
    ]);
  });

  test("with receipts costs one less", async () => {
    await add(100);
    const tasks = await queue.dequeue({ max: 100, worker });
    const receipts = tasks.map(({ receipt }) => receipt);
    expect(await cost(() => queue.heartbeat(worker, { receipts }))).toBe(6);
  });

  test("of a failed worker costs 4", async () => {
    await add(1);
    await queue.dequeue({ worker });
    await operator.failWorker(worker);
    expect(await cost(() => queue.heartbeat(worker))).toBe(4);
  });
});

describe("an operator", () => {
  test("lists workers for 4 and 1 each, 2 if one has a hundred tasks", async () => {
    expect(await cost(() => operator.workers())).toBe(4 + 1);
    for (const name of ["two", "three"]) await queue.heartbeat({ name });
    expect(await cost(() => operator.workers())).toBe(4 + 3);
    await add(100);
    await queue.dequeue({ max: 100, worker });
    expect(await cost(() => operator.workers())).toBe(4 + 3 + 1);
  });

  test("fails a worker for 5, and 7 more with tasks", async () => {
    expect(await cost(() => operator.failWorker(worker))).toBe(5);
    await add(100);
    await queue.dequeue({ max: 100, worker });
    expect(await cost(() => operator.failWorker(worker))).toBe(5 + 7);
  });
});

test("a sweep costs no more for live workers: 5 a queue", async () => {
  await queue.enqueue(1, { delay: "1h" });
  await queue.dequeue({ worker });
  expect(await cost(() => sweep(queue["transport"]))).toBe(3 + 5);
});
