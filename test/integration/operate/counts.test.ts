import { describe, expect, test } from "vitest";
import { QUEUE, START, useRig } from "../../support/rig.ts";

const rig = useRig();

describe("counts", () => {
  test("of an unknown queue are all zero", async () => {
    expect(await rig.queue().counts()).toEqual({
      queue: QUEUE,
      pending: 0,
      delayed: 0,
      working: 0,
      rejected: 0,
      oldestAge: null,
      nextDueAt: null,
      broken: 0,
      workers: 0,
      paused: false,
    });
    expect(await rig.keySpace()).toEqual({});
  });

  test("report how many tasks are in each state, the age of the next, and the next due time", async () => {
    const queue = rig.queue();
    await queue.enqueueMany(["a", "b", "c"].map((id) => ({ id, payload: id })));
    await queue.enqueue("d", { delay: "1m" });
    rig.now += 5_000;
    const [a] = await queue.dequeue({ lease: "10s" });
    await a?.reject();
    await queue.dequeue({ lease: "10s" });
    expect(await queue.counts()).toEqual({
      queue: QUEUE,
      pending: 1,
      delayed: 1,
      working: 1,
      rejected: 1,
      oldestAge: 5_000,
      nextDueAt: START + 15_000,
      broken: 0,
      workers: 0,
      paused: false,
    });
  });

  test("report the age of the next task also if only groups wait", async () => {
    const queue = rig.queue();
    await queue.enqueue(1, { group: "g" });
    rig.now += 5_000;
    expect(await queue.counts()).toMatchObject({ pending: 1, oldestAge: 5_000 });
  });

  test("report the age of the oldest task, also with many newer ones", async () => {
    const queue = rig.queue();
    for (let i = 0; i < 12; i++) {
      await queue.enqueue(i);
      rig.now += 1_000;
    }
    expect(await queue.counts()).toMatchObject({ pending: 12, oldestAge: 12_000 });
    await queue.dequeue();
    expect(await queue.counts()).toMatchObject({ pending: 11, oldestAge: 11_000 });
  });

  test.for([2, 10, 250, 1_000])("skip %i cancelled tasks to find the oldest", async (cancelled) => {
    const queue = rig.queue();
    const ids = Array.from({ length: cancelled }, (_, i) => `t${i}`);
    await queue.enqueueMany(ids.map((id) => ({ id, payload: id })));
    rig.now += 1_000;
    await queue.enqueue("next", { id: "next" });
    rig.now += 1_000;
    await queue.enqueue("last");
    await Promise.all(ids.map((id) => queue.cancel(id)));
    const expected = cancelled < 1_000 ? 1_000 : 2_000;
    // Behind a thousand ghosts the age is only a bound: the age of the last ghost.
    expect(await queue.counts()).toMatchObject({ pending: 2, oldestAge: expected });
    await Promise.all(["next", ...ids].map((id) => queue.cancel(id)));
    expect(await queue.counts()).toMatchObject({ pending: 1, oldestAge: cancelled < 1_000 ? 0 : 2_000 });
  });

  test("report the age of a task that replaced the ghost of its id", async () => {
    const queue = rig.queue();
    await queue.enqueue(1, { id: "a" });
    await queue.enqueue(2, { id: "b" });
    await queue.cancel("a");
    rig.now += 400_000;
    await rig.sweepOnce();
    await queue.enqueue(3, { id: "a" });
    rig.now += 1_000;
    expect(await queue.counts()).toMatchObject({ pending: 2, oldestAge: 1_000 });
  });

  test("do not take a ghost for the current task of its id", async () => {
    const queue = rig.queue();
    await queue.enqueueMany(["x", "y"].map((id) => ({ id, payload: id })));
    await queue.cancel("x");
    rig.now += 60_000;
    await queue.enqueue("x", { id: "x", again: true, delay: "1h" });
    expect(await queue.counts()).toMatchObject({ pending: 1, delayed: 1, oldestAge: 60_000 });
  });

  test.for([{ priority: 9 }, { group: "g" }])(
    "report the greater age of the next plain task and the next with %o",
    async (options) => {
      const queue = rig.queue();
      await queue.enqueue("old", options);
      rig.now += 3_600_000;
      await queue.enqueue("fresh");
      expect(await queue.counts()).toMatchObject({ pending: 2, oldestAge: 3_600_000 });
    },
  );

  test("report the age of a plain task behind one of higher priority", async () => {
    const queue = rig.queue();
    await queue.enqueue("old");
    rig.now += 60_000;
    await queue.enqueue("fresh", { priority: 9 });
    expect(await queue.counts()).toMatchObject({ pending: 2, oldestAge: 60_000 });
  });

  test("leave out held tasks of a group while other tasks wait", async () => {
    const queue = rig.queue();
    await rig.operator().configureGroup("g", { maxWorking: 1 });
    await queue.enqueueMany([1, 2].map((payload) => ({ payload, group: "g" })));
    await queue.dequeue();
    await queue.dequeue();
    rig.now += 60_000;
    await queue.enqueue("free");
    rig.now += 1_000;
    expect(await queue.counts()).toMatchObject({ pending: 2, oldestAge: 1_000 });
    await queue.dequeue();
    expect(await queue.counts()).toMatchObject({ pending: 1, oldestAge: 61_000 });
  });

  test("report the age of the next task also if its group's limit holds all tasks", async () => {
    const queue = rig.queue();
    await rig.operator().configureGroup("g", { maxWorking: 1 });
    await queue.enqueueMany([1, 2].map((payload) => ({ payload, group: "g" })));
    await queue.dequeue();
    await queue.dequeue();
    rig.now += 1_000;
    expect(await queue.counts()).toMatchObject({ pending: 1, working: 1, oldestAge: 1_000 });
  });
});

describe("a clock that jumps back (law 4)", () => {
  test("makes no age negative", async () => {
    const queue = rig.queue();
    await queue.enqueue(1);
    rig.now -= 60_000;
    expect((await queue.counts()).oldestAge).toBe(0);
  });

  test("keeps the transitions of a task readable", async () => {
    const queue = rig.queue();
    await queue.enqueue(1, { id: "a" });
    rig.now -= 5_000;
    await (await queue.dequeue())[0]?.requeue();
    rig.now = START + 10;
    await queue.dequeue();
    expect((await queue.get("a"))?.transitions).toEqual([
      { version: 2, to: "working", at: START },
      { version: 3, to: "pending", at: START },
      { version: 4, to: "working", at: START + 10 },
    ]);
  });

  test("lengthens leases and delays, and loses and reorders nothing", async () => {
    const queue = rig.queue();
    await queue.enqueue("held", { id: "held" });
    await queue.enqueue("due", { id: "due", delay: 1_000 });
    const [held] = await queue.dequeue({ lease: 1_000 });
    rig.now -= 60_000;
    await queue.enqueueMany(["x", "y"].map((id) => ({ id, payload: id })));
    expect((await queue.dequeue({ max: 10 })).map(({ id }) => id)).toEqual(["x", "y"]);
    expect(await rig.sweepOnce()).toEqual(["ok", 0, 0, 0, 0, 0, 0, 0]);
    expect(await held?.complete()).toMatchObject({ ok: true });
    rig.now += 61_000;
    expect((await queue.dequeue({ max: 10 })).map(({ id }) => id)).toEqual(["due"]);
  });
});
