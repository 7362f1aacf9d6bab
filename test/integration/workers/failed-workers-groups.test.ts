import { expect, test } from "vitest";
import { idsOf } from "../../support/leasing.ts";
import { named } from "../../support/new-tasks.ts";
import { useRig } from "../../support/rig.ts";

const rig = useRig();
const one = { name: "one", incarnation: "a" };

test("tasks of a failed worker return to the front; grouped and prioritised ones return behind the others of their group", async () => {
  const queue = rig.queue();
  const three = (name: string, options = {}) =>
    named(
      [1, 2, 3].map((i) => `${name}${i}`),
      options,
    );
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
    await queue.enqueueMany(three(name, options));
    await queue.dequeue({ max: 2, worker: one });
    expect(await rig.operator().failWorker("one")).toMatchObject({ returned: 2 });
    expect(await orderOf(name)).toEqual(order);
    await rig.operator().deleteQueue({ force: true });
  }
  // A task handed back unstarted keeps its place.
  await queue.enqueueMany(three("group", { group: "g" }));
  for (const task of await queue.dequeue({ max: 2 })) await task.requeue({ unstarted: true });
  expect(await orderOf("group")).toEqual(["group1", "group2", "group3"]);
});
