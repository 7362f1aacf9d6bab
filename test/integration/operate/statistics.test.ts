import { describe, expect, test } from "vitest";
import { type QueueEvent, type QueueStatistics, sweep } from "../../../src/index.ts";
import { controlFields } from "../../support/key-space.ts";
import { START, useRig } from "../../support/rig.ts";
import { many } from "../../support/new-tasks.ts";

const rig = useRig();

const MINUTE = 60_000;
/** The start of the minute in which the rig begins. */
const FIRST = START - (START % MINUTE);

/** The minutes with events, by their number after the first, and the counts above 0. */
function reported({ minutes }: QueueStatistics): Record<number, Partial<Record<QueueEvent, number>>> {
  const found: Record<number, Partial<Record<QueueEvent, number>>> = {};
  for (const { startsAt, ...counts } of minutes) {
    const some = Object.entries(counts).filter(([, count]) => count > 0);
    if (some.length > 0) found[(startsAt - FIRST) / MINUTE] = Object.fromEntries(some);
  }
  return found;
}

const fields = async () => Object.keys(controlFields(await rig.space(), /^~(stats|m\d)/));

describe("statistics", () => {
  test("are off if only events are on", async () => {
    const operator = rig.operator();
    await operator.configure({ events: true });
    expect(await operator.statistics()).toMatchObject({ on: false });
    await operator.configure({ statistics: true });
    expect(await operator.statistics()).toMatchObject({ on: true });
  });

  test("of a queue that keeps none are sixty empty minutes, and reading them changes nothing", async () => {
    const queue = rig.queue();
    await queue.enqueueMany(many(3));
    await (await queue.dequeue())[0]?.complete();
    const before = await rig.keySpace();
    const statistics = await rig.operator().statistics();
    expect(statistics).toMatchObject({ queue: "emails", on: false, perMinute: { enqueued: 0 } });
    expect(statistics.minutes).toHaveLength(60);
    expect(statistics.minutes.at(-1)).toEqual({
      startsAt: FIRST,
      enqueued: 0,
      dequeued: 0,
      completed: 0,
      requeued: 0,
      rejected: 0,
      cancelled: 0,
      cancelRequested: 0,
      reclaimed: 0,
      redriven: 0,
      deleted: 0,
    });
    expect(reported(statistics)).toEqual({});
    expect(await rig.keySpace()).toEqual(before);
  });

  test("count each event of a task once", async () => {
    const queue = rig.queue();
    await rig.operator().configure({ statistics: true });
    await queue.enqueueMany(many(6, { maxAttempts: 2 }));
    await queue.enqueue("alone");
    await queue.enqueue("later", { delay: "1m", id: "later" });
    await queue.enqueue("known", { id: "later" });
    const [a, b, c, d, e] = await queue.dequeue({ max: 5, lease: 1_000 });
    await queue.dequeue({ max: 5, lease: 1_000, token: "token-01" });
    await queue.dequeue({ max: 5, lease: 1_000, token: "token-01" });
    expect(reported(await rig.operator().statistics())).toEqual({ 0: { enqueued: 8, dequeued: 7 } });
    await a?.complete();
    await a?.complete();
    await b?.reject("no");
    await c?.requeue();
    await d?.requeue({ delay: 10 });
    await queue.cancel(e?.id ?? "");
    await e?.extend();
    await e?.requeue();
    await queue.cancel("later");
    await queue.cancel("later");
    expect(reported(await rig.operator().statistics())).toEqual({
      0: {
        enqueued: 8,
        dequeued: 7,
        completed: 1,
        rejected: 1,
        requeued: 2,
        cancelled: 2,
        cancelRequested: 1,
      },
    });
    rig.now += 1_000;
    await rig.sweepOnce();
    expect(reported(await rig.operator().statistics())[0]).toMatchObject({
      reclaimed: 2,
      dequeued: 7,
      rejected: 1,
    });
  });

  test("count a lease that expires on the last attempt as reclaimed and as rejected", async () => {
    const queue = rig.queue();
    await rig.operator().configure({ statistics: true });
    await queue.enqueueMany(many(3, { maxAttempts: 1, lease: 1_000 }));
    await queue.dequeue({ max: 3 });
    rig.now += 1_000;
    await rig.sweepOnce();
    expect(reported(await rig.operator().statistics())).toEqual({
      0: { enqueued: 3, dequeued: 3, reclaimed: 3, rejected: 3 },
    });
  });

  test("count batches of any size exactly, with groups and limits too", async () => {
    const queue = rig.queue();
    await rig.operator().configure({ statistics: true });
    await rig.operator().configureGroup("a", { maxWorking: 40 });
    await queue.enqueueMany(many(1_000));
    await queue.enqueueMany(many(500, { group: "a" }));
    let done = 0;
    for (let call = 0; call < 100 && done < 1_500; call++) {
      const batch = await queue.dequeue({ max: 1_000 });
      await queue.settle(batch.map(({ receipt }) => ({ receipt, outcome: "complete" })));
      done += batch.length;
    }
    expect(reported(await rig.operator().statistics())).toEqual({
      0: { enqueued: 1_500, dequeued: 1_500, completed: 1_500 },
    });
  });

  test("are kept by the minute, and a minute without events is empty", async () => {
    const queue = rig.queue();
    await rig.operator().configure({ statistics: true });
    await queue.enqueueMany(many(4));
    rig.now = FIRST + MINUTE - 1;
    await queue.dequeue({ max: 1 });
    rig.now = FIRST + MINUTE;
    await queue.dequeue({ max: 2 });
    rig.now = FIRST + 4 * MINUTE + 5;
    await queue.enqueueMany(many(3));
    expect(reported(await rig.operator().statistics())).toEqual({
      0: { enqueued: 4, dequeued: 1 },
      1: { dequeued: 2 },
      4: { enqueued: 3 },
    });
  });

  test("are those of the last sixty minutes: older ones are removed", async () => {
    const queue = rig.queue();
    await rig.operator().configure({ statistics: true });
    const expected: Record<number, object> = {};
    for (let minute = 0; minute < 150; minute++) {
      rig.now = FIRST + minute * MINUTE + 30_000;
      await queue.enqueueMany(many(1 + (minute % 7)));
      expected[minute] = { enqueued: 1 + (minute % 7) };
      delete expected[minute - 60];
      if (minute % 10 === 9) expect(reported(await rig.operator().statistics())).toEqual(expected);
    }
    expect(await fields()).toHaveLength(61);
    rig.now += 30 * MINUTE;
    for (let minute = 90; minute < 120; minute++) delete expected[minute];
    expect(reported(await rig.operator().statistics())).toEqual(expected);
    rig.now += 30 * MINUTE;
    expect(reported(await rig.operator().statistics())).toEqual({});
    await queue.enqueue("after a pause of an hour", { id: "x" });
    expect(reported(await rig.operator().statistics())).toEqual({ 209: { enqueued: 1 } });
  });

  test("report the mean of the last five full minutes, to scale by", async () => {
    const queue = rig.queue();
    await rig.operator().configure({ statistics: true });
    for (let minute = 0; minute < 6; minute++) {
      rig.now = FIRST + minute * MINUTE;
      await queue.enqueueMany(many(10 * (minute + 1)));
      await queue.settle(
        (await queue.dequeue({ max: 5 })).map(({ receipt }) => ({ receipt, outcome: "complete" })),
      );
    }
    const { perMinute } = await rig.operator().statistics();
    expect(perMinute).toMatchObject({ enqueued: 30, dequeued: 5, completed: 5, requeued: 0 });
    rig.now += 10 * MINUTE;
    expect((await rig.operator().statistics()).perMinute).toMatchObject({ enqueued: 0, dequeued: 0 });
  });

  test("count tasks that the sweep of all queues reclaims", async () => {
    const queue = rig.queue();
    await rig.operator().configure({ statistics: true });
    await queue.enqueueMany(many(200));
    await queue.dequeue({ max: 200, lease: 1_000 });
    rig.now += MINUTE;
    await sweep(rig.transport, { now: () => rig.now });
    expect(reported(await rig.operator().statistics())[1]).toEqual({ reclaimed: 200 });
  });

  test("that are turned off are no longer counted, and leave no field", async () => {
    const queue = rig.queue();
    const operator = rig.operator();
    await operator.configure({ statistics: true, events: true });
    await queue.enqueueMany(many(3));
    rig.now += MINUTE;
    await queue.dequeue();
    expect(await fields()).toEqual([`~m${(FIRST / MINUTE) % 60}`, "~stats"]);
    await operator.configure({ statistics: false });
    expect(await fields()).toEqual([]);
    await queue.dequeue();
    await queue.enqueueMany(many(3));
    expect(await fields()).toEqual([]);
    await operator.configure({ statistics: true });
    expect(reported(await operator.statistics())).toEqual({});
  });

  test("continue in the last minute if the clock jumps back (law 4)", async () => {
    const queue = rig.queue();
    await rig.operator().configure({ statistics: true });
    rig.now += 5 * MINUTE;
    await queue.enqueueMany(many(2));
    rig.now -= 3 * MINUTE;
    await queue.enqueueMany(many(3));
    rig.now += 3 * MINUTE;
    expect(reported(await rig.operator().statistics())).toEqual({ 5: { enqueued: 5 } });
  });

  test("count nothing for a refused enqueue", async () => {
    const queue = rig.queue();
    await rig.operator().configure({ statistics: true, maxPending: 3 });
    await queue.enqueueMany(many(2));
    await expect(queue.enqueueMany(many(2))).rejects.toMatchObject({ code: "queue_full" });
    expect(reported(await rig.operator().statistics())).toEqual({ 0: { enqueued: 2 } });
  });
});
