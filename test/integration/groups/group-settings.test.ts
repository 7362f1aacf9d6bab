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
      weight: 1,
      maxWorking: null,
      rate: null,
      ready: 0,
      working: 0,
      limited: 0,
    });
    expect(await rig.keySpace()).toEqual({});
  });

  test("are set one by one and unset by null, until no field is left", async () => {
    const operator = rig.operator();
    const unlimited = { maxWorking: null, rate: null };
    expect(await operator.configureGroup("a", { weight: 5 })).toEqual({ weight: 5, ...unlimited });
    expect(await fields()).toEqual({ "~groups": "0", "~s:a": "1;k=5" });
    await operator.configureGroup("a", { rate: { most: 3, per: "10s" } });
    expect(await operator.configureGroup("a", { maxWorking: 2 })).toEqual({
      weight: 5,
      maxWorking: 2,
      rate: { most: 3, per: 10_000 },
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

  test.each<[object, string]>([
    [{ weight: 0 }, "weight"],
    [{ weight: 101 }, "weight"],
    [{ weight: 1.5 }, "weight"],
    [{ maxWorking: 0 }, "maxWorking"],
    [{ rate: { most: 1, per: "soon" } }, "rate.per"],
    [{ maxPending: 3 }, "maxPending"],
    [{ n: 7 }, "n"],
  ])("%j is refused, and nothing is set", async (changes, path) => {
    const refused = rig.operator().configureGroup("a", changes);
    await expect(refused).rejects.toMatchObject({ code: "invalid_argument", path });
    expect(await rig.keySpace()).toEqual({});
  });

  test.each(["", " a", "é", "x".repeat(129)])("a group called %j is refused", async (name) => {
    const operator = rig.operator();
    const refusal = { code: "invalid_argument", path: "group" };
    await expect(operator.configureGroup(name, { weight: 2 })).rejects.toMatchObject(refusal);
    await expect(operator.groupSettings(name)).rejects.toMatchObject(refusal);
    expect(await rig.keySpace()).toEqual({});
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
    const settings = { maxWorking: null, ready: 101, limited: 250 };
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

  test("that is tightened again holds the excess tasks, in the old order", async () => {
    const operator = rig.operator();
    await operator.configureGroup("a", { maxWorking: 1 });
    await queue.enqueueMany(many(5, { group: "a" }));
    await operator.configureGroup("a", { maxWorking: 3 });
    await operator.configureGroup("a", { maxWorking: 1 });
    const order: unknown[] = [];
    for (let i = 0; i < 5; i++) {
      const batch = await queue.dequeue({ max: 10 });
      expect(batch).toHaveLength(1);
      order.push(batch[0]?.payload);
      await batch[0]?.complete();
    }
    expect(order).toEqual([0, 1, 2, 3, 4]);
  });

  test("of a group without tasks leaves plain tasks plain", async () => {
    await rig.queue().enqueue("plain");
    await rig.operator().configureGroup("a", { maxWorking: 3, weight: 7 });
    expect((await rig.space()).tasks.has("~fair")).toBe(false);
  });
});
