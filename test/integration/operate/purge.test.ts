import { describe, expect, test } from "vitest";
import { ghostsOf } from "../../support/key-space.ts";
import { START, useRig } from "../../support/rig.ts";
import { named, sortedIds } from "../../support/new-tasks.ts";
import { purging, WINDOW } from "../../support/purging.ts";

const rig = useRig();
const { enqueue, calls, nothingLeft } = purging(rig);

describe("a purge of pending tasks", () => {
  test("cancels all of them, and leaves tombstones and no ghosts (I1)", async () => {
    const queue = rig.queue();
    await queue.enqueueMany(named(["a", "b", "c"]));
    await queue.cancel("b");
    await queue.enqueue("w", { id: "d", delay: "1h" });
    expect(await rig.operator().purge({ state: "pending" })).toEqual({
      purged: 2,
      cursor: null,
      unreadable: 0,
    });
    const space = await rig.space();
    expect([space.pending, space.delayed.size, space.dead.size, ghostsOf(space)]).toEqual([[], 1, 0, 0]);
    expect(await queue.get("a")).toMatchObject({ state: "rejected", reason: "cancelled", endedAt: START });
    expect((await queue.enqueue("again", { id: "a" })).created).toBe(false);
    rig.now += WINDOW;
    await rig.sweepOnce();
    expect((await queue.enqueue("anew", { id: "b" })).created).toBe(true);
    expect((await queue.dequeue({ max: 5 })).map(({ payload }) => payload)).toEqual(["anew"]);
  });

  test("runs in bounded calls, also with ghosts among them", async () => {
    await enqueue(named(sortedIds(2_500)));
    for (const id of sortedIds(2_500).filter((_, i) => i % 50 === 0)) await rig.queue().cancel(id);
    const counts = await calls({ state: "pending" });
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(2_450);
    expect(Math.max(...counts)).toBeLessThanOrEqual(160);
    expect(counts.length).toBeLessThanOrEqual(17);
    expect(ghostsOf(await rig.space())).toBe(0);
    await nothingLeft();
  });

  test("drops a list of ghosts in bounded calls too", async () => {
    await enqueue(named(sortedIds(1_500)));
    for (const id of sortedIds(1_500)) await rig.queue().cancel(id);
    const first = await rig.operator().purge({ state: "pending", budget: 0, limit: 500 });
    expect([first.purged, first.cursor === null, (await rig.space()).pending.length]).toEqual([
      0,
      false,
      1_340,
    ]);
    expect(await rig.operator().purge({ state: "pending" })).toMatchObject({ purged: 0, cursor: null });
    expect((await rig.space()).pending).toEqual([]);
  });

  test("with a limit keeps the others in their order", async () => {
    await enqueue(named(sortedIds(10)));
    const first = await rig.operator().purge({ state: "pending", limit: 4 });
    expect([first.purged, first.cursor === null]).toEqual([4, false]);
    expect((await rig.space()).pending.toReversed()).toEqual(sortedIds(10).slice(4));
  });

  test("removes a task together with its own ghost", async () => {
    const queue = rig.queue();
    await queue.enqueueMany(named(["a", "b"]));
    await queue.cancel("a");
    rig.now += WINDOW;
    await rig.sweepOnce();
    await queue.enqueue("anew", { id: "a", delay: 1 });
    rig.now += 1;
    await rig.sweepOnce();
    expect((await rig.space()).pending).toEqual(["a", "b", "a"]);
    expect(await rig.operator().purge({ state: "pending" })).toMatchObject({ purged: 2 });
    expect(await queue.get("a")).toMatchObject({ state: "rejected", reason: "cancelled" });
    await nothingLeft();
  });

  test("that finds a ghost of a delayed task keeps the delayed task", async () => {
    const queue = rig.queue();
    await queue.enqueue("old", { id: "a" });
    await queue.cancel("a");
    rig.now += WINDOW;
    await rig.sweepOnce();
    await queue.enqueue("anew", { id: "a", delay: "1m" });
    expect(await rig.operator().purge({ state: "pending" })).toMatchObject({ purged: 0, cursor: null });
    rig.now += 60_000;
    expect((await queue.dequeue({ max: 5 })).map(({ payload }) => payload)).toEqual(["anew"]);
  });

  test("of groups refunds their tasks, also held ones, so that the groups begin as new", async () => {
    const queue = rig.queue({ resultTtl: 0 });
    await rig.operator().configureGroup("capped", { maxWorking: 2 });
    await queue.enqueueMany([
      ...named(sortedIds(400), { group: "capped" }),
      ...named(["f1", "f2"], { group: "free", priority: 4 }),
      ...named(["l1", "l2"]),
    ]);
    const [working] = await queue.dequeue();
    const counts = await calls({ state: "pending" });
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(403);
    await working?.complete();
    await nothingLeft();
    await queue.enqueueMany([
      ...named(["c1", "c2", "c3"], { group: "capped" }),
      ...named(["n1", "n2"], { group: "new" }),
      ...named(["m1", "m2"]),
    ]);
    const order = (await queue.dequeue({ max: 6 })).map(({ id }) => id);
    expect(order.slice(0, 3).toSorted()).toEqual(["c1", "m1", "n1"]);
    expect(order.slice(3).toSorted()).toEqual(["c2", "m2", "n2"]);
  });

  test("of the list gives later plain tasks no advantage over groups, and no disadvantage", async () => {
    const queue = rig.queue();
    await queue.enqueueMany([...named(["l1", "l2", "l3"]), ...named(sortedIds(30), { group: "g" })]);
    await queue.dequeue({ max: 4 });
    expect((await rig.space()).pending).toEqual(["l3"]);
    expect(await rig.operator().purge({ state: "pending", limit: 30 })).toMatchObject({ purged: 29 });
    await queue.enqueueMany(named(["h1", "h2", "h3", "h4"], { group: "h" }));
    await queue.enqueueMany(named(["k1", "k2", "k3", "k4"]));
    const order = (await queue.dequeue({ max: 4 })).map(({ id }) => id.slice(0, 1));
    expect(order.toSorted()).toEqual(["h", "h", "k", "k"]);
  });

  test("by a filter removes the tasks of one group, and of no other", async () => {
    const queue = rig.queue();
    await queue.enqueueMany([
      ...named(["a1", "a2", "a3"], { group: "a" }),
      ...named(["b1", "b2"], { group: "b" }),
      ...named(["l1"]),
    ]);
    expect(await rig.operator().purge({ state: "pending", group: "a" })).toMatchObject({
      purged: 3,
      cursor: null,
    });
    expect((await queue.dequeue({ max: 9 })).map(({ id }) => id).toSorted()).toEqual(["b1", "b2", "l1"]);
  });

  test("beside consumers delivers or cancels each task once", async () => {
    const queue = rig.queue();
    await enqueue(named(sortedIds(2_000)));
    const delivered: string[] = [];
    const consume = async () => {
      for (let i = 0; i < 20; i++) {
        const batch = await queue.dequeue({ max: 20 });
        delivered.push(...batch.map(({ id }) => id));
        await queue.settle(batch.map(({ receipt }) => ({ receipt, outcome: "complete" as const })));
      }
    };
    const purge = async () => (await rig.operator().purge({ state: "pending" })).purged;
    const [, one, two] = await Promise.all([consume(), purge(), purge()]);
    expect(delivered.length + one + two).toBe(2_000);
    expect(new Set(delivered).size).toBe(delivered.length);
  });
});

describe("a purge of delayed tasks", () => {
  test("cancels them, and keeps timers", async () => {
    const queue = rig.queue();
    await queue.enqueueMany([
      ...named(["a", "b"], { delay: "1m" }),
      ...named(["c"], { delay: "1m", group: "g" }),
      ...named(["p"]),
    ]);
    await queue.heartbeat({ name: "w", silentAfter: "1h" });
    expect(await rig.operator().purge({ state: "delayed" })).toMatchObject({ purged: 3, cursor: null });
    const space = await rig.space();
    expect([[...space.delayed.keys()], space.pending]).toEqual([["~w"], ["p"]]);
    expect(await queue.get("c")).toMatchObject({ state: "rejected", reason: "cancelled" });
  });

  test("can be filtered, in bounded calls", async () => {
    await enqueue(named(sortedIds(1_200), { delay: "1m" }));
    rig.now += 1;
    await enqueue(named(["new"], { delay: "1m" }));
    expect(await calls({ state: "delayed", enqueuedUntil: START + 1 })).toEqual([
      ...Array.from({ length: 7 }, () => 160),
      80,
    ]);
    expect([...(await rig.space()).delayed.keys()]).toEqual(["new"]);
  });
});
