import { beforeEach, describe, expect, test } from "vitest";
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

describe("the group goes on", () => {
  /** Takes what is left, in any time, and another task behind it. */
  async function goesOn(...payloads: unknown[]) {
    await queue().enqueue("last", { group });
    const found = await takeAll();
    rig.now += 60_000;
    found.push(...(await takeAll()));
    expect(found).toEqual(payloads);
    expect(await queue().counts()).toMatchObject({ pending: 0, delayed: 0, working: 0 });
  }
  const head = async () => (await queue().dequeue({ max: 10 }))[0];
  const cancelling = { singleton: { key: "s", while: "unfinished", then: "cancel" }, group } as const;

  test("while throttled tasks wait for their turns", async () => {
    const throttle = { key: "t", most: 1, per: "10s", excess: "delay" } as const;
    for (const payload of [1, 2]) await queue().enqueue(payload, { throttle, group });
    await queue().enqueue("plain", { group });
    await goesOn(1, "plain", "last", 2);
  });

  test("with a list that is full behind the head, and the next one", async () => {
    const list = { debounce: { ...debounce, keep: "all" }, group } as const;
    const large = "x".repeat(600_000);
    await queue().enqueue("head", { group });
    const task = await head();
    const { id } = await queue().enqueue(large, list);
    const next = await queue().enqueue(large, list);
    expect(next).toMatchObject({ created: true });
    expect(next.id).not.toBe(id);
    expect(await head()).toBeUndefined();
    await task?.complete();
    await goesOn([large], "last", [large]);
  });

  test("when its head, which works, is cancelled for another one of its key", async () => {
    await queue().enqueue("old", cancelling);
    const task = await head();
    await queue().enqueue("between", { group });
    await queue().enqueue("new", cancelling);
    expect(await head()).toBeUndefined();
    expect(await task?.requeue()).toMatchObject({ ok: true, state: "rejected" });
    await goesOn("between", "new", "last");
  });

  test.each(["skipped", "redriven", "removed"])(
    "when a dead letter of the key has stopped it, and is %s",
    async (how) => {
      await rig.operator().configure({ onDead: "stop" });
      const { id } = await queue().enqueue("dead", cancelling);
      await (await head())?.reject({ error: "no" });
      await queue().enqueue("waits", cancelling);
      await queue().enqueue("new", cancelling);
      expect(await head()).toBeUndefined();
      if (how === "skipped") await rig.operator().skip(id);
      else if (how === "removed") await rig.operator().remove(id);
      else await rig.operator().redrive({ ids: [id] });
      await goesOn(...(how === "redriven" ? ["dead"] : []), "new", "last");
    },
  );

  test("when its head, which waits for another attempt, is not replaced", async () => {
    const singleton = { key: "s", while: "waiting", then: "replace" } as const;
    await queue().enqueue("head", { singleton, id: "head", group });
    await (await head())?.requeue({ delay: "10s" });
    expect(await queue().enqueue(0, { id: "head", group, replace: true })).toMatchObject({
      outcome: "dropped",
    });
    expect(await queue().enqueue("next", { singleton, group })).toMatchObject({ outcome: "created" });
    expect(await queue().enqueue("then", { singleton, group })).toMatchObject({ outcome: "replaced" });
    expect(await head()).toBeUndefined();
    rig.now += 10_000;
    await goesOn("head", "then", "last");
  });
});
