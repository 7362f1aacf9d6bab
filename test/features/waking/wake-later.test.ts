import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { Operator, Producer, Queue, Schedules, sweep, type Waker } from "../../../src/index.ts";
import { redisTime } from "../../../src/kernel/clock.ts";
import { many } from "../../support/new-tasks.ts";
import { QUEUE, START, useRig } from "../../support/rig.ts";

// What calls ask of a waker that can wake consumers and sweep queues later.

const rig = useRig();

/** What was asked of the waker. */
let asked: unknown[];
beforeEach(() => {
  asked = [];
});
afterEach(() => void vi.restoreAllMocks());

const wake: Waker = {
  wake: (queue) => asked.push(["wake", queue]),
  wakeAt: (queue, at) => asked.push(["wakeAt", queue, at - START]),
  sweepAt: (queue, at) => asked.push(["sweepAt", queue, at - START]),
};
const waking = () => rig.queue({ wake });
const now = () => rig.now;
const queueOf = (name: string) => new Queue(name, { transport: rig.transport, now });
const schedulesOf = (name: string) => new Schedules(name, { transport: rig.transport, now });
const sweepOnce = (more: Partial<Waker> = {}) => sweep(rig.transport, { now, wake: { ...wake, ...more } });

describe("an enqueue arranges a wake", () => {
  test("for a delayed task, when it is due; for the first of several, and wakes for those that are ready", async () => {
    await waking().enqueue(1, { delay: "30s" });
    await waking().enqueue(1, { at: START + 7_000 });
    await waking().enqueueMany([
      { payload: 1, delay: "30s" },
      { payload: 2 },
      { payload: 3, delay: "20s" },
      { payload: 4, at: START - 1 },
    ]);
    expect(asked).toEqual([
      ["wakeAt", QUEUE, 30_000],
      ["wakeAt", QUEUE, 7_000],
      ["wake", QUEUE],
      ["wakeAt", QUEUE, 20_000],
    ]);
  });

  test("once for calls that share a request", async () => {
    const queue = waking();
    await Promise.all([5, 3, 4].map((seconds) => queue.enqueue(1, { delay: seconds * 1_000 })));
    expect(asked).toEqual([["wakeAt", QUEUE, 3_000]]);
  });

  test("with the default delay of the queue, from a producer", async () => {
    const { transport } = rig;
    await new Producer(QUEUE, { transport, now, wake, delay: "1m" }).enqueue(1);
    expect(asked).toEqual([["wakeAt", QUEUE, 60_000]]);
  });

  test("for no task that is ready, refused or known already", async () => {
    await rig.queue().enqueue(1, { id: "x", delay: "1m" });
    await waking().enqueue(1, { id: "x", delay: "1s" });
    await waking().enqueueMany([{ payload: 1, id: "x", delay: "1s" }]);
    await rig.operator().pause();
    await waking().enqueue(1);
    expect(asked).toEqual([]);
  });

  test("only for the waker's queues, and only if the waker can", async () => {
    await rig.queue({ wake: { ...wake, queues: () => false } }).enqueue(1, { delay: "1s" });
    await rig.queue({ wake: { wake: wake.wake } }).enqueue(1, { delay: "1s" });
    expect(asked).toEqual([]);
  });
});

describe("a settle arranges a wake", () => {
  test("for the first task that it requeues with a delay, alone, among several, and with a dequeue", async () => {
    await rig.queue().enqueueMany(many(5));
    const tasks = await waking().dequeue({ max: 5 });
    const requeue = (i: number, delay: number) =>
      ({ receipt: tasks[i]?.receipt ?? "", outcome: "requeue", delay }) as const;
    await waking().settle([
      requeue(0, 20_000),
      requeue(1, 10_000),
      { receipt: tasks[2]?.receipt ?? "", outcome: "complete" },
    ]);
    await tasks[3]?.requeue({ delay: "5s" });
    await waking().settleAndDequeue([requeue(4, 4_000)]);
    expect(asked).toEqual([10_000, 5_000, 4_000].map((at) => ["wakeAt", QUEUE, at]));
  });

  test("not for tasks that are ready again, end or are extended", async () => {
    await rig.queue().enqueueMany(many(3));
    const [a, b, c] = await waking().dequeue({ max: 3 });
    await a?.requeue();
    await b?.complete();
    await c?.extend("1m");
    expect(asked).toEqual([]);
  });
});

describe("a sweep arranges wakes", () => {
  test("of each queue for what is due next there", async () => {
    await rig.queue().enqueueMany(many(2, { delay: "1m" }));
    await queueOf("other").enqueue(1, { delay: "2m" });
    await queueOf("idle").enqueue(1);
    expect(await sweepOnce({ wake: () => {} })).toMatchObject({ queues: 3, woken: 1 });
    expect(new Set(asked)).toEqual(
      new Set([
        ["wakeAt", QUEUE, 60_000],
        ["wakeAt", "other", 120_000],
      ]),
    );
  });

  test("for what is left after it has promoted and reclaimed", async () => {
    await rig.queue().enqueueMany(many(2, { lease: "10s" }));
    await rig.queue().enqueueMany(many(1, { lease: "40s" }));
    await rig.queue().dequeue({ max: 3 });
    await rig.queue().enqueue(1, { delay: "10s" });
    await rig.queue().enqueue(1, { delay: "50s" });
    rig.now += 10_000;
    expect(await sweepOnce()).toMatchObject({ promoted: 1, reclaimed: 2 });
    expect(asked).toEqual([
      ["wake", QUEUE],
      ["wakeAt", QUEUE, 40_000],
    ]);
    rig.now += 30_000;
    asked = [];
    expect(await sweepOnce({ wake: () => {} })).toMatchObject({ promoted: 0, reclaimed: 1 });
    expect(asked).toEqual([["wakeAt", QUEUE, 50_000]]);
  });

  test("for a group whose rate has room again", async () => {
    await rig.operator().configureGroup("a", { rate: { most: 1, per: "10s" } });
    await rig.queue().enqueueMany(many(2, { group: "a", lease: "1h" }));
    await rig.queue().dequeue({ max: 2 });
    await sweepOnce();
    expect(asked).toEqual([["wakeAt", QUEUE, 11_000]]);
  });

  test("not for queues that are not the waker's, and for none if the waker cannot", async () => {
    await rig.queue().enqueue(1, { delay: "1m" });
    await sweepOnce({ queues: () => false });
    await sweepOnce({ wakeAt: undefined });
    await sweep(rig.transport, { now });
    expect(asked).toEqual([]);
  });
});

const minutely = { every: "1m", from: START + 60_000, payload: 1 } as const;

describe("a sweep of a schedule is arranged", () => {
  const schedules = () => new Schedules(QUEUE, { transport: rig.transport, now, wake });

  test("when it is put or resumed, for its next occurrence", async () => {
    await schedules().put("x", minutely);
    await schedules().pause("x");
    await schedules().resume("x");
    expect(asked).toEqual([
      ["sweepAt", QUEUE, 60_000],
      ["sweepAt", QUEUE, 60_000],
    ]);
  });

  test("by each sweep, for the next occurrence of each queue with schedules", async () => {
    await schedulesOf(QUEUE).put("x", minutely);
    await sweepOnce();
    expect(asked).toEqual([["sweepAt", QUEUE, 60_000]]);
    rig.now += 60_000;
    asked = [];
    // Also if the waker wakes no consumer of the queue.
    expect(await sweepOnce({ queues: () => false })).toMatchObject({ scheduled: 1, woken: 0 });
    expect(asked).toEqual([["sweepAt", QUEUE, 120_000]]);
  });

  test("not while it is paused, nor for one that is overdue because its queue is full", async () => {
    await schedulesOf(QUEUE).put("x", { ...minutely, paused: true });
    await sweepOnce();
    await schedulesOf("full").put("x", minutely);
    await queueOf("full").enqueue(1);
    rig.now += 60_000;
    asked = [];
    await new Operator("full", { transport: rig.transport, now }).configure({ maxPending: 1 });
    expect(await sweepOnce({ wake: () => {} })).toMatchObject({
      failed: [{ queue: "full", code: "queue_full" }],
    });
    expect(asked).toEqual([]);
  });
});

describe("a sweep of one queue", () => {
  const only = (queue: string) => sweep(rig.transport, { now, wake, queue });

  test("promotes, runs schedules and wakes there, and leaves the other queues alone", async () => {
    for (const name of [QUEUE, "other"]) {
      await queueOf(name).enqueue(1, { delay: "1m" });
      await schedulesOf(name).put("x", minutely);
    }
    rig.now += 60_000;
    const report = { queues: 1, promoted: 1, scheduled: 1, woken: 1, failed: [], more: false };
    expect(await only("other")).toMatchObject(report);
    expect(asked).toEqual([
      ["wake", "other"],
      ["sweepAt", "other", 120_000],
    ]);
    expect(await rig.queue().counts()).toMatchObject({ pending: 0, delayed: 1 });
  });

  test("of which nothing is known does nothing, and its name is checked", async () => {
    expect(await only("unknown")).toMatchObject({ queues: 1, promoted: 0, scheduled: 0, failed: [] });
    expect(await rig.keySpace()).toEqual({});
    await expect(only("a b")).rejects.toMatchObject({ code: "invalid_argument", path: "queue" });
  });
});

describe("on a machine whose clock is wrong", () => {
  const wrong = START - 3_600_000;
  beforeEach(() => void vi.spyOn(Date, "now").mockReturnValue(wrong));

  test("Redis's time is known from the first sweep on, of all queues or of one", async () => {
    const timeOfRedis = async () => {
      const [seconds, micros] = (await rig.command("TIME")) as [string, string];
      return Number(seconds) * 1_000 + Math.floor(Number(micros) / 1_000);
    };
    for (const queue of [undefined, QUEUE]) {
      const transport = { send: rig.transport.send };
      expect(redisTime(transport)).toBe(wrong);
      const before = await timeOfRedis();
      await sweep(transport, { queue });
      expect(redisTime(transport)).toBeGreaterThanOrEqual(before);
      expect(redisTime(transport)).toBeLessThanOrEqual(await timeOfRedis());
    }
  });

  test("a delay is counted by Redis's time", async () => {
    await sweep(rig.transport, { now });
    await rig.queue({ now: undefined, wake }).enqueue(1, { delay: "1m" });
    expect(asked).toEqual([["wakeAt", QUEUE, 60_000]]);
  });
});
