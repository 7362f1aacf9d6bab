import { describe, expect, test } from "vitest";
import { Operator, Queue, type Waker } from "../../src/index.ts";
import { configure } from "../../src/lua/linked/configure.gen.ts";
import { operatedOf } from "../../src/open/endpoints/operated.ts";
import { opening } from "../../src/open/opening.ts";
import { configureGroup } from "../../src/operate/configure.ts";
import { pauseUntil } from "../../src/operate/settings.ts";
import { many, named } from "../support/new-tasks.ts";
import { QUEUE, useRig } from "../support/rig.ts";

// A pause for a time ends by itself, by Redis's clock.

const rig = useRig();
const MINUTE = 60_000;

/** Completes what a dequeue delivers. */
const deliver = async (max = 100) => {
  const tasks = await rig.queue().dequeue({ max });
  for (const task of tasks) await task.complete();
  return { ids: tasks.map(({ id }) => id), nextDueAt: tasks.nextDueAt, paused: tasks.paused };
};

const set = async () => (await rig.space()).tasks.get("~set");

describe("a queue that is paused for a time", () => {
  test("delivers nothing until then, says when that is, and goes on by itself", async () => {
    await rig.queue().enqueueMany(named(["a", "b"]));
    const pausedUntil = rig.now + 5 * MINUTE;
    expect(await rig.operator().pause({ for: "5m" })).toMatchObject({ paused: true, pausedUntil });
    rig.now = pausedUntil - 1;
    const paused = { paused: true, pausedUntil };
    expect(await rig.queue().counts()).toMatchObject({ pending: 2, ...paused });
    expect(await rig.operator().settings()).toMatchObject(paused);
    expect(await deliver()).toEqual({ ids: [], nextDueAt: pausedUntil, paused: true });
    rig.now = pausedUntil;
    const running = { paused: false, pausedUntil: null };
    expect(await rig.queue().counts()).toMatchObject(running);
    expect(await rig.operator().settings()).toMatchObject(running);
    expect(await deliver()).toMatchObject({ ids: ["a", "b"], paused: false });
  });

  test("is plain again after the first dequeue, and keeps its other settings (law 3)", async () => {
    await rig.operator().pause({ for: "1s" });
    expect(await set()).toBe(`1;p=${rig.now + 1_000}`);
    rig.now += 1_000;
    await deliver();
    expect(await set()).toBeUndefined();
    await rig.operator().configure({ maxWorking: 3 });
    await rig.operator().pause({ for: "1s" });
    rig.now += 1_000;
    await rig.queue().enqueueMany(many(1));
    expect((await deliver()).ids).toHaveLength(1);
    expect(await rig.operator().settings()).toMatchObject({ maxWorking: 3, paused: false });
  });

  test("can be resumed before, and paused for another time", async () => {
    await rig.queue().enqueueMany(named(["a", "b"]));
    await rig.operator().pause({ for: "1h" });
    expect(await rig.operator().pause({ for: "1m" })).toMatchObject({ pausedUntil: rig.now + MINUTE });
    expect((await deliver()).ids).toEqual([]);
    expect(await rig.operator().resume()).toMatchObject({ paused: false, pausedUntil: null });
    expect((await deliver()).ids).toEqual(["a", "b"]);
  });

  test("stays paused if it was paused until it is resumed", async () => {
    await rig.operator().pause();
    expect(await rig.operator().pause({ for: "1s" })).toMatchObject({ paused: true, pausedUntil: null });
    rig.now += MINUTE;
    expect(await deliver()).toEqual({ ids: [], nextDueAt: null, paused: true });
  });

  test("is paused until it is resumed, if an operator asks for that meanwhile", async () => {
    await rig.operator().pause({ for: "1s" });
    expect(await rig.operator().pause()).toMatchObject({ paused: true, pausedUntil: null });
  });

  test("is not paused for longer by a second copy of the call (law 5)", async () => {
    const pausedUntil = rig.now + MINUTE;
    for (const later of [0, 30_000, 0]) {
      rig.now += later;
      const settings = await rig.operator().pause({ for: "1m", idempotencyKey: "deploy" });
      expect(settings).toMatchObject({ paused: true, pausedUntil });
    }
    rig.now = pausedUntil;
    const settings = await rig.operator().pause({ for: "1m", idempotencyKey: "deploy" });
    expect(settings).toMatchObject({ paused: false, pausedUntil: null });
  });

  test("refuses a time that is none, and changes nothing", async () => {
    for (const wrong of [0, -1, 0.5, "soon", null])
      await expect(rig.operator().pause({ for: wrong as never })).rejects.toThrow(/^for must be/);
    expect(await set()).toBeUndefined();
  });

  test("gets the same tasks by the same token after it (law 5)", async () => {
    await rig.queue().enqueueMany(named(["a"]));
    const token = "token-of-the-pause";
    await rig.operator().pause({ for: "1s" });
    const pausedUntil = rig.now + 1_000;
    for (let copies = 0; copies < 2; copies++) {
      const batch = await rig.queue().dequeue({ token });
      expect([batch.length, batch.paused, batch.nextDueAt]).toEqual([0, true, pausedUntil]);
    }
    rig.now = pausedUntil;
    // A copy of a dequeue that found nothing leases nothing.
    expect(await rig.queue().dequeue({ token })).toHaveLength(0);
    expect((await deliver()).ids).toEqual(["a"]);
  });

  test("of several partitions is paused in all of them", async () => {
    const { transport } = rig;
    const options = { transport, now: () => rig.now, partitions: 3 };
    const queue = new Queue(QUEUE, options);
    await queue.enqueueMany(many(30));
    const pausedUntil = rig.now + MINUTE;
    const operator = new Operator(QUEUE, options);
    expect(await operator.pause({ for: "1m" })).toMatchObject({ paused: true, pausedUntil });
    expect(await queue.counts()).toMatchObject({ pending: 30, paused: true, pausedUntil });
    const batch = await queue.dequeue({ max: 30 });
    expect([batch.length, batch.paused, batch.nextDueAt]).toEqual([0, true, pausedUntil]);
    rig.now = pausedUntil;
    const ids = new Set<string>();
    for (let calls = 0; calls < 9; calls++)
      for (const { id } of await queue.dequeue({ max: 30 })) ids.add(id);
    expect(ids.size).toBe(30);
  });
});

describe("the end of a pause wakes a consumer", () => {
  let asked: unknown[] = [];
  const wake: Waker = {
    wake: (queue) => asked.push(queue),
    wakeAt: (queue, at) => asked.push([queue, at - rig.now]),
  };
  const woke = () => asked.splice(0);
  const sweeping = async () => {
    const { sweep } = await import("../../src/index.ts");
    await sweep(rig.transport, { now: () => rig.now, wake });
  };

  test("if a task is enqueued after it, though a consumer that met the pause counts as awake", async () => {
    asked = [];
    const queue = rig.queue({ wake });
    await queue.enqueueMany(many(2));
    expect(await rig.queue().dequeue()).toHaveLength(1);
    await rig.operator().pause({ for: "1s" });
    woke();
    await queue.enqueue(1);
    expect(woke()).toEqual([]);
    rig.now += 1_000;
    await queue.enqueue(2);
    expect(woke()).toEqual([QUEUE]);
  });

  test("if a lone task is enqueued after it to an empty queue", async () => {
    asked = [];
    const queue = rig.queue({ wake });
    await rig.operator().pause({ for: "1s" });
    await queue.enqueue(1);
    expect([(await queue.dequeue()).length, woke()]).toEqual([0, []]);
    await rig.operator().purge({ state: "pending" });
    rig.now += 1_000;
    await queue.enqueue(2);
    expect(woke()).toEqual([QUEUE]);
  });

  test("by the next sweep, and at its instant if the operator has a waker", async () => {
    asked = [];
    await rig.queue().enqueueMany(many(2));
    const operator = new Operator(QUEUE, { transport: rig.transport, now: () => rig.now, wake });
    await operator.pause({ for: "1m" });
    expect(woke()).toEqual([[QUEUE, MINUTE]]);
    await sweeping();
    expect(woke()).toEqual([]);
    rig.now += MINUTE;
    await sweeping();
    expect(woke()).toEqual([QUEUE]);
  });

  test("of a group at its instant too", async () => {
    asked = [];
    await rig.queue().enqueueMany(named(["a"], { group: "g" }));
    const operator = new Operator(QUEUE, { transport: rig.transport, now: () => rig.now, wake });
    await operator.configureGroup("g", { paused: { for: "1m" } });
    expect(woke()).toEqual([[QUEUE, MINUTE]]);
  });
});

describe("a group that is paused for a time", () => {
  test("waits until then, and its tasks are delivered by themselves, also above a hundred", async () => {
    const ids = Array.from({ length: 150 }, (_, i) => `a${i}`);
    await rig.queue().enqueueMany([...named(ids, { group: "a" }), ...named(["b"], { group: "b" })]);
    const pausedUntil = rig.now + MINUTE;
    const paused = { paused: true, pausedUntil };
    expect(await rig.operator().configureGroup("a", { paused: { for: "1m" } })).toMatchObject(paused);
    const found: string[] = [];
    for (let calls = 0; calls < 9; calls++) found.push(...(await deliver()).ids);
    expect(found).toEqual(["b"]);
    rig.now = pausedUntil - 1;
    expect(await deliver()).toMatchObject({ ids: [], nextDueAt: pausedUntil });
    expect(await rig.operator().groupSettings("a")).toMatchObject({ ...paused, limited: 150 });
    expect((await rig.operator().groups()).groups).toMatchObject([{ group: "a", ...paused }]);
    rig.now = pausedUntil;
    const running = { paused: false, pausedUntil: null };
    expect(await rig.operator().groupSettings("a")).toMatchObject(running);
    expect((await rig.operator().groups()).groups).toMatchObject([{ group: "a", ...running }]);
    const after: string[] = [];
    for (let calls = 0; calls < 4; calls++) after.push(...(await deliver()).ids);
    expect(after).toEqual(ids);
    expect([...(await rig.space()).tasks.keys()].filter((field) => field.startsWith("~s:"))).toEqual([]);
  });

  test("moves on by a sweep, if tasks came during the pause", async () => {
    await rig.operator().configureGroup("a", { paused: { for: "1s" }, weight: 2 });
    await rig.queue().enqueueMany(named(["a1", "a2"], { group: "a" }));
    expect((await rig.space()).limited.size).toBe(2);
    rig.now += 1_000;
    await rig.sweepOnce();
    expect((await rig.space()).limited.size).toBe(0);
    expect((await deliver()).ids).toEqual(["a1", "a2"]);
    expect(await rig.operator().groupSettings("a")).toMatchObject({ paused: false, weight: 2 });
  });

  test("follows its rate after the pause", async () => {
    await rig.operator().configureGroup("a", { paused: { for: "1s" }, rate: { most: 1, per: "1s" } });
    await rig.queue().enqueueMany(named(["a1", "a2"], { group: "a" }));
    expect((await deliver()).ids).toEqual([]);
    rig.now += 1_000;
    expect((await deliver()).ids).toEqual(["a1"]);
    expect((await deliver()).ids).toEqual([]);
  });

  test("can be resumed before, paused for another time, or until it is resumed", async () => {
    const change = (paused: boolean | null | { readonly for: string }) =>
      rig.operator().configureGroup("a", { paused: paused as never });
    await rig.queue().enqueueMany(named(["a1"], { group: "a" }));
    await change({ for: "1h" });
    expect((await deliver()).ids).toEqual([]);
    expect(await change({ for: "1s" })).toMatchObject({ pausedUntil: rig.now + 1_000 });
    expect(await deliver()).toMatchObject({ ids: [], nextDueAt: rig.now + 1_000 });
    expect(await change(true)).toMatchObject({ paused: true, pausedUntil: null });
    expect(await change({ for: "1s" })).toMatchObject({ paused: true, pausedUntil: null });
    expect(await change(null)).toMatchObject({ paused: false });
    expect((await deliver()).ids).toEqual(["a1"]);
  });

  test("is paused until an instant by a circuit, if it is not paused for longer", async () => {
    const queue = operatedOf(opening({ transport: rig.transport, now: () => rig.now })(QUEUE));
    const pause = (at: number) => configureGroup(queue, "a", [pauseUntil(at)], {}, configure);
    for (const [at, until] of [[2], [1, 2], [3]] as const) {
      const pausedUntil = rig.now + (until ?? at) * MINUTE;
      expect(await pause(rig.now + at * MINUTE)).toMatchObject({ paused: true, pausedUntil });
    }
    rig.now += 3 * MINUTE;
    expect(await pause(rig.now + 1)).toMatchObject({ pausedUntil: rig.now + 1 });
    await rig.operator().configureGroup("a", { paused: true });
    expect(await pause(rig.now + MINUTE)).toMatchObject({ paused: true, pausedUntil: null });
  });

  test("refuses a pause that is none", async () => {
    const change = (paused: unknown) => rig.operator().configureGroup("a", { paused: paused as never });
    await expect(change({ for: 0 })).rejects.toThrow(/^paused\.for must be/);
    await expect(change({ until: 1 })).rejects.toThrow(/^paused\.until/);
    await expect(change("yes")).rejects.toThrow(/^paused must be true or false/);
  });
});
