import { describe, expect, test } from "vitest";
import {
  durationBounds,
  type LeasedTask,
  type QueueEvent,
  type QueueStatistics,
  sweep,
} from "../../src/index.ts";
import { failedAttempts } from "../../src/operate/statistics.ts";
import { queueEvents } from "../../src/kernel/tasks/events.ts";
import { controlFields } from "../support/key-space.ts";
import { key, START, useRig } from "../support/rig.ts";
import { many } from "../support/new-tasks.ts";

const rig = useRig();

const MINUTE = 60_000;
/** The start of the minute in which the rig begins. */
const FIRST = START - (START % MINUTE);

/** The minutes with events, by their number after the first, and how many events of each kind. */
function reported({ minutes }: QueueStatistics): Record<number, Partial<Record<QueueEvent, number>>> {
  const found: Record<number, Partial<Record<QueueEvent, number>>> = {};
  for (const { startsAt, ...counts } of minutes) {
    const some = queueEvents.filter((event) => counts[event] > 0).map((event) => [event, counts[event]]);
    if (some.length > 0) found[(startsAt - FIRST) / MINUTE] = Object.fromEntries(some);
  }
  return found;
}

const fields = async () => Object.keys(controlFields(await rig.space(), /^~(stats|totals|m\d)/));

const noDurations = { count: 0, total: 0, classes: Array.from({ length: 13 }, () => 0) };
const nothing = {
  ...Object.fromEntries(queueEvents.map((event) => [event, 0])),
  attempts: 0,
  takenBack: 0,
  waits: noDurations,
  runs: noDurations,
  calls: { enqueue: 0, dequeue: 0, settle: 0, other: 0 },
};

/** Durations in classes, by the bound of the class; `over` for the last one. */
function classed(...durations: number[]) {
  const classes = Array.from({ length: 13 }, () => 0);
  for (const duration of durations) {
    const found = durationBounds.findIndex((bound) => duration <= bound);
    const place = found === -1 ? 12 : found;
    classes[place] = (classes[place] ?? 0) + 1;
  }
  return { count: durations.length, total: durations.reduce((sum, one) => sum + one, 0), classes };
}

const statistics = () => rig.operator().statistics();
const found = async () => reported(await statistics());
const on = () => rig.operator().configure({ statistics: true });
const complete = (tasks: readonly LeasedTask[]) =>
  rig.queue().settle(tasks.map(({ receipt }) => ({ receipt, outcome: "complete" })));

describe("statistics", () => {
  test("of a queue that keeps none, also with events, are sixty empty minutes, and reading them changes nothing", async () => {
    const queue = rig.queue();
    await rig.operator().configure({ events: true });
    await queue.enqueueMany(many(3));
    await (await queue.dequeue())[0]?.complete();
    const before = await rig.keySpace();
    const read = await statistics();
    expect(read).toMatchObject({ queue: "emails", on: false, perMinute: { enqueued: 0 } });
    expect(read.minutes).toHaveLength(60);
    expect(read.minutes.at(-1)).toEqual({ startsAt: FIRST, ...nothing });
    expect(read.totals).toEqual({ since: null, ...nothing });
    expect(reported(read)).toEqual({});
    expect(await rig.keySpace()).toEqual(before);
    await on();
    expect(await statistics()).toMatchObject({ on: true });
  });

  test("count as failed attempts those that are rejected, requeued or expired, the last one too, not those that are handed back or cancelled", async () => {
    const queue = rig.queue();
    await on();
    await queue.enqueueMany(many(6));
    const [completed, rejected, requeued, back, cancelled] = await queue.dequeue({ max: 6, lease: 1_000 });
    await completed?.complete();
    await rejected?.reject("no");
    await requeued?.requeue({ delay: "1h" });
    await queue.settle([{ receipt: back?.receipt ?? "", outcome: "requeue", unstarted: true }]);
    await queue.cancel(cancelled?.id ?? "");
    await cancelled?.requeue();
    await queue.cancel(back?.id ?? "");
    await queue.enqueueMany(many(3, { maxAttempts: 1, lease: 1_000 }));
    await queue.dequeue({ max: 3 });
    rig.now += 1_000;
    await rig.sweepOnce();
    const { totals } = await statistics();
    expect(totals).toMatchObject({ completed: 1, rejected: 4, requeued: 1, cancelled: 2, reclaimed: 4 });
    expect(failedAttempts(totals)).toBe(6);
  });

  test("count large batches exactly, with groups and limits too, and each script call of a settle once", async () => {
    const queue = rig.queue();
    await on();
    await queue.enqueueMany(many(1_000));
    await complete(await queue.dequeue({ max: 1_000 }));
    expect((await statistics()).totals.calls).toEqual({ enqueue: 1, dequeue: 1, settle: 5, other: 0 });
    await rig.operator().configureGroup("a", { maxWorking: 40 });
    await queue.enqueueMany(many(200, { group: "a" }));
    for (let done = 0; done < 200;) {
      const batch = await queue.dequeue({ max: 1_000 });
      await complete(batch);
      done += batch.length;
    }
    expect(await found()).toEqual({ 0: { enqueued: 1_200, dequeued: 1_200, completed: 1_200 } });
  });

  test("are those of the last sixty minutes: older ones are removed", async () => {
    const queue = rig.queue();
    await on();
    const expected: Record<number, object> = {};
    for (let minute = 0; minute < 150; minute++) {
      rig.now = FIRST + minute * MINUTE + 30_000;
      await queue.enqueueMany(many(1 + (minute % 7)));
      expected[minute] = { enqueued: 1 + (minute % 7) };
      delete expected[minute - 60];
      if (minute % 30 === 29) expect(await found()).toEqual(expected);
    }
    expect(await fields()).toHaveLength(62);
    rig.now += 30 * MINUTE;
    for (let minute = 90; minute < 120; minute++) delete expected[minute];
    expect(await found()).toEqual(expected);
    rig.now += 30 * MINUTE;
    expect(await found()).toEqual({});
    await queue.enqueue("after a pause of an hour", { id: "x" });
    expect(await found()).toEqual({ 209: { enqueued: 1 } });
    // What sweeps of all queues reclaim counts too.
    await queue.dequeue({ max: 200, lease: 1_000 });
    rig.now += MINUTE;
    await sweep(rig.transport, { now: () => rig.now });
    expect((await found())[210]).toEqual({ reclaimed: 200 });
  });

  test("report the mean of the last five full minutes, to scale by", async () => {
    const queue = rig.queue();
    await on();
    for (let minute = 0; minute < 6; minute++) {
      rig.now = FIRST + minute * MINUTE;
      await queue.enqueueMany(many(10 * (minute + 1)));
      await complete(await queue.dequeue({ max: 5 }));
    }
    const { perMinute } = await statistics();
    expect(perMinute).toMatchObject({ enqueued: 30, dequeued: 5, completed: 5, requeued: 0 });
    rig.now += 10 * MINUTE;
    expect((await statistics()).perMinute).toMatchObject({ enqueued: 0, dequeued: 0 });
  });

  test("that are turned off are no longer counted, and leave no field", async () => {
    const queue = rig.queue();
    const operator = rig.operator();
    await operator.configure({ statistics: true, events: true });
    await queue.enqueueMany(many(3));
    rig.now += MINUTE;
    await queue.dequeue();
    expect(await fields()).toEqual([`~m${(FIRST / MINUTE) % 60}`, "~stats", "~totals"]);
    await operator.configure({ statistics: false });
    expect(await fields()).toEqual([]);
    await queue.dequeue();
    await queue.enqueueMany(many(3));
    expect(await fields()).toEqual([]);
    await on();
    expect(await found()).toEqual({});
  });

  test("count how long tasks waited for their first attempt, and how long attempts took", async () => {
    const queue = rig.queue();
    await on();
    await queue.enqueueMany(many(3));
    rig.now += 10;
    const [quick, slow] = await queue.dequeue({ max: 2, lease: "2h" });
    rig.now += 11;
    await quick?.complete();
    await slow?.requeue();
    const [third, again] = await queue.dequeue({ max: 2, lease: "2h" });
    rig.now += 3_000_001;
    await third?.requeue({ delay: "1h" });
    await again?.reject("no");
    const { totals } = await statistics();
    expect(totals.waits).toEqual(classed(10, 10, 21));
    expect(totals.runs).toEqual(classed(11, 11, 3_000_001, 3_000_001));
    // Of the task that was completed, and of the one that was rejected.
    expect(totals.attempts).toBe(3);
    expect(totals.calls).toEqual({ enqueue: 1, dequeue: 2, settle: 4, other: 0 });
  });

  test.each(["~totals", "~stats"])(
    "that a later release wrote in %s are refused, and stay as they are",
    async (field) => {
      const queue = rig.queue();
      await on();
      await queue.enqueue("a");
      const written = `2;${FIRST / MINUTE};enqueued=x`;
      await rig.command("HSET", key("tasks"), field, written);
      await expect(statistics()).rejects.toMatchObject({ code: "newer_schema" });
      rig.now += MINUTE;
      await queue.enqueue("b");
      expect(await queue.dequeue({ max: 3 })).toHaveLength(2);
      expect(await rig.command("HGET", key("tasks"), field)).toBe(written);
    },
  );
});
