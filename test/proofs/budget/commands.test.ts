import { beforeEach, describe, expect, test } from "vitest";
import { type LeasedTask, type Operator, Queue, sweep } from "../../../src/index.ts";
import { upstash } from "../../../src/transports/upstash.ts";
import { queueKeys } from "../../../src/kernel/names/keys.ts";
import { useBilled } from "../../support/billed.ts";
import { many } from "../../support/new-tasks.ts";
import { byPlainScript, type EnqueueArgs } from "../../support/plain-enqueue.ts";

// DESIGN's budgets in commands as Upstash bills them. Counts are exact, so these are equalities:
// A change of a script that changes its cost fails here, and changes docs/costs.md too.

const billed = useBilled();
const { cost } = billed;
let queue: Queue;
let operator: Operator;
beforeEach(() => void ({ queue, operator } = billed));

test("the script for plain tasks costs 4 for one; 5 for several, with a look at the settings, or if it wakes", async () => {
  let count = 0;
  const adding = (tasks: number, args: Partial<EnqueueArgs> = {}) =>
    cost(async () => {
      const items = Array.from({ length: tasks }, () => ({ id: `id${++count}`, record: "\nj1" }));
      expect(
        await byPlainScript(billed.transport, queueKeys(queue.name), items, { testNow: "", ...args }),
      ).toEqual({
        created: items.map(() => true),
        wake: args.wake !== undefined,
      });
    });
  expect(await adding(1)).toBe(4);
  expect(await adding(100)).toBe(5);
  expect(await adding(1, { withSettings: "1" })).toBe(5);
  expect(await adding(1, { wake: "60000" })).toBe(5);
});

describe("a single task", () => {
  test("costs 4 to enqueue, 6 to dequeue, 6 to complete: 16", async () => {
    let [task]: LeasedTask[] = [];
    expect(await cost(() => queue.enqueue({ to: "a@example.com" }, { resultTtl: 0 }))).toBe(4);
    expect(await cost(async () => ([task] = await queue.dequeue({ max: 1 })))).toBe(6);
    expect(await cost(async () => task?.complete())).toBe(6);
  });

  test("costs 12 in a loop: 4 to enqueue, 8 to complete and dequeue the next; 10 to settle otherwise, or to complete a retried one", async () => {
    await queue.enqueueMany(many(3, { resultTtl: 0 }));
    let [task] = await queue.dequeue({ max: 1 });
    const next = async (settlement: { outcome: "requeue" } | { outcome: "complete"; ttl?: number }) => {
      const settlements = [{ receipt: task?.receipt ?? "", ...settlement }];
      [task] = (await queue.settleAndDequeue(settlements, { max: 1 })).tasks;
    };
    expect(await cost(() => next({ outcome: "complete" }))).toBe(8);
    expect(task?.payload).toBe(1);
    expect(await cost(() => next({ outcome: "requeue" }))).toBe(10);
    expect(await cost(() => next({ outcome: "complete", ttl: 1_000 }))).toBe(10);
    await queue.enqueue(3);
    expect(task).toMatchObject({ payload: 1, attempt: 2 });
    expect(await cost(() => next({ outcome: "complete" }))).toBe(10);
  });

  test("costs no more with a kept result, a caller's id, headers, and its own options", async () => {
    const total = await cost(async () => {
      await queue.enqueue(1, { id: "mine", lease: "1m", maxAttempts: 3, headers: { a: "b" } });
      const [task] = await queue.dequeue();
      await task?.complete({ kept: true });
    });
    expect(total).toBe(16);
  });

  test("costs 4 with a delay, 5 to extend, 6 to requeue, 7 to reject; 6 to cancel, 7 while delayed, 3 to get", async () => {
    expect(await cost(() => queue.enqueue(1, { id: "delayed", delay: "1h" }))).toBe(4);
    await queue.enqueueMany(many(3));
    const [a, b, c] = await queue.dequeue({ max: 3 });
    expect(await cost(async () => a?.extend())).toBe(5);
    expect(await cost(async () => a?.requeue())).toBe(6);
    expect(await cost(async () => b?.requeue({ delay: "1h" }))).toBe(6);
    expect(await cost(async () => c?.reject("no"))).toBe(7);
    expect(await cost(() => queue.get("delayed"))).toBe(3);
    expect(await cost(() => queue.cancel("delayed"))).toBe(7);
    expect(await cost(() => queue.cancel(a?.id ?? ""))).toBe(6);
  });
});

describe("idle", () => {
  test("a dequeue of an empty queue costs 5; 6 with a caller's token, which it has to remember", async () => {
    expect(await cost(() => queue.dequeue({ max: 10 }))).toBe(5);
    expect(await cost(() => queue.dequeue({ max: 10, token: "token-01" }))).toBe(6);
  });

  test("a sweep that finds nothing costs 5 a queue, and 3 for the list of queues; 1 for a queue that has been empty and unused for ten minutes", async () => {
    const { id } = await queue.enqueue(1, { delay: "1h" });
    expect(await cost(() => sweep(billed.transport))).toBe(3 + 5);
    await queue.cancel(id);
    await billed.client.del(`sluice:{${queue.name}}:expiry`, `sluice:{${queue.name}}:tasks`);
    await billed.client.zadd("sluice:queues", { score: Date.now() - 660_000, member: queue.name });
    expect(await cost(() => sweep(billed.transport))).toBe(3 + 1);
  });

  test("registering a queue and reading its settings cost 4, once a minute per instance, also with a new transport in each request", async () => {
    const { url, token } = billed.gateway;
    const instance = () => new Queue("fresh", { transport: upstash({ url, token }) });
    expect(await cost(() => instance().enqueue(1))).toBe(4 + 4);
    expect(await cost(() => instance().enqueue(1))).toBe(4);
  });
});

const worker = { name: "one", incarnation: "a", silentAfter: "1h" } as const;

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
  test("of an idle server costs 7, later 5", async () => {
    const server = { name: "web-1:4711", incarnation: "one", goneAfter: "150s" } as const;
    const costs: number[] = [];
    for (let i = 0; i < 3; i++) costs.push(await cost(() => queue.heartbeat(server, { receipts: [] })));
    expect(costs).toEqual([7, 5, 5]);
  });

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
  test("lists workers for 4, 1 more for each, 2 if one has a hundred tasks; 2 more with tasks, or if one was failed", async () => {
    expect(await cost(() => operator.workers())).toBe(4);
    await queue.heartbeat(worker);
    expect(await cost(() => operator.workers())).toBe(4 + 1);
    for (const name of ["two", "three"]) await queue.heartbeat({ name });
    expect(await cost(() => operator.workers())).toBe(4 + 3);
    await queue.enqueueMany(many(100));
    await queue.dequeue({ max: 100, worker });
    expect(await cost(() => operator.workers())).toBe(4 + 3 + 1 + 2);
    await operator.failWorker(worker);
    expect(await cost(() => operator.workers())).toBe(4 + 2 + 2);
  });

  test("forgets a worker for 5, and for 2 if it has tasks", async () => {
    await queue.enqueue(1);
    const [task] = await queue.dequeue({ worker });
    expect(await cost(() => operator.forgetWorker(worker))).toBe(2);
    await task?.complete();
    expect(await cost(() => operator.forgetWorker(worker))).toBe(5);
  });

  test.each<[string, string | typeof worker, number]>([
    ["its name", worker.name, 6],
    ["its name and incarnation", worker, 5],
  ])("fails a worker by %s: 4 if there is none, %#, and 10 more with tasks", async (_, by, commands) => {
    const fail = () => cost(() => operator.failWorker(by));
    await queue.enqueueMany(many(100));
    await queue.heartbeat({ ...worker, name: "other" });
    expect(await cost(() => operator.failWorker("unknown"))).toBe(4);
    await queue.heartbeat(worker);
    expect(await fail()).toBe(commands);
    await queue.dequeue({ max: 100, worker });
    expect(await fail()).toBe(commands + 10);
  });
});

test("a sweep costs no more for live workers: 5 a queue", async () => {
  await queue.enqueue(1, { delay: "1h" });
  await queue.dequeue({ worker });
  expect(await cost(() => sweep(billed.transport))).toBe(3 + 5);
});
