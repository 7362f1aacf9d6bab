import { describe, expect, test } from "vitest";
import { bury } from "../../support/dead-letters.ts";
import { useRig } from "../../support/rig.ts";
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
});
