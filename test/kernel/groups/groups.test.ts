import { beforeEach, describe, expect, test } from "vitest";
import type { Queue } from "../../../src/index.ts";
import { deliveries, groupSettings, ofGroup, timesOf } from "../../support/groups.ts";
import { useRig } from "../../support/rig.ts";

const rig = useRig();
let queue: Queue;
beforeEach(() => void (queue = rig.queue()));
const writeSettings = groupSettings(rig);

describe("groups share a queue by weighted fair queueing", () => {
  test("at every delivery no waiting group is more than one task behind its share by weight", async () => {
    const weights: Record<string, number> = { a: 1, b: 2, c: 5 };
    for (const [group, weight] of Object.entries(weights)) {
      await writeSettings(group, `k=${weight}`);
      await queue.enqueueMany(ofGroup(group, 100));
    }
    const order = await deliveries(queue, 120);
    for (let n = 1; n <= order.length; n++) {
      for (const [group, weight] of Object.entries(weights)) {
        const share = (n * weight) / 8;
        expect(Math.abs(timesOf(order.slice(0, n), group) - share)).toBeLessThanOrEqual(1);
      }
    }
  });

  test("tasks without a group are one group of weight 1", async () => {
    await queue.enqueueMany(ofGroup(undefined, 100));
    await queue.enqueueMany(ofGroup("a", 50));
    await writeSettings("b", "k=3");
    await queue.enqueueMany(ofGroup("b", 50));
    const order = await deliveries(queue, 50);
    expect([timesOf(order, ""), timesOf(order, "a"), timesOf(order, "b")]).toEqual([10, 10, 30]);
    const rest = await deliveries(queue);
    expect(rest).toHaveLength(150);
    expect((await rig.space()).tasks.has("~fair")).toBe(false);
  });

  test("an idle group gains no credit, and a busy one owes none", async () => {
    await queue.enqueueMany(ofGroup("busy", 300));
    await deliveries(queue, 200);
    await queue.enqueueMany(ofGroup("late", 50));
    const order = await deliveries(queue, 40);
    expect([timesOf(order, "busy"), timesOf(order, "late")]).toEqual([20, 20]);
  });

  test("tasks without a group that enter an empty list do not reuse an earlier turn", async () => {
    await queue.enqueueMany(ofGroup(undefined, 1));
    await queue.enqueueMany(ofGroup("busy", 300));
    await queue.dequeue({ max: 150 });
    await queue.enqueueMany(ofGroup(undefined, 50));
    const next = (await queue.dequeue({ max: 40 })).map(({ group = "" }) => group);
    expect([timesOf(next, "busy"), timesOf(next, "")]).toEqual([20, 20]);
  });

  test("a group gets its turn among a flood of one-task groups", async () => {
    await queue.enqueueMany(ofGroup("steady", 20));
    const flood = async (from: number) =>
      queue.enqueueMany(Array.from({ length: 10 }, (_, i) => ({ payload: 0, group: `one-${from + i}` })));
    const order: string[] = [];
    for (let round = 0; round < 10; round++) {
      await flood(round * 10);
      order.push(...(await deliveries(queue, 11)));
    }
    // In each round ten one-task groups and the steady group wait: it gets one of eleven turns.
    expect(timesOf(order, "steady")).toBe(10);
  });

  test("no delivery is spent on empty groups", async () => {
    for (let i = 0; i < 30; i++) await queue.enqueueMany(ofGroup(`g${i}`, i < 25 ? 1 : 20));
    const got: number[] = [];
    for (let i = 0; i < 14; i++) got.push((await queue.dequeue({ max: 10 })).length);
    expect(got).toEqual([...Array.from({ length: 12 }, () => 10), 5, 0]);
    await queue.enqueueMany([...ofGroup("g0", 1), ...ofGroup("g29", 20)]);
    expect(await deliveries(queue, 21)).toHaveLength(21);
  });

  test("requeued, reclaimed, promoted and handed back tasks wait for their group's share", async () => {
    await queue.enqueueMany(ofGroup("large", 100));
    await queue.enqueueMany(ofGroup("small", 4, { lease: 1_000 }));
    const taken = await queue.dequeue({ max: 8 });
    const small = taken.filter(({ group }) => group === "small");
    expect(small).toHaveLength(4);
    await small[0]?.requeue();
    await small[1]?.requeue({ delay: 500 });
    await small[2]?.requeue({ unstarted: true });
    // The task handed back has its old tag, so it comes first.
    const [back] = await queue.dequeue();
    expect(back).toMatchObject({ id: small[2]?.id, attempt: 2 });
    expect(await queue.get(small[2]?.id ?? "")).toMatchObject({ charged: 1 });
    rig.now += 1_000;
    await rig.sweepOnce();
    const order = await deliveries(queue, 8);
    expect(timesOf(order, "small")).toBe(3 + 1);
  });

  test("a group's state is removed with its last task", async () => {
    await queue.enqueueMany([...ofGroup("hosts", 2), ...ofGroup("et", 2), ...ofGroup("x;y%z=1!", 2)]);
    expect((await queue.dequeue({ max: 6 })).map(({ group = "" }) => group).toSorted()).toEqual([
      "et",
      "et",
      "hosts",
      "hosts",
      "x;y%z=1!",
      "x;y%z=1!",
    ]);
    const working = await rig.space();
    expect(working.tasks.get("~g:hosts")).toMatch(/^1;v=\d+;w=2$/);
    rig.now += 300_000;
    await rig.sweepOnce();
    await deliveries(queue);
    const after = await rig.space();
    expect([...after.tasks.keys()].filter((field) => /^~[gf]/.test(field))).toEqual([]);
  });
});

describe("priorities", () => {
  test("are strict between each other, and fair within one", async () => {
    await queue.enqueueMany(ofGroup(undefined, 2));
    await queue.enqueueMany([...ofGroup("a", 3, { priority: 5 }), ...ofGroup("b", 3, { priority: 5 })]);
    await queue.enqueueMany(ofGroup("a", 1, { priority: 9 }));
    await queue.enqueueMany(ofGroup(undefined, 1, { priority: 7 }));
    const tasks = await queue.dequeue({ max: 10 });
    const order = await Promise.all(tasks.map(async ({ id }) => (await queue.get(id))?.priority ?? 0));
    expect(order).toEqual([9, 7, 5, 5, 5, 5, 5, 5, 0, 0]);
    expect(
      tasks
        .slice(2, 4)
        .map(({ group = "" }) => group)
        .toSorted(),
    ).toEqual(["a", "b"]);
  });
});
