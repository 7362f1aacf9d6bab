import { describe, expect, test } from "vitest";
import { useRig } from "../../support/rig.ts";
import { named } from "../../support/new-tasks.ts";
import { paging } from "../../support/paging.ts";

const rig = useRig();
const { pages, listed } = paging(rig);

describe("pending tasks are listed in the order of delivery", () => {
  /** The ids that dequeue delivers, one by one. */
  async function delivered(): Promise<string[]> {
    const ids: string[] = [];
    for (;;) {
      const [task] = await rig.queue().dequeue();
      if (!task) return ids;
      ids.push(task.id);
      await task.complete();
    }
  }

  test("without cancelled tasks, and each task once, also if its own ghost is in the list", async () => {
    const queue = rig.queue();
    await queue.enqueueMany(named(["a", "b", "c", "d"]));
    await queue.cancel("a");
    await queue.cancel("c");
    expect(await pages({ state: "pending", size: 1 })).toEqual([["b"], ["d"]]);
    rig.now += 300_000;
    await rig.sweepOnce();
    await queue.enqueueMany(named(["a", "c"], { delay: 1 }));
    expect(await listed({ state: "pending" })).toEqual(["b", "d"]);
    rig.now += 1;
    await rig.sweepOnce();
    expect((await listed({ state: "pending" })).toSorted()).toEqual(["a", "b", "c", "d"]);
    expect(await listed({ state: "delayed" })).toEqual([]);
  });

  test("a page is full although more entries than it has tasks come before", async () => {
    const queue = rig.queue();
    await queue.enqueueMany(named(["a", "b", "c", "d", "e", "f"]));
    for (const id of ["a", "b", "c", "d"]) await queue.cancel(id);
    expect(await pages({ state: "pending", size: 2 })).toEqual([["e", "f"]]);
  });

  test("a grouped task behind its own ghost is listed once", async () => {
    const queue = rig.queue();
    await queue.enqueueMany(named(["a", "b"]));
    await queue.cancel("a");
    rig.now += 300_000;
    await rig.sweepOnce();
    await queue.enqueue("anew", { id: "a", group: "g" });
    expect((await listed({ state: "pending" })).toSorted()).toEqual(["a", "b"]);
  });

  test("also with groups and priorities, and page by page", async () => {
    const queue = rig.queue();
    await queue.enqueueMany([
      ...named(["l0", "l1", "l2", "l3", "l4", "l5"]),
      ...named(["a0", "a1", "a2", "a3"], { group: "a" }),
      ...named(["b0", "b1"], { group: "b;%" }),
      ...named(["p0", "p1"], { priority: 9 }),
    ]);
    await queue.dequeue({ max: 3 });
    const whole = await listed({ state: "pending" });
    expect(whole).toHaveLength(11);
    expect((await pages({ state: "pending", size: 2 })).flat()).toEqual(whole);
    expect(await delivered()).toEqual(whole);
  });

  test("held tasks of a group come last", async () => {
    await rig.operator().configureGroup("capped", { maxWorking: 1 });
    await rig
      .queue()
      .enqueueMany([
        ...named(["c0", "c1", "c2"], { group: "capped" }),
        ...named(["f0"], { group: "free" }),
        ...named(["l0"]),
      ]);
    const found = await pages({ state: "pending", size: 1 });
    expect(found.flat().slice(0, 3).toSorted()).toEqual(["c0", "f0", "l0"]);
    expect(found.flat().slice(3)).toEqual(["c1", "c2"]);
    expect(await delivered()).toEqual(found.flat());
  });

  test("peek returns the next tasks with their payloads and leases none", async () => {
    const queue = rig.queue();
    await queue.enqueueMany([
      ...named(["a", "b", "c"]),
      { id: "urgent", payload: { at: "once" }, priority: 5 },
    ]);
    const before = await rig.keySpace();
    expect((await rig.operator().peek({ max: 2 })).map(({ id, payload }) => [id, payload])).toEqual([
      ["urgent", { at: "once" }],
      ["a", "a"],
    ]);
    expect(await rig.operator().peek()).toHaveLength(4);
    expect(await rig.keySpace()).toEqual(before);
  });
});
