import { describe, expect, test } from "vitest";
import { ghostsOf } from "../support/key-space.ts";
import { START, useRig } from "../support/rig.ts";
import { named, sortedIds } from "../support/new-tasks.ts";
import { purging, sum, WINDOW } from "../support/purging.ts";
import { bury } from "../support/dead-letters.ts";

const rig = useRig();
const { enqueue, calls, nothingLeft } = purging(rig);

describe("a purge of pending tasks", () => {
  test("cancels them in bounded calls, also with ghosts among them, and leaves tombstones and no ghosts (I1)", async () => {
    const ids = sortedIds(2_500);
    const queue = rig.queue();
    await enqueue(named(ids));
    const cancelled = ids.filter((_, i) => i % 50 === 0);
    await Promise.all(cancelled.map((id) => queue.cancel(id)));
    const counts = await calls({ state: "pending" });
    expect(sum(counts)).toBe(2_450);
    expect(Math.max(...counts)).toBeLessThanOrEqual(160);
    expect(counts.length).toBeLessThanOrEqual(17);
    expect(ghostsOf(await rig.space())).toBe(0);
    const purged = { state: "rejected", reason: "cancelled", endedAt: START };
    expect(await queue.get("t0001")).toMatchObject(purged);
    expect((await queue.enqueue("again", { id: "t0001" })).created).toBe(false);
    await nothingLeft();
    expect((await queue.enqueue("anew", { id: "t0000" })).created).toBe(true);
  });

  test("drops a list of ghosts in bounded calls too", async () => {
    await enqueue(named(sortedIds(1_500)));
    await Promise.all(sortedIds(1_500).map((id) => rig.queue().cancel(id)));
    const first = await rig.operator().purge({ state: "pending", budget: 0, limit: 500 });
    const left = (await rig.space()).pending.length;
    expect([first.purged, first.cursor === null, left]).toEqual([0, false, 1_340]);
    expect(await rig.operator().purge({ state: "pending" })).toMatchObject({ purged: 0, cursor: null });
    expect((await rig.space()).pending).toEqual([]);
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
    expect(sum(await calls({ state: "pending" }))).toBe(403);
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
});

test("a purge of delayed tasks can be filtered, in bounded calls, and keeps timers", async () => {
  await enqueue(named(sortedIds(1_200), { delay: "1m" }));
  await rig.queue().heartbeat({ name: "w", silentAfter: "1h" });
  rig.now += 1;
  await enqueue([...named(["new"], { delay: "1m" }), ...named(["grouped"], { delay: "1m", group: "g" })]);
  const counts = await calls({ state: "delayed", enqueuedUntil: START + 1 });
  expect(counts).toEqual([...Array.from({ length: 7 }, () => 160), 80]);
  expect([...(await rig.space()).delayed.keys()]).toEqual(["new", "grouped", "~w"]);
  expect(await rig.operator().purge({ state: "delayed" })).toMatchObject({ purged: 2, cursor: null });
  expect([...(await rig.space()).delayed.keys()]).toEqual(["~w"]);
});

describe("a purge of ended tasks", () => {
  test("removes completed tasks in bounded calls, and no other record", async () => {
    const queue = rig.queue();
    await bury(queue, named(["dead"]));
    await enqueue(named(sortedIds(1_000)));
    const batch = await queue.dequeue({ max: 1_000 });
    await queue.settle(batch.map(({ receipt }) => ({ receipt, outcome: "complete" as const, result: 1 })));
    rig.now += WINDOW;
    const counts = await calls({ state: "completed" });
    expect([sum(counts), Math.max(...counts) <= 160]).toEqual([1_000, true]);
    const { tasks, expiry } = await rig.space();
    const fields = [...tasks.keys()].filter((field) => !field.startsWith("~"));
    expect([fields, [...expiry.keys()]]).toEqual([[".dead", "dead"], ["dead"]]);
  });

  test("removes dead letters in bounded calls, or in one call that continues by itself", async () => {
    for (const purge of [
      async () => expect(await calls({ state: "rejected", limit: 300 })).toEqual([...Array(6).fill(160), 40]),
      async () =>
        expect(await rig.operator().purge({ state: "rejected" })).toMatchObject({
          purged: 1_000,
          cursor: null,
        }),
    ]) {
      await bury(rig.queue(), named(sortedIds(1_000)));
      rig.now += WINDOW;
      await purge();
      await nothingLeft();
    }
  });
});
