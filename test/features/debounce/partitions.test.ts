import { beforeEach, describe, expect, test } from "vitest";
import { type KeyedCalls, withDebounce } from "../../../src/features/debounce/index.ts";
import type { KeyedEnqueueOptions } from "../../../src/features/debounce/types.ts";
import { deepSweep, Queue, type Transport } from "../../../src/index.ts";
import { slotOf } from "../../../src/kernel/names/slots.ts";
import { instances } from "../../support/instances.ts";
import { QUEUE, useRig } from "../../support/rig.ts";

const rig = useRig();
const { instance, over, map, resize, keysIn, sweepAll } = instances(rig);
const keys = Array.from({ length: 8 }, (_, i) => `key${i}`);
const debounced = (key: string): KeyedEnqueueOptions<"last"> => ({ debounce: { key, wait: "5s" } });

const keyed = (transport: Transport = instance()): Omit<Queue, "enqueue"> & KeyedCalls<unknown> =>
  withDebounce<unknown, unknown, Queue>(new Queue(QUEUE, over(transport)));

/** Takes all tasks that are ready, and returns their payloads. */
async function takeAll(): Promise<unknown[]> {
  const queue = keyed();
  const found: unknown[] = [];
  for (let empty = 0; empty < 10;) {
    const tasks = await queue.dequeue({ max: 10 });
    empty = tasks.length === 0 ? empty + 1 : 0;
    for (const task of tasks) found.push(task.payload);
    if (tasks.length > 0) await queue.settle(tasks.map(({ receipt }) => ({ receipt, outcome: "complete" })));
  }
  return found.toSorted((a, b) => String(a).localeCompare(String(b)));
}

/** Which partitions have a field. */
const having = async (field: string) => {
  const { owners } = await map();
  const found = await Promise.all(
    [...new Set(owners)].map(async (at) => [at, await rig.command("HEXISTS", keysIn(at).tasks, field)]),
  );
  return found.flatMap(([at, is]) => (is === 1 ? [at] : []));
};

describe("in a queue with partitions", () => {
  beforeEach(() => resize(4));

  test("a task is where its key is, and reads find it", async () => {
    const { owners } = await map();
    for (const key of keys) {
      const { id } = await keyed().enqueue(1, debounced(key));
      expect(await having(id)).toEqual([owners[slotOf(key)]]);
      expect(await having(`~D:${key}`)).toEqual([owners[slotOf(key)]]);
      expect(await keyed().enqueue(2, debounced(key))).toMatchObject({ id, outcome: "replaced" });
      expect(await keyed().get(id)).toMatchObject({ state: "delayed" });
      expect(await keyed().cancel(id)).toEqual({ ok: true, state: "rejected" });
      await keyed().enqueue(key, debounced(key));
    }
    rig.now += 5_000;
    expect(await takeAll()).toEqual(keys);
  });

  test("a copy gets the same answer", async () => {
    for (const key of keys) {
      const first = await keyed().enqueue(1, { ...debounced(key), idempotencyKey: `${key}-1` });
      const second = await keyed().enqueue(2, { ...debounced(key), idempotencyKey: `${key}-2` });
      await keyed().enqueue(3, debounced(key));
      expect(await keyed().enqueue(1, { ...debounced(key), idempotencyKey: `${key}-1` })).toEqual(first);
      expect(await keyed().enqueue(2, { ...debounced(key), idempotencyKey: `${key}-2` })).toEqual(second);
      expect(await keyed().get(first.id, { payload: true })).toMatchObject({ payload: 3 });
    }
  });

  test("an id of the caller's must be in the slot of the key, except a generated one", async () => {
    const key = keys.find((one) => slotOf(one) !== slotOf("mine")) as string;
    await expect(keyed().enqueue(1, { ...debounced(key), id: "mine" })).rejects.toMatchObject({
      code: "invalid_argument",
      path: "id",
    });
    const id = `mine{${key}}`;
    expect(await keyed().enqueue(1, { ...debounced(key), id })).toMatchObject({ id });
    const generated = "0VcPTQbhXXjZKjZCxe4N";
    const options = { ...debounced(keys[3] as string), id: generated };
    expect(await keyed().enqueue(1, options)).toMatchObject({ id: generated });
    expect(await keyed().get(generated)).toMatchObject({ state: "delayed" });
  });

  test("replaces a task by its id", async () => {
    for (const id of keys) {
      await keyed().enqueue(1, { id });
      expect(await keyed().enqueue(2, { id, replace: true })).toMatchObject({ id, outcome: "replaced" });
    }
    expect(await takeAll()).toEqual(keys.map(() => 2));
  });

  test("forgets a key wherever it is", async () => {
    for (const key of keys) await keyed().enqueue(1, debounced(key));
    for (const key of keys) {
      expect(await keyed().forgetKey(key)).toBe(true);
      expect(await keyed().enqueue(2, debounced(key))).toMatchObject({ outcome: "created" });
    }
  });
});

test("a client that knows of no partitions yet finds them", async () => {
  const early = instance();
  const { id } = await keyed(early).enqueue(1, debounced("a"));
  await resize(4);
  expect(await keyed(early).enqueue(2, debounced("a"))).toMatchObject({ id, outcome: "replaced" });
});

describe("after a resize", () => {
  const singleton = (key: string, then: "drop" | "replace" | "cancel") =>
    ({ singleton: { key, while: "unfinished", then } }) as const;

  test("a former partition with the task of a key answers for it", async () => {
    await resize(2);
    const ids = new Map<string, string>();
    for (const key of keys) ids.set(key, (await keyed().enqueue(0, debounced(key))).id);
    const before = (await map()).owners;
    await resize(8);
    const { owners } = await map();
    expect(keys.filter((key) => owners[slotOf(key)] !== before[slotOf(key)]).length).toBeGreaterThan(1);
    for (const key of keys) {
      expect(await keyed().enqueue(key, debounced(key))).toMatchObject({
        id: ids.get(key),
        outcome: "replaced",
      });
    }
    rig.now += 5_000;
    expect(await takeAll()).toEqual(keys);
    // They have begun: the owners have the next ones.
    for (const key of keys) {
      expect(await keyed().enqueue(key, debounced(key))).toMatchObject({ outcome: "created" });
      expect(await having(`~D:${key}`)).toContain(owners[slotOf(key)]);
    }
    const report = await deepSweep(rig.transport, { now: () => rig.now });
    expect(report).toMatchObject({ faults: [], failed: [] });
  });

  test.each(["drop", "replace", "cancel"] as const)(
    "a singleton stays one, and is handled so: %s",
    async (then) => {
      await resize(2);
      for (const key of keys) await keyed().enqueue(0, singleton(key, then));
      await resize(8);
      for (const key of keys) await keyed().enqueue(key, singleton(key, then));
      expect(await takeAll()).toEqual(then === "drop" ? keys.map(() => 0) : keys);
    },
  );

  test("a former partition stays in the map until its keys are forgotten", async () => {
    await resize(4);
    await keyed().enqueue(1, { singleton: { key: "b", while: "waiting" } });
    await resize(1);
    await takeAll();
    for (let hours = 0; hours < 3; hours++) {
      rig.now += 3_600_000;
      await sweepAll();
    }
    const { former } = await map();
    const at = await Promise.all(
      [0, 1, 2, 3].map((one) => rig.command("HEXISTS", keysIn(one).tasks, "~S:b")),
    );
    expect(former).toEqual([0, 1, 2, 3].filter((one) => at[one] === 1 && one !== 0));
  });

  test("a slot that changes hands between the look at the map and the call is looked for again", async () => {
    await resize(2);
    const stale = instance();
    await keyed(stale).enqueue("warm", { id: "warm" });
    await resize(8);
    for (const key of keys) {
      await keyed().enqueue(1, debounced(key));
      expect(await keyed(stale).enqueue(2, debounced(key))).toMatchObject({ outcome: "replaced" });
    }
  });
});
