import { describe, expect, test } from "vitest";
import { useRig } from "../support/rig.ts";
import { named } from "../support/new-tasks.ts";
import { paging } from "../support/paging.ts";

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
    await queue.enqueueMany(named(["a", "b", "c", "d", "g"]));
    for (const id of ["a", "c", "g"]) await queue.cancel(id);
    expect(await pages({ state: "pending", size: 1 })).toEqual([["b"], ["d"]]);
    rig.now += 300_000;
    await rig.sweepOnce();
    await queue.enqueueMany(named(["a", "c"], { delay: 1 }));
    await queue.enqueue("anew", { id: "g", group: "g" });
    expect((await listed({ state: "pending" })).toSorted()).toEqual(["b", "d", "g"]);
    rig.now += 1;
    await rig.sweepOnce();
    expect((await listed({ state: "pending" })).toSorted()).toEqual(["a", "b", "c", "d", "g"]);
    expect(await listed({ state: "delayed" })).toEqual([]);
  });

  test("also with groups and priorities, and page by page; held tasks of a group come last", async () => {
    const queue = rig.queue();
    await rig.operator().configureGroup("capped", { maxWorking: 1 });
    await queue.enqueueMany([
      ...named(["l0", "l1", "l2", "l3", "l4", "l5"]),
      ...named(["a0", "a1", "a2", "a3"], { group: "a" }),
      ...named(["b0", "b1"], { group: "b;%" }),
      ...named(["p0", "p1"], { priority: 9 }),
      ...named(["c0", "c1", "c2"], { group: "capped" }),
    ]);
    await queue.dequeue({ max: 3 });
    const whole = await listed({ state: "pending" });
    expect(whole).toHaveLength(14);
    expect(whole.slice(-2)).toEqual(["c1", "c2"]);
    expect((await pages({ state: "pending", size: 2 })).flat()).toEqual(whole);
    // A held task has its turn as soon as the one before it is completed.
    const free = (await delivered()).filter((id) => !["c1", "c2"].includes(id));
    expect(free).toEqual(whole.slice(0, -2));
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
