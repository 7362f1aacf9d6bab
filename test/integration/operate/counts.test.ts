import { describe, expect, test } from "vitest";
import { named, numbered } from "../../support/new-tasks.ts";
import { QUEUE, START, useRig } from "../../support/rig.ts";

const rig = useRig();

describe("counts", () => {
  test("report how many tasks are in each state, the age of the next, and the next due time", async () => {
    const queue = rig.queue();
    const none = {
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
    };
    expect(await queue.counts()).toEqual(none);
    expect(await rig.keySpace()).toEqual({});
    await queue.enqueueMany(named(["a", "b", "c"]));
    await queue.enqueue("d", { delay: "1m" });
    rig.now += 5_000;
    const [a] = await queue.dequeue({ lease: "10s" });
    await a?.reject();
    await queue.dequeue({ lease: "10s" });
    const [pending, delayed, working, rejected] = [1, 1, 1, 1];
    const found = { pending, delayed, working, rejected, oldestAge: 5_000, nextDueAt: START + 15_000 };
    expect(await queue.counts()).toEqual({ ...none, ...found });
  });

  test.for([2, 250, 1_000])("skip %i cancelled tasks to find the oldest", async (cancelled) => {
    const queue = rig.queue();
    await queue.enqueueMany(numbered(cancelled));
    rig.now += 1_000;
    await queue.enqueue("next", { id: "next" });
    rig.now += 1_000;
    await queue.enqueue("last");
    const ids = numbered(cancelled).map(({ id }) => id);
    await Promise.all(ids.map((id) => queue.cancel(id)));
    const expected = cancelled < 1_000 ? 1_000 : 2_000;
    // Behind a thousand ghosts the age is only a bound: the age of the last ghost.
    expect(await queue.counts()).toMatchObject({ pending: 2, oldestAge: expected });
    await Promise.all(["next", ...ids].map((id) => queue.cancel(id)));
    expect(await queue.counts()).toMatchObject({ pending: 1, oldestAge: cancelled < 1_000 ? 0 : 2_000 });
  });

  test.for([
    ["a priority", { priority: 9 }, {}],
    ["a group", { group: "g" }, {}],
    ["neither, behind a higher priority", {}, { priority: 9 }],
  ] as const)(
    "report the greatest age of the next tasks of each kind: of one with %s",
    async ([, old, fresh]) => {
      const queue = rig.queue();
      await queue.enqueue("old", old);
      rig.now += 3_600_000;
      expect(await queue.counts()).toMatchObject({ pending: 1, oldestAge: 3_600_000 });
      await queue.enqueue("fresh", fresh);
      expect(await queue.counts()).toMatchObject({ pending: 2, oldestAge: 3_600_000 });
    },
  );

  test("leave out held tasks of a group only while other tasks wait", async () => {
    const queue = rig.queue();
    await rig.operator().configureGroup("g", { maxWorking: 1 });
    await queue.enqueueMany(numbered(2, { group: "g" }));
    await queue.dequeue();
    await queue.dequeue();
    rig.now += 60_000;
    expect(await queue.counts()).toMatchObject({ pending: 1, working: 1, oldestAge: 60_000 });
    await queue.enqueue("free");
    rig.now += 1_000;
    expect(await queue.counts()).toMatchObject({ pending: 2, oldestAge: 1_000 });
    await queue.dequeue();
    expect(await queue.counts()).toMatchObject({ pending: 1, oldestAge: 61_000 });
  });
});
