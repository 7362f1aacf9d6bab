import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { defineQueue, Operator, Queue, type Task } from "../../src/index.ts";
import { testDeployment, testQueue } from "../../src/testing/index.ts";
import { TestDatabase } from "../../src/testing/test-database.ts";

// How tests work until every task has ended: `workToEnd` of a queue and `runToEnd` of a deployment.

const emails = defineQueue<{ to: string }>("emails", { maxAttempts: 3, backoff: ["10s", "1m"] });

/** A handler that notes what it got, and fails as often as it is to. */
function mailer(failures = 0) {
  const sent: string[] = [];
  const send = ({ payload, attempt }: Task<{ to: string }>) => {
    if (attempt <= failures) throw new Error(`busy ${attempt}`);
    sent.push(payload.to);
  };
  return { sent, send };
}

beforeEach(() => {
  for (const level of ["warn", "error"] as const) vi.spyOn(console, level).mockImplementation(() => {});
});
afterEach(() => void vi.restoreAllMocks());

describe("`workToEnd` of a queue for tests", () => {
  test("works to the end of all tasks in one call", async () => {
    const queue = testQueue(emails);
    await queue.enqueue({ to: "ada" }, { delay: "3d" });
    await queue.enqueue({ to: "bob" });
    const begin = queue.now;
    expect(await queue.workToEnd(mailer(2).send)).toMatchObject({ requeued: 4, completed: 2, rejected: 0 });
    expect(queue.now - begin).toBe(3 * 86_400_000 + 70_000);
  });

  test("works on a queue with a rate to its end, as fast as the rate allows", async () => {
    const limited = defineQueue<number>("calls", { rate: { most: 2, per: "10s" } });
    const queue = testQueue(limited);
    await queue.queue.enqueueMany(Array.from({ length: 6 }, (_, payload) => ({ payload })));
    const starts: number[] = [];
    const begin = queue.now;
    expect(await queue.workToEnd(() => void starts.push(queue.now - begin))).toMatchObject({ completed: 6 });
    expect(starts.map((start) => Math.floor(start / 10_000))).toEqual([0, 0, 1, 1, 2, 2]);
  });

  test("works on groups with limits to their end", async () => {
    const queue = testQueue<number>("calls");
    await queue.operator.configureGroup("slow", { rate: { most: 1, per: "1m" } });
    await queue.operator.configureGroup("single", { maxWorking: 1 });
    const groups = ["slow", "single", "slow", "single", "slow", "single"];
    await queue.queue.enqueueMany(groups.map((group, payload) => ({ payload, group })));
    expect(await queue.workToEnd(() => {})).toMatchObject({ completed: 6 });
  });

  test("waits for the leases of other consumers while they take all of maxWorking", async () => {
    const limits = { maxWorking: 1, rate: { most: 100, per: "1s" } } as const;
    const queue = testQueue(defineQueue<string>("calls", { ...limits, lease: "24h" }));
    const begin = queue.now;
    await queue.enqueue("held");
    await queue.enqueue("waiting");
    await queue.queue.dequeue();
    expect(await queue.workToEnd(() => {})).toMatchObject({ completed: 2 });
    expect(queue.now - begin).toBe(86_400_000);
  });

  test("works on to the end after a drain whose budget was too short", async () => {
    const queue = testQueue<number>("calls");
    await queue.queue.enqueueMany(Array.from({ length: 20 }, (_, payload) => ({ payload })));
    const slow = () => new Promise((resolve) => setTimeout(resolve, 20));
    const counts = await queue.workToEnd(slow, { budget: 30, concurrency: 1, batch: 1 });
    expect(counts.completed).toBeGreaterThan(0);
    for (const state of ["pending", "delayed", "working"] as const)
      expect(await queue.tasks(state)).toEqual([]);
  });

  test("says so if the tasks of a paused queue are left", async () => {
    const queue = testQueue(emails);
    await queue.operator.pause();
    await queue.enqueue({ to: "ada" });
    await queue.enqueue({ to: "bob" }, { delay: "1h" });
    await expect(queue.workToEnd(mailer().send)).rejects.toMatchObject({
      code: "invalid_argument",
      message: "emails has 2 pending tasks that no move of the clock starts: the queue is paused",
    });
    await queue.operator.resume();
    expect(await queue.workToEnd(mailer().send)).toMatchObject({ completed: 2 });
  });

  test("does not wait for other queues of its database", async () => {
    const queue = testQueue(emails);
    const other = new Queue<number>("other", { transport: queue.transport });
    await queue.enqueue({ to: "ada" });
    await other.enqueue(1);
    await other.enqueue(2, { delay: "1h" });
    const begin = queue.now;
    expect(await queue.workToEnd(mailer().send)).toMatchObject({ completed: 1 });
    expect(queue.now).toBe(begin);
  });

  test("works to the end without schedules, whose occurrences might fail for ever", async () => {
    const declared = defineQueue<string>("reports", {
      backoff: ["10m"],
      schedules: { minutely: { cron: "* * * * *", payload: "minutely", maxAttempts: 3 } },
    });
    const queue = testQueue(declared, { now: new Date("2026-11-23T00:00:30Z") });
    const failing = ({ payload }: Task<string>) => {
      if (payload === "minutely") throw new Error("busy");
    };
    await queue.advance("1m");
    await queue.enqueue("once", { delay: "3h" });
    expect(await queue.workToEnd(failing)).toMatchObject({ completed: 1, requeued: 2, rejected: 1 });
    expect(await queue.tasks("pending")).toEqual([]);
    expect(new Date(queue.now)).toEqual(new Date("2026-11-23T03:01:30Z"));
    // As after an outage: the last occurrence that was missed.
    await queue.advance("30s");
    expect((await queue.tasks("pending")).map(({ id }) => Number(id.split(".")[1]))).toEqual(
      ["2026-11-23T03:01:00Z", "2026-11-23T03:02:00Z"].map((at) => Date.parse(at)),
    );
  });

  test("runs no schedule on the way to the end, also one that a handler puts, and runs them afterwards", async () => {
    const queue = testQueue(emails);
    let puts = 0;
    const put = async () => {
      puts += 1;
      await queue.schedules.put("often", { every: "1m", payload: { to: "ada" } });
      throw new Error("busy");
    };
    await queue.enqueue({ to: "bob" });
    expect(await queue.workToEnd(put)).toMatchObject({ requeued: 2, rejected: 1 });
    expect(puts).toBe(3);
    await queue.advance("1m");
    expect((await queue.tasks("pending")).length).toBeGreaterThan(0);
  });

  test("leaves a schedule that a handler puts to its time, if others are due later", async () => {
    const queue = testQueue(emails);
    await queue.schedules.put("daily", { every: "1d", payload: { to: "ada" } });
    await queue.enqueue({ to: "bob" }, { delay: "1h" });
    await queue.workToEnd(() => queue.schedules.put("often", { every: "1m", payload: { to: "cy" } }));
    await queue.advance("1m");
    expect(await queue.tasks("pending")).toMatchObject([{ payload: { to: "cy" } }]);
  });

  test("says so if the clock stops too often", async () => {
    // Without the work of each stop, of which 10,000 take long.
    const database = new TestDatabase(0);
    const queue = new Queue<number>("ticks", { transport: database.transport, now: () => database.now });
    const ticks = Array.from({ length: 10_001 }, (_, i) => ({ payload: i, delay: i + 1 }));
    for (let i = 0; i < ticks.length; i += 1_000) await queue.enqueueMany(ticks.slice(i, i + 1_000));
    await expect(database.advance(3_600_000, () => Promise.resolve())).rejects.toMatchObject({
      code: "invalid_argument",
      message: "the clock has stopped 10,000 times before its end: advance it by less",
    });
    // Before the last one.
    expect(database.now).toBe(10_000);
  });

  test("reclaims a lease that expires, and removes records in time", async () => {
    const queue = testQueue(emails);
    await queue.enqueue({ to: "ada" }, { id: "a", lease: "1m" });
    await queue.queue.dequeue();
    await queue.advance("1m");
    expect(await queue.tasks()).toMatchObject([{ id: "a", state: "pending", attempt: 1 }]);
    await queue.work(mailer().send);
    await queue.advance("2h");
    expect(await queue.tasks()).toEqual([]);
  });
});

describe("`runToEnd` of a deployment in a test", () => {
  test("works on queues with limits to their end", async () => {
    const calls = defineQueue<number>("calls", { rate: { most: 2, per: "10s" } });
    const single = defineQueue<number>("single", { maxWorking: 1, backoff: ["2s"] });
    const starts: number[] = [];
    const app = testDeployment({
      consumers: [
        calls.consumer(() => void starts.push(app.now)),
        single.consumer(({ attempt }) => {
          if (attempt === 1) throw new Error("busy");
        }),
      ],
    });
    const begin = app.now;
    for (const queue of [calls, single])
      await app.queue(queue).enqueueMany(Array.from({ length: 6 }, (_, payload) => ({ payload })));
    await app.runToEnd();
    expect((await app.tasks(calls)).map(({ state }) => state)).toEqual(starts.map(() => "completed"));
    expect((await app.tasks(single, "completed")).map(({ attempt }) => attempt)).toEqual(starts.map(() => 2));
    expect(starts.map((start) => Math.floor((start - begin) / 10_000))).toEqual([0, 0, 1, 1, 2, 2]);
  });

  test("says which tasks of a paused queue are left, and does not wait for queues without a consumer", async () => {
    const reports = defineQueue<string>("reports");
    const app = testDeployment({ consumers: [emails.consumer(() => {})], queues: [reports] });
    const begin = app.now;
    await app.queue(reports).enqueueMany([{ payload: "now" }, { payload: "later", delay: "1h" }]);
    await app.runToEnd();
    expect(app.now).toBe(begin);
    await new Operator(emails, { transport: app.transport }).pause();
    await app.queue(emails).enqueue({ to: "ada" });
    await expect(app.runToEnd()).rejects.toMatchObject({
      code: "invalid_argument",
      message: "emails has 1 pending task that no move of the clock starts: the queue is paused",
    });
  });
});
