import { describe, expect, expectTypeOf, test, vi } from "vitest";
import { z } from "zod";
import { defineQueue, type Task } from "../../src/index.ts";
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
    const none = { requeued: 0, rejected: 0, handedBack: 0, lost: 0 };
    expect(await queue.work(send)).toEqual({ ...none, completed: 1 });
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

  test("lists cancelled tasks among the rejected, and not among the dead letters", async () => {
    const queue = testQueue(emails);
    const { id } = await queue.enqueue({ to: "ada" });
    await queue.queue.cancel(id);
    expect(await queue.tasks("rejected")).toMatchObject([{ id, reason: "cancelled" }]);
    expect(await queue.tasks()).toHaveLength(1);
    expect(await queue.deadLetters()).toEqual([]);
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
    const options = { group: "tenant;7", priority: 3, headers: { trace: "t" } };
    await queue.queue.enqueueMany([
      { payload: { to: "ada" }, id: "a", ...options },
      { payload: { to: "bob" }, id: "b", delay: "1h" },
    ]);
    await queue.enqueue({ to: "ada again" }, { id: "a" });
    expect(queue.enqueued).toEqual([
      { queue: "emails", id: "a", payload: { to: "ada" }, ...options },
      { queue: "emails", id: "b", payload: { to: "bob" } },
    ]);
    expectTypeOf(queue.enqueued[0]!.payload).toEqualTypeOf<{ to: string }>();
  });

  test("checks payloads and options as the declared queue does", async () => {
    const queue = testQueue(emails);
    await expect(queue.enqueue({ to: 7 } as never)).rejects.toMatchObject({ path: "payload.to" });
    const unique = { id: "welcome-ada" };
    expect(await queue.enqueue({ to: "ada" }, unique)).toMatchObject({ created: true });
    await queue.work(() => {});
    await queue.advance("23h");
    expect(await queue.enqueue({ to: "ada" }, unique)).toMatchObject({ created: false });
  });

  test("with partitions delivers, delays and retries as without, also at a rate", async () => {
    const declaration = { partitions: 4, maxAttempts: 3, backoff: ["10s", "1m"] } as const;
    const queue = testQueue(defineQueue<number>("events", declaration));
    const work = ({ attempt }: Task<number>) => {
      if (attempt < 3) throw new Error("busy");
    };
    const ids = Array.from({ length: 12 }, (_, i) => `t${i}`);
    for (const [i, id] of ids.entries()) await queue.enqueue(i, { id, delay: i % 3 === 0 ? "1h" : 0 });
    const { partitions } = await queue.operator.listPartitions();
    expect(partitions.filter(({ pending }) => pending > 0).length).toBeGreaterThan(1);
    for (const [time, done] of [
      [0, { completed: 0, requeued: 8 }],
      ["10s", { completed: 0, requeued: 8 }],
      ["1h", { completed: 8, requeued: 4 }],
    ] as const) {
      await queue.advance(time);
      expect(await queue.work(work)).toMatchObject(done);
    }
    expect(await queue.workToEnd(work)).toMatchObject({ completed: 4, requeued: 4 });
    expect(queue.enqueued.map(({ queue: of, id }) => [of, id])).toEqual(ids.map((id) => ["events", id]));
    const slow = testQueue(defineQueue<number>("slow", { partitions: 3, rate: { most: 2, per: "1m" } }));
    for (const id of ids) await slow.enqueue(0, { id });
    expect(await slow.workToEnd(() => {})).toMatchObject({ completed: 12 });
    expect(await slow.tasks("completed")).toHaveLength(12);
  });

  test("publishes events with results and errors, if its declaration says so", async () => {
    const queue = testQueue(defineQueue<number>("heard", { events: true, backoff: ["10s"] }));
    const { id } = await queue.enqueue(1);
    const found: unknown[] = [];
    const listening = new AbortController();
    const events = await queue.queue.events({ signal: listening.signal });
    await queue.workToEnd(({ attempt }) => {
      if (attempt === 1) throw new Error("busy");
      return "done";
    });
    for await (const { event, tasks } of events) {
      if (tasks) found.push([event, ...tasks]);
      if (event === "completed") break;
    }
    expect(found).toEqual([
      ["requeued", { id, attempt: 1, error: "Error: busy", dueAt: expect.any(Number) }],
      ["completed", { id, attempt: 2, result: "done" }],
    ]);
  });

  test("refuses a schedule that is none, by its path", () => {
    const wrong = defineQueue("reports", { schedules: { nightly: { cron: "bad", payload: 1 } } });
    expect(() => testQueue(wrong)).toThrow(
      expect.objectContaining({ code: "invalid_argument", path: "schedules.nightly.cron" }),
    );
  });

  test("refuses a schedule that never occurs", () => {
    const never = defineQueue("reports", { schedules: { never: { cron: "0 0 31 2 *", payload: 1 } } });
    expect(() => testQueue(never)).toThrow("schedules.never must occur at least once from now on");
  });

  test.each([
    ["advance", () => testQueue("a").advance("soon" as never), "time must be a duration of 0 to"],
    ["now", () => testQueue("a", { now: new Date("soon") }), "now must be a valid Date"],
    ["an option", () => testQueue("a", { clock: 1 } as never), "clock is an unknown option"],
    [
      "no queue",
      () => testQueue(undefined as never),
      "queue must be a name, or a queue that defineQueue made",
    ],
    [
      "a consumer",
      () => testQueue(defineQueue("a").consumer(() => {}) as never),
      "queue must be a name, or a queue that defineQueue made",
    ],
  ])("refuses a wrong argument: %s", async (_, run, problem) => {
    await expect((async () => run())()).rejects.toThrow(problem);
  });
});
