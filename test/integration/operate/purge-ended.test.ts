import { describe, expect, test } from "vitest";
import { bury } from "../../support/dead-letters.ts";
import { START, useRig } from "../../support/rig.ts";
import { named, sortedIds } from "../../support/new-tasks.ts";
import { purging, sum, WINDOW } from "../../support/purging.ts";

const rig = useRig();
const { enqueue, calls, nothingLeft } = purging(rig);

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

  test("filters by error text, group, reason and time", async () => {
    const purge = async (filter: object) => {
      await rig.command("FLUSHALL");
      rig.now = START;
      await bury(rig.queue(), [
        { id: "a", payload: "timeout %d" },
        { id: "b", payload: "declined", group: "g" },
      ]);
      rig.now += 1_000;
      await bury(rig.queue(), [{ id: "c", payload: "timeout" }]);
      const { purged } = await rig.operator().purge({ state: "rejected", ...filter });
      const left = [...(await rig.space()).dead.keys()];
      expect(left).toHaveLength(3 - purged);
      return left;
    };
    expect(await purge({ text: "timeout" })).toEqual(["b"]);
    expect(await purge({ text: "%d" })).toEqual(["b", "c"]);
    expect(await purge({ text: "%w+" })).toEqual(["a", "b", "c"]);
    expect(await purge({ group: "g" })).toEqual(["a", "c"]);
    expect(await purge({ endedUntil: START + 1 })).toEqual(["c"]);
    expect(await purge({ endedSince: START + 1 })).toEqual(["a", "b"]);
    expect(await purge({ reason: "lease_expired" })).toEqual(["a", "b", "c"]);
  });

  test("by two callers at once removes each task once, and a copy of a call finds nothing left", async () => {
    await rig.operator().configure({ statistics: true });
    await bury(rig.queue(), named(sortedIds(1_000)));
    const done = await Promise.all([1, 2].map(() => rig.operator().purge({ state: "rejected" })));
    expect(sum(done.map(({ purged }) => purged))).toBe(1_000);
    expect((await rig.space()).tasks.get("~stats")).toContain(";deleted=1000");
    expect(await rig.operator().purge({ state: "rejected" })).toMatchObject({ purged: 0 });
  });

  test("is not needed for ended tasks to expire: finished tasks do not pile up", async () => {
    const queue = rig.queue({ resultTtl: 0, deadTtl: "10m" });
    await queue.enqueueMany(named(sortedIds(600)));
    const batch = await queue.dequeue({ max: 600 });
    const outcomes = ["complete", "reject"] as const;
    await queue.settle(batch.map(({ receipt }, i) => ({ receipt, outcome: outcomes[i % 2]! })));
    rig.now += 600_000;
    await nothingLeft();
  });
});
