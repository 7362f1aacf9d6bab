import { describe, expect, test } from "vitest";
import { task, useFlowRig } from "./flow-rig.ts";

// Tasks that are released where they cannot begin at once, or fall before they could.

const { rig, queue, operator, flows, add, take } = useFlowRig();
const payloads = async (name: string) =>
  (await queue(name).dequeue({ max: 10 })).map(({ payload }) => payload).toSorted();

const CHAIN = [task("a"), task("next", "a", { queue: "two" })];

describe("a task that is released", () => {
  test("waits in a queue that is paused", async () => {
    await operator("two").pause();
    await add(CHAIN);
    await (await take()).complete();
    expect(await queue("two").counts()).toMatchObject({ pending: 1, blocked: 0 });
    expect(await payloads("two")).toEqual([]);
    await operator("two").resume();
    expect(await payloads("two")).toEqual(["next"]);
  });

  test("waits in a group that is paused, or at its limit", async () => {
    await operator("one").configureGroup("paused", { paused: true });
    await operator("one").configureGroup("full", { maxWorking: 1 });
    await queue("one").enqueue("working", { group: "full" });
    const working = await take();
    await add([task("a"), task("b", "a", { group: "paused" }), task("c", "a", { group: "full" })]);
    await (await take()).complete();
    expect(await payloads("one")).toEqual([]);
    await operator("one").configureGroup("paused", { paused: false });
    expect(await payloads("one")).toEqual(["b"]);
    await working.complete();
    expect(await payloads("one")).toEqual(["c"]);
  });

  test("has a place in a queue that is full, as it was accepted with its flow", async () => {
    await add(CHAIN);
    await queue("two").enqueue("other");
    await operator("two").configure({ maxPending: 1 });
    await (await take()).complete();
    expect(await payloads("two")).toEqual(["next", "other"]);
  });

  test("is added to a queue that is full, unless its flow begins there", async () => {
    await operator("two").configure({ maxPending: 1 });
    await queue("two").enqueue("other");
    await add([task("a"), task("b", [], { queue: "two" })]);
    expect(await payloads("two")).toEqual(["b", "other"]);
    await queue("two").enqueue("other");
    await expect(add([task("c", [], { queue: "two" })], { id: "g" })).rejects.toMatchObject({
      code: "queue_full",
    });
  });

  test("is delayed from then on, with its priority", async () => {
    await add([task("a"), task("late", "a", { delay: "1h", priority: 9 }), task("soon", "a")]);
    rig.now += 3_600_000;
    await (await take()).complete();
    await (await take()).complete("of soon");
    rig.now += 3_599_999;
    expect(await payloads("one")).toEqual([]);
    rig.now += 1;
    expect(await payloads("one")).toEqual(["late"]);
  });
});

test("a task with a delay, a group or a priority falls at once", async () => {
  await add([
    task("a"),
    task("late", "a", { delay: "1h" }),
    task("urgent", "a", { priority: 3 }),
    task("grouped", "a", { group: "g" }),
  ]);
  await (await take()).reject("no");
  const fallen = (ref: string) => ({ ref, state: "rejected", reason: "dependency_failed", because: "a" });
  const { nodes } = (await flows().get("f@one"))!;
  expect(nodes.slice(1).map(({ ref, state, reason, because }) => ({ ref, state, reason, because }))).toEqual(
    ["late", "urgent", "grouped"].map(fallen),
  );
  expect(await queue("one").counts()).toMatchObject({ pending: 0, delayed: 0, blocked: 0, rejected: 4 });
});

test("a task that is tried again holds back what waits for it", async () => {
  await add(CHAIN);
  await (await take()).requeue({ delay: "1h" });
  expect(await queue("two").counts()).toMatchObject({ blocked: 1 });
  rig.now += 3_600_000;
  await (await take()).complete();
  expect(await payloads("two")).toEqual(["next"]);
});
