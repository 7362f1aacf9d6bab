import { describe, expect, test } from "vitest";
import type { ListTasksOptions } from "../../src/index.ts";
import { bury } from "../support/dead-letters.ts";
import { named } from "../support/new-tasks.ts";
import { paging } from "../support/paging.ts";
import { useRig } from "../support/rig.ts";

const rig = useRig();
const { pages, listed } = paging(rig);

describe("a list is read backwards", () => {
  /** Expects that each size of page returns the list in its reverse. */
  async function expectReversed(options: ListTasksOptions): Promise<string[]> {
    const forward = await listed(options);
    for (const size of [1, 2, 100]) {
      const found = await pages({ ...options, size, reverse: true });
      expect(found.flat(), `size ${size}`).toEqual(forward.toReversed());
      expect(found.every((page) => page.length <= size)).toBe(true);
    }
    return forward.toReversed();
  }

  test("in each state, also if tasks have equal times", async () => {
    const queue = rig.queue();
    await bury(queue, named(["d1", "d2"]));
    rig.now += 10;
    await bury(queue, named(["d0"]));
    await queue.enqueueMany(named(["c1", "c2"]));
    for (const task of await queue.dequeue({ max: 2 })) await task.complete();
    await queue.enqueueMany(named(["w1"], { lease: "2m" }));
    await queue.enqueueMany(named(["w2"], { lease: "1m" }));
    await queue.dequeue({ max: 2 });
    await queue.enqueueMany([...named(["y1"], { delay: "2m" }), ...named(["y2"], { delay: "1m" })]);
    expect(await expectReversed({ state: "rejected" })).toEqual(["d0", "d2", "d1"]);
    expect(await expectReversed({ state: "completed" })).toEqual(["c2", "c1"]);
    expect(await expectReversed({ state: "working" })).toEqual(["w1", "w2"]);
    expect(await expectReversed({ state: "delayed" })).toEqual(["y1", "y2"]);
    expect(await expectReversed({ state: "pending" })).toEqual([]);
  });

  test("of pending tasks also with groups, priorities and limits", async () => {
    const queue = rig.queue();
    await queue.enqueueMany(named(["l0", "l1", "l2", "l3", "l4", "l5"]));
    expect(await expectReversed({ state: "pending" })).toEqual(["l5", "l4", "l3", "l2", "l1", "l0"]);
    await rig.operator().configureGroup("capped", { maxWorking: 1 });
    await queue.enqueueMany([
      ...named(["a0", "a1", "a2", "a3"], { group: "a" }),
      ...named(["p0", "p1"], { priority: 9 }),
      ...named(["c0", "c1", "c2", "c3"], { group: "capped" }),
    ]);
    expect((await expectReversed({ state: "pending" })).slice(0, 3)).toEqual(["c3", "c2", "c1"]);
    await queue.dequeue({ max: 5 });
    await expectReversed({ state: "pending" });
  });

  test("with a filter, whose times bound it", async () => {
    const queue = rig.queue();
    for (const id of ["d0", "d1", "d2", "d3"]) {
      await bury(queue, [{ id, payload: id === "d2" ? "other" : "503", group: "g" }]);
      rig.now += 10;
    }
    const [endedSince, endedUntil] = [rig.now - 30, rig.now - 10];
    expect(await expectReversed({ state: "rejected", text: "503" })).toEqual(["d3", "d1", "d0"]);
    expect(await expectReversed({ state: "rejected", endedSince, endedUntil })).toEqual(["d2", "d1"]);
  });

  test("of partitions as if they were one queue", async () => {
    await rig.operator().resize(3);
    const queue = rig.queue({ partitions: 3 });
    for (let i = 0; i < 12; i++) {
      await bury(queue, [{ id: `d${i}`, payload: i < 6 ? "early" : "late" }]);
      rig.now += 1;
    }
    const newest = Array.from({ length: 12 }, (_, i) => `d${11 - i}`);
    for (const size of [1, 5, 100]) {
      expect((await pages({ state: "rejected", reverse: true, size })).flat()).toEqual(newest);
    }
    const early = await pages({ state: "rejected", reverse: true, size: 2, text: "early" });
    expect(early.flat()).toEqual(newest.slice(6));
  });

  test("of completed tasks and cancelled ones past thousands of dead letters, which are kept for longer", async () => {
    const queue = rig.queue();
    await queue.enqueueMany([...named(["c0", "c1", "c2"]), { payload: 1, id: "long", resultTtl: "30d" }]);
    for (const task of await queue.dequeue({ max: 4 })) await task.complete("well done");
    await queue.enqueue(1, { id: "gone", delay: "1h" });
    await queue.cancel("gone");
    const buryThousands = async (thousands: readonly number[]) => {
      for (const thousand of thousands) {
        const ids = Array.from({ length: 1_000 }, (_, i) => `d${1_000 * thousand + i}`);
        await bury(queue, named(ids));
      }
    };
    await buryThousands([1, 2]);
    for (const options of [{ state: "completed" }, { state: "completed", text: "well" }] as const) {
      expect(await listed(options)).toEqual(["c0", "c1", "c2", "long"]);
      expect(await pages({ ...options, reverse: true })).toEqual([["long", "c2", "c1", "c0"]]);
      expect((await pages({ ...options, reverse: true, size: 2 })).slice(0, 2)).toEqual([
        ["long", "c2"],
        ["c1", "c0"],
      ]);
    }
    // More than one call passes over.
    await buryThousands([3, 4, 5, 6, 7, 8, 9]);
    expect(await pages({ state: "completed", reverse: true })).toEqual([["long"], ["c2", "c1", "c0"]]);
    expect(await pages({ state: "rejected", reason: "cancelled", reverse: true })).toEqual([["gone"]]);
  });

  test("as far as a call looks, and on from there", async () => {
    const queue = rig.queue();
    await bury(queue, [{ id: "old", payload: "needle" }]);
    rig.now += 1;
    await bury(
      queue,
      Array.from({ length: 1_500 }, (_, i) => ({ id: `d${i}`, payload: "hay" })),
    );
    const found = await pages({ state: "rejected", reverse: true, text: "needle" });
    expect(found).toEqual([[], ["old"]]);
  });
});
