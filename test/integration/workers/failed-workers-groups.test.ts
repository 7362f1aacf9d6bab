import { expect, test } from "vitest";
import type { LeasedTask } from "../../../src/index.ts";
import { numbered } from "../../support/new-tasks.ts";
import { key, useRig } from "../../support/rig.ts";

const rig = useRig();
const idsOf = (tasks: readonly LeasedTask[]) => tasks.map(({ id }) => id);
const one = { name: "one", incarnation: "a" };
const two = { name: "two", incarnation: "a" };

test("tasks of a failed worker return to the front; grouped and prioritised ones return behind the others of their group", async () => {
  const queue = rig.queue();
  const named = (name: string, options = {}) =>
    ["1", "2", "3"].map((digit) => ({ id: name + digit, payload: 0, ...options }));
  const orderOf = async (of: string) => {
    const ids: string[] = [];
    // One by one: tasks that failed once travel in smaller batches.
    for (let tasks = await queue.dequeue(); tasks.length > 0; tasks = await queue.dequeue()) {
      ids.push(...idsOf(tasks));
    }
    return ids.filter((id) => id.startsWith(of));
  };
  for (const [name, options, order] of [
    ["plain", {}, ["plain1", "plain2", "plain3"]],
    ["group", { group: "g" }, ["group3", "group1", "group2"]],
    ["prior", { priority: 5 }, ["prior3", "prior1", "prior2"]],
  ] as const) {
    await queue.enqueueMany(named(name, options));
    await queue.dequeue({ max: 2, worker: one });
    expect(await rig.operator().failWorker("one")).toMatchObject({ returned: 2 });
    expect(await orderOf(name)).toEqual(order);
    await rig.operator().deleteQueue({ force: true });
  }
  // A task handed back unstarted keeps its place.
  await queue.enqueueMany(named("group", { group: "g" }));
  for (const task of await queue.dequeue({ max: 2 })) await task.requeue({ unstarted: true });
  expect(await orderOf("group")).toEqual(["group1", "group2", "group3"]);
});

test("tasks of groups return to their groups, and limits hold", async () => {
  const queue = rig.queue();
  await rig.command("HSET", key("tasks"), "~s:g", "1;n=1;m=2");
  await queue.enqueueMany([...numbered(5, { group: "g" }), ...numbered(3, { priority: 5 }, "p")]);
  expect(idsOf(await queue.dequeue({ max: 9, worker: one }))).toEqual(["p0", "p1", "p2", "t0", "t1"]);
  expect(await rig.operator().failWorker(one)).toEqual({ returned: 5, rejected: 0, more: false });
  const again: LeasedTask[] = [];
  // One by one: tasks of a failed worker travel in small batches.
  for (let i = 0; i < 9; i++) again.push(...(await queue.dequeue({ worker: two })));
  expect(again.map(({ id, group }) => [id[0], group])).toEqual([
    ...Array.from({ length: 3 }, () => ["p", undefined]),
    ...Array.from({ length: 2 }, () => ["t", "g"]),
  ]);
});
