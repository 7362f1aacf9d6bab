import { describe, expect, expectTypeOf, test, vi } from "vitest";
import { z } from "zod";
import { defineQueue, NonRetryableError, Queue, type Task } from "../../src/index.ts";
import { testQueue } from "../../src/testing/index.ts";

const schema = z.object({ to: z.string() });
const emails = defineQueue("emails", { schema, maxAttempts: 3, backoff: ["10s", "1m"], unique: "24h" });

/** Notes what it got, and fails as often as it is to. */
function mailer(failures = 0) {
  const sent: string[] = [];
  const send = ({ payload, attempt }: Task<{ to: string }>) => {
    if (attempt <= failures) throw new Error(`busy ${attempt}`);
    sent.push(payload.to);
    return { sent: payload.to };
  };
  return { sent, send };
}

describe("a queue for tests", () => {
  test("delivers a delayed task when the clock says so, and not before", async () => {
    const queue = testQueue(emails);
    const { sent, send } = mailer();
    const { id } = await queue.enqueue({ to: "ada" }, { delay: "10m" });
    expect(await queue.work(send)).toMatchObject({ completed: 0 });
    await queue.advance("9m");
    expect(await queue.work(send)).toMatchObject({ completed: 0 });
    await queue.advance("1m");
    expect(await queue.work(send)).toEqual({
      completed: 1,
      requeued: 0,
      rejected: 0,
      handedBack: 0,
      lost: 0,
    });
    expect(sent).toEqual(["ada"]);
    expect(await queue.tasks("completed")).toMatchObject([{ id, result: { sent: "ada" } }]);
  });

  test("tries again after the declared backoff, and keeps what failed for good as a dead letter", async () => {
    const queue = testQueue(emails, { now: 1_800_000_000_000 });
    const { send } = mailer(3);
    await queue.enqueue({ to: "ada" }, { id: "a" });
    expect(await queue.work(send)).toMatchObject({ requeued: 1 });
    expect(await queue.tasks()).toMatchObject([{ id: "a", state: "delayed", dueAt: 1_800_000_010_000 }]);
    await queue.advance("10s");
    expect(await queue.work(send)).toMatchObject({ requeued: 1 });
    await queue.advance("59s");
    expect(await queue.work(send)).toMatchObject({ requeued: 0, rejected: 0 });
    await queue.advance("1s");
    expect(await queue.work(send)).toMatchObject({ rejected: 1 });
    expect(queue.now).toBe(1_800_000_070_000);
    expect(await queue.deadLetters()).toMatchObject([
      { id: "a", attempt: 3, payload: { to: "ada" }, error: { message: "busy 3" } },
    ]);
  });

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
    expect(starts[0]).toBe(0);
    expect(starts[1]).toBe(0);
    for (const [i, start] of starts.entries()) {
      if (i >= 2) expect(start - (starts[i - 2] ?? 0)).toBeGreaterThanOrEqual(10_000);
      expect(start).toBeLessThanOrEqual(Math.floor(i / 2) * 11_000);
    }
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

  test("says so if the clock would stop too often", async () => {
    const queue = testQueue<number>("ticks");
    const ticks = Array.from({ length: 10_001 }, (_, i) => ({ payload: i, delay: i + 1 }));
    for (let i = 0; i < ticks.length; i += 1_000) await queue.queue.enqueueMany(ticks.slice(i, i + 1_000));
    await expect(queue.advance("1h")).rejects.toMatchObject({
      code: "invalid_argument",
      message: "the clock would stop more than 10,000 times: advance it by less",
    });
    // The last one, at which the clock is not yet.
    expect(await queue.tasks("delayed")).toHaveLength(1);
  }, 60_000);

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

  test("refuses an id for as long as the queue declares", async () => {
    const queue = testQueue(emails);
    const signUp = () => queue.enqueue({ to: "ada" }, { id: "welcome-ada" });
    expect((await signUp()).created).toBe(true);
    await queue.work(mailer().send);
    await queue.advance("23h");
    expect((await signUp()).created).toBe(false);
    await queue.advance("1h");
    expect((await signUp()).created).toBe(true);
  });

  test("is still swept after hours without a task", async () => {
    const queue = testQueue(emails);
    await queue.enqueue({ to: "ada" });
    await queue.work(mailer().send);
    await queue.advance("30d");
    await queue.enqueue({ to: "bob" }, { delay: "1h" });
    await queue.advance("1h");
    expect(await queue.tasks("pending")).toHaveLength(1);
  });

  test("has the declared settings and schedules; each occurrence comes at its time", async () => {
    const declared = defineQueue<string>("reports", {
      maxWorking: 1,
      schedules: { hourly: { every: "1h", payload: "hourly", missed: "last" } },
    });
    const queue = testQueue(declared);
    await queue.advance("3h");
    expect(await queue.tasks("pending")).toHaveLength(3);
    expect(await queue.queue.dequeue({ max: 10 })).toHaveLength(1);
    expect(await queue.queue.counts()).toMatchObject({ working: 1, pending: 2 });
    expect(await queue.operator.settings()).toMatchObject({ maxWorking: 1 });
    expect((await queue.schedules.list()).schedules).toHaveLength(1);
  });

  test("has each occurrence also if the clock begins at one", async () => {
    const schedules = { hourly: { cron: "0 * * * *", payload: "hourly" } };
    const queue = testQueue(defineQueue<string>("reports", { schedules }), { now: new Date("2026-11-23") });
    await queue.advance("3h");
    expect(await queue.tasks("pending")).toHaveLength(4);
  });

  test("connects the own methods of the declared queue", async () => {
    const queue = testQueue(emails);
    await queue.enqueue({ to: "ada" });
    await queue.work(async ({ payload: { to } }) => {
      if (to === "ada") await emails.enqueue({ to: "bob" });
    });
    expect(queue.enqueued.map(({ payload }) => payload.to)).toEqual(["ada", "bob"]);
  });

  test("leaves the declared queue to the next test alone", async () => {
    const disconnected = vi.fn<() => void>();
    const own = defineQueue<string>("own");
    const connect = vi.spyOn(own, "connect").mockReturnValueOnce(disconnected);
    testQueue(own);
    expect(disconnected).not.toHaveBeenCalled();
    const next = testQueue(own);
    expect(disconnected).toHaveBeenCalledOnce();
    expect(connect).toHaveBeenCalledTimes(2);
    await own.enqueue("a");
    expect(next.enqueued).toHaveLength(1);
  });

  test("shows what was enqueued, with payloads, types, and without duplicates", async () => {
    const queue = testQueue(emails);
    await queue.queue.enqueueMany([
      { payload: { to: "ada" }, id: "a", group: "tenant;7", priority: 3, headers: { trace: "t" } },
      { payload: { to: "bob" }, id: "b", delay: "1h" },
    ]);
    await queue.enqueue({ to: "ada again" }, { id: "a" });
    expect(queue.enqueued).toEqual([
      {
        queue: "emails",
        id: "a",
        payload: { to: "ada" },
        group: "tenant;7",
        priority: 3,
        headers: { trace: "t" },
      },
      { queue: "emails", id: "b", payload: { to: "bob" } },
    ]);
    expectTypeOf(queue.enqueued[0]!.payload).toEqualTypeOf<{ to: string }>();
  });

  test("checks payloads and options as the declared queue does", async () => {
    const queue = testQueue(emails);
    await expect(queue.enqueue({ to: 7 } as never)).rejects.toMatchObject({ path: "payload.to" });
    const rejected = await queue.enqueue({ to: "x" }).then(() =>
      queue.work(() => {
        throw new NonRetryableError("gone");
      }),
    );
    expect(rejected).toMatchObject({ rejected: 1 });
  });

  test("is apart from every other one", async () => {
    const [one, two] = [testQueue("jobs"), testQueue("jobs")];
    await one.enqueue(1);
    expect(await two.tasks()).toEqual([]);
  });

  test("refuses a schedule that is none, by its path", () => {
    const wrong = defineQueue("reports", { schedules: { nightly: { cron: "bad", payload: 1 } } });
    expect(() => testQueue(wrong)).toThrow(
      expect.objectContaining({ code: "invalid_argument", path: "schedules.nightly.cron" }),
    );
  });

  test("says which declaration cannot be applied", async () => {
    const queue = testQueue(
      defineQueue("reports", { schedules: { never: { cron: "0 0 31 2 *", payload: 1 } } }),
    );
    await expect(queue.enqueue(1)).rejects.toThrow("schedule must occur at least once from now on");
  });

  test.each([
    ["advance", () => testQueue("a").advance("soon" as never), "time must be a duration of 0 to"],
    ["now", () => testQueue("a", { now: new Date("soon") }), "now must be a valid Date"],
    ["an option", () => testQueue("a", { clock: 1 } as never), "clock is an unknown option"],
  ])("refuses a wrong argument: %s", async (_, run, problem) => {
    await expect((async () => run())()).rejects.toThrow(problem);
  });
});
