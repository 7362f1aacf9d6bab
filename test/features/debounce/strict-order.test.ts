import { beforeEach, expect, test } from "vitest";
import { linked } from "../../../src/features/linked/index.ts";
import { useRig } from "../../support/rig.ts";
import { useKeyed } from "./keyed-queue.ts";

// Enqueues with keys, of tasks of a group in strict order.

const rig = useRig();
const keyed = useKeyed(rig);
const queue = () => keyed.queue({ transport: linked(rig.transport) });
const group = "a";
const debounce = { key: "d", wait: "5s" } as const;
beforeEach(() => rig.operator().configure({ order: "strict" }));

/** Takes and completes tasks until none is ready. Returns their payloads. */
async function takeAll(): Promise<unknown[]> {
  const found: unknown[] = [];
  for (;;) {
    const [task] = await queue().dequeue();
    if (!task) return found;
    found.push(task.payload);
    await task.complete();
  }
}

test("a debounced task gets into line when it is due, and blocks no other before", async () => {
  await queue().enqueue("debounced", { debounce, group });
  await queue().enqueue(1, { group });
  await queue().enqueue(2, { group });
  await queue().enqueue("later", { debounce, group });
  expect(await takeAll()).toEqual([1, 2]);
  rig.now += 5_000;
  await queue().enqueue(3, { group });
  expect(new Set(await takeAll())).toEqual(new Set([3, "later"]));
});

test("tasks in line are replaced in their places", async () => {
  for (const id of ["x", "y", "z"]) await queue().enqueue(id, { id, group });
  for (const id of ["z", "x", "y"]) await queue().enqueue(`${id}2`, { id, group, replace: true });
  expect(await takeAll()).toEqual(["x2", "y2", "z2"]);
});

test("a task may leave its line for another group, or a delay; the next one follows", async () => {
  for (const id of ["x", "y", "z"]) await queue().enqueue(id, { id, group });
  await queue().enqueue("x", { id: "x", group: "b", replace: true });
  await queue().enqueue("z", { id: "z", group, delay: "1m", replace: true });
  await queue().enqueue("last", { group });
  const tasks = await queue().dequeue({ max: 10 });
  expect(new Set(tasks.map(({ payload }) => payload))).toEqual(new Set(["x", "y"]));
  for (const task of tasks) await task.complete();
  expect(await takeAll()).toEqual(["last"]);
  rig.now += 60_000;
  expect(await takeAll()).toEqual(["z"]);
});

test("a cancelled singleton leaves the line, also as its head", async () => {
  const singleton = { key: "s", while: "waiting", then: "cancel" } as const;
  await queue().enqueue("old", { singleton, group });
  await queue().enqueue(1, { group });
  await queue().enqueue("older", { singleton, group });
  await queue().enqueue(2, { group });
  await queue().enqueue("new", { singleton, group });
  expect(await takeAll()).toEqual([1, 2, "new"]);
});
