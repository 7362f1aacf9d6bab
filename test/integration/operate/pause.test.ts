import { describe, expect, test } from "vitest";
import { Operator, Queue } from "../../../src/index.ts";
import { QUEUE, START, useRig } from "../../support/rig.ts";

const rig = useRig();

/** A queue of another function instance, which has its own transport and no memory of this one. */
const elsewhere = () => {
  const transport = { send: rig.transport.send };
  const options = { transport, now: () => rig.now };
  return { queue: new Queue(QUEUE, options), operator: new Operator(QUEUE, options) };
};

describe("a paused queue", () => {
  test("delivers nothing to any instance, from the next request on, and reports why", async () => {
    const queue = rig.queue();
    await queue.enqueueMany([{ payload: 1 }, { payload: 2 }]);
    await queue.dequeue();
    expect(await elsewhere().operator.pause()).toMatchObject({ paused: true });
    const before = await rig.keySpace();
    for (const one of [queue, elsewhere().queue, rig.queue()]) {
      const batch = await one.dequeue({ max: 10 });
      expect([batch.length, batch.paused, batch.nextDueAt]).toEqual([0, true, null]);
    }
    expect((await queue.settleAndDequeue([], { max: 10 })).tasks.paused).toBe(true);
    expect(await rig.keySpace()).toEqual(before);
    expect(await queue.counts()).toMatchObject({ pending: 1, working: 1, paused: true });
  });

  test("answers copies of a dequeue like the first one, and returns tasks that it leased before", async () => {
    const queue = rig.queue();
    await queue.enqueueMany([{ payload: 1 }, { payload: 2 }]);
    const [first] = await queue.dequeue({ token: "token-01" });
    await rig.operator().pause();
    for (let copy = 0; copy < 3; copy++) {
      const batch = await queue.dequeue({ token: "token-02" });
      expect([batch.length, batch.paused, batch.nextDueAt]).toEqual([0, true, null]);
      const again = await queue.dequeue({ token: "token-01" });
      expect([again[0]?.receipt, again.length, again.paused]).toEqual([first?.receipt, 1, false]);
    }
    await rig.operator().resume();
    expect([...(await queue.dequeue({ token: "token-02" }))]).toEqual([]);
  });

  test("still enqueues, settles, sweeps and cancels", async () => {
    const queue = rig.queue();
    await queue.enqueueMany([{ payload: 1 }, { payload: 2, lease: 1_000 }]);
    const [one] = await queue.dequeue({ max: 2 });
    await rig.operator().pause();
    expect(await queue.enqueue(3, { id: "three" })).toEqual({ id: "three", created: true });
    await queue.enqueue(4, { delay: 500 });
    expect(await one?.complete("done")).toMatchObject({ ok: true, state: "completed" });
    expect(await queue.cancel("three")).toEqual({ ok: true, state: "rejected" });
    rig.now += 1_000;
    expect(await rig.sweepOnce()).toEqual(["ok", 1, 1, 0, 0, 0, 0, 0]);
    expect(await queue.counts()).toMatchObject({ pending: 2, delayed: 0, working: 0, paused: true });
  });

  test("delivers the rest in order after it is resumed", async () => {
    const queue = rig.queue();
    await queue.enqueueMany([1, 2, 3].map((payload) => ({ payload })));
    await rig.operator().pause();
    await queue.dequeue({ max: 10 });
    expect(await elsewhere().operator.resume()).toMatchObject({ paused: false });
    const batch = await queue.dequeue({ max: 10 });
    expect(batch.map(({ payload }) => payload)).toEqual([1, 2, 3]);
    expect(batch.paused).toBe(false);
    expect((await rig.space()).tasks.has("~set")).toBe(false);
  });

  test("delivers no grouped or prioritised tasks either, and keeps their shares", async () => {
    const queue = rig.queue();
    await queue.enqueueMany(["a", "a", "b"].map((group) => ({ payload: group, group })));
    await queue.enqueue("first", { priority: 9 });
    await rig.operator().pause();
    const before = await rig.keySpace();
    expect(await queue.dequeue({ max: 10 })).toHaveLength(0);
    expect(await rig.keySpace()).toEqual(before);
    await rig.operator().resume();
    const tasks = await queue.dequeue({ max: 10 });
    expect(tasks.map(({ payload }) => payload)).toEqual(["first", "a", "b", "a"]);
  });

  test("answers the copy of a dequeue that ran before the pause", async () => {
    const queue = rig.queue();
    await queue.enqueueMany([1, 2, 3].map((payload) => ({ payload })));
    const first = await queue.dequeue({ max: 2, token: "token-01" });
    await rig.operator().pause();
    const again = await queue.dequeue({ max: 2, token: "token-01" });
    expect(again.map(({ receipt }) => receipt)).toEqual(first.map(({ receipt }) => receipt));
    expect(again.paused).toBe(false);
    expect((await queue.dequeue({ token: "token-02" })).paused).toBe(true);
  });

  test("leases nothing to a late first copy of a dequeue that was answered as paused (law 5)", async () => {
    const queue = rig.queue();
    await queue.enqueue(1);
    await rig.operator().pause();
    expect((await queue.dequeue({ token: "token-01" })).paused).toBe(true);
    await rig.operator().resume();
    expect(await queue.dequeue({ token: "token-01" })).toHaveLength(0);
    expect(await queue.dequeue()).toHaveLength(1);
  });
});

describe("pausing and resuming", () => {
  test("leave other settings as they are", async () => {
    const operator = rig.operator();
    await operator.configure({ maxWorking: 7, events: true });
    await operator.pause();
    await operator.configure({ maxWorking: 8 });
    expect(await operator.settings()).toMatchObject({ paused: true, maxWorking: 8, events: true });
    await operator.resume();
    expect(await operator.settings()).toMatchObject({ paused: false, maxWorking: 8, events: true });
  });

  test("twice has the effect of once", async () => {
    const operator = rig.operator();
    await operator.pause();
    const { tasks } = await rig.space();
    await operator.pause();
    expect((await rig.space()).tasks).toEqual(tasks);
    await operator.resume();
    expect(await operator.resume()).toMatchObject({ paused: false });
  });

  test("register a queue without tasks", async () => {
    await rig.operator().pause();
    expect((await rig.keySpace())["sluice:queues"]).toEqual({ zset: [[QUEUE, START]] });
  });

  test("a copy of a pause that arrives after the resume does nothing (law 5)", async () => {
    const operator = rig.operator();
    await operator.pause({ idempotencyKey: "one" });
    await operator.resume({ idempotencyKey: "two" });
    expect(await operator.pause({ idempotencyKey: "one" })).toMatchObject({ paused: false });
    expect(await operator.pause({ idempotencyKey: "three" })).toMatchObject({ paused: true });
  });
});
