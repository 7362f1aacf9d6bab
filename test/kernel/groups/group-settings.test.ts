import { beforeEach, describe, expect, test } from "vitest";
import type { Queue } from "../../../src/index.ts";
import { controlFields } from "../../support/key-space.ts";
import { QUEUE, useRig } from "../../support/rig.ts";
import { many } from "../../support/new-tasks.ts";

const rig = useRig();
let queue: Queue;
beforeEach(() => void (queue = rig.queue()));

/** The fields of the tasks hash that settings write. */
const fields = async () => controlFields(await rig.space(), /^~(set|s:|g:|groups)/);

describe("settings of a group", () => {
  test("are the defaults if none are set, and reading them changes nothing", async () => {
    expect(await rig.operator().groupSettings("a")).toEqual({
      queue: QUEUE,
      group: "a",
      paused: false,
      pausedUntil: null,
      weight: 1,
      maxWorking: null,
      rate: null,
      order: null,
      onDead: null,
      ready: 0,
      working: 0,
      limited: 0,
      inLine: 0,
      stoppedBy: null,
    });
    expect(await rig.keySpace()).toEqual({});
  });

  test("are set one by one and unset by null, until no field is left", async () => {
    const operator = rig.operator();
    const unlimited = { maxWorking: null, rate: null, order: null, onDead: null };
    expect(await operator.configureGroup("a", { weight: 5 })).toEqual({
      paused: false,
      pausedUntil: null,
      weight: 5,
      ...unlimited,
    });
    expect(await fields()).toEqual({ "~groups": "0", "~s:a": "1;k=5" });
    await operator.configureGroup("a", { rate: { most: 3, per: "10s" } });
    expect(await operator.configureGroup("a", { maxWorking: 2 })).toEqual({
      paused: false,
      pausedUntil: null,
      weight: 5,
      maxWorking: 2,
      rate: { most: 3, per: 10_000 },
      order: null,
      onDead: null,
    });
    expect(await fields()).toEqual({ "~groups": "1", "~s:a": "1;k=5;m=2;n=1;r=3/10000" });
    await operator.configureGroup("a", unlimited);
    expect(await fields()).toEqual({ "~groups": "1", "~s:a": "1;k=5" });
    await operator.configureGroup("a", { weight: null });
    expect(await fields()).toEqual({ "~groups": "1" });
  });

  test("give each limited group its own number, which is never used twice", async () => {
    const operator = rig.operator();
    await operator.configureGroup("a", { maxWorking: 1 });
    await operator.configureGroup("b", { rate: { most: 1, per: 1_000 } });
    await operator.configureGroup("a", { maxWorking: 2 });
    await operator.configureGroup("b", { rate: null });
    await operator.configureGroup("c", { maxWorking: 1 });
    await operator.configureGroup("b", { maxWorking: 1 });
    expect(await fields()).toEqual({
      "~groups": "4",
      "~s:a": "1;m=2;n=1",
      "~s:b": "1;m=1;n=4",
      "~s:c": "1;m=1;n=3",
    });
  });

  test("of names with special characters belong to that group alone", async () => {
    const operator = rig.operator();
    for (const name of ["a;m=9", "a%3Bm=9", "s:x", "hosts"])
      await operator.configureGroup(name, { weight: 9 });
    const names = Object.keys(await fields());
    expect(names).toEqual(["~groups", "~s:a%253Bm=9", "~s:a%3Bm=9", "~s:hosts", "~s:s:x"]);
    const settings = { group: "a;m=9", weight: 9, maxWorking: null };
    expect(await operator.groupSettings("a;m=9")).toMatchObject(settings);
    expect(await operator.settings()).toMatchObject({ maxWorking: null });
  });
});

describe("a loosened limit of a group", () => {
  const held = async () => (await rig.space()).limited.size;

  test("or unset admits a hundred tasks, and later dequeues or sweeps the rest; then none of its fields remain", async () => {
    await rig.operator().configureGroup("a", { maxWorking: 1 });
    await queue.enqueueMany(many(351, { group: "a" }));
    await rig.operator().configureGroup("a", { maxWorking: null });
    expect(await held()).toBe(250);
    expect((await fields())["~s:a"]).toBe("1;n=1");
    // Without a limit all are ready, also those that no call has admitted yet.
    const settings = { maxWorking: null, ready: 351, limited: 0 };
    expect(await rig.operator().groupSettings("a")).toMatchObject(settings);
    await rig.sweepOnce();
    expect(await held()).toBe(150);
    const payloads: unknown[] = [];
    for (let call = 0; call < 20 && payloads.length < 351; call++) {
      const batch = await queue.dequeue({ max: 100 });
      payloads.push(...batch.map(({ payload }) => payload));
      await queue.settle(batch.map(({ receipt }) => ({ receipt, outcome: "complete" })));
    }
    expect(payloads).toEqual(Array.from({ length: 351 }, (_, i) => i));
    await queue.dequeue();
    expect(await fields()).toEqual({ "~groups": "1" });
  });

  test("that is tightened again holds the excess tasks, ahead of those that were held all along", async () => {
    const operator = rig.operator();
    await operator.configureGroup("a", { maxWorking: 1 });
    await queue.enqueueMany(many(5, { group: "a" }));
    let [task] = await queue.dequeue();
    for (let i = 0; i < 3; i++) {
      await operator.configureGroup("a", { maxWorking: 3 });
      await operator.configureGroup("a", { maxWorking: 1 });
      expect(await queue.dequeue({ max: 10 })).toHaveLength(0);
    }
    const order: unknown[] = [];
    while (task) {
      order.push(task.payload);
      await task.complete();
      [task] = await queue.dequeue({ max: 10 });
    }
    expect(order).toEqual([0, 1, 2, 3, 4]);
  });

  test("of a group without tasks leaves plain tasks plain", async () => {
    await rig.queue().enqueue("plain");
    await rig.operator().configureGroup("a", { maxWorking: 3, weight: 7 });
    expect((await rig.space()).tasks.has("~fair")).toBe(false);
  });
});
