import { nameOfPartition, queueKeys } from "../../../src/queue/core/keys.ts";
import { beforeEach, describe, expect, test } from "vitest";
import {
  applyQueues,
  defineQueue,
  Operator,
  Queue,
  type QueueDeclaration,
  sweep,
} from "../../../src/index.ts";
import { slotOf } from "../../../src/queue/core/partition-slots.ts";
import { copySettings } from "../../../src/queue/partitions/copy-settings.ts";
import { owning, partitionsOf } from "../../../src/queue/partitions/map.ts";
import { fetchMap } from "../../../src/queue/partitions/map-calls.ts";
import { resizeQueue } from "../../../src/queue/partitions/resize.ts";
import type { Transport } from "../../../src/queue/redis/transport.ts";
import { QUEUE, useRig } from "../../support/rig.ts";

const rig = useRig({ checkInvariants: false });

/** A transport of another function instance, which remembers nothing. */
const instance = (): Transport => ({ send: (commands, options) => rig.transport.send(commands, options) });
const queueOf = (transport: Transport, partitions?: number) =>
  new Queue(QUEUE, { transport, partitions, now: () => rig.now });
const place = () => ({
  name: QUEUE,
  prefix: undefined,
  transport: rig.transport,
  now: () => rig.now,
  copySettings,
});
const resize = (count: number) => resizeQueue(place(), count);
const map = () => fetchMap(place());

/** Takes all tasks and completes them; their ids. */
async function drainAll(queue: Queue): Promise<string[]> {
  const ids: string[] = [];
  for (;;) {
    const tasks = await queue.dequeue({ max: 50 });
    if (tasks.length === 0) return ids;
    await queue.settle(tasks.map(({ receipt }) => ({ receipt, outcome: "complete" as const })));
    ids.push(...tasks.map(({ id }) => id));
  }
}

describe("a queue that gets more or fewer partitions", () => {
  beforeEach(async () => {
    await resize(1);
  });

  test("each slot has one owner at any time, and partitions have equal shares", async () => {
    for (const count of [8, 3, 5, 62, 1]) {
      const { owners, next } = await resize(count);
      expect(next).toBe(undefined);
      expect(owning({ owners })).toEqual(Array.from({ length: count }, (_, i) => i));
      const shares = owning({ owners }).map(
        (partition) => owners.filter((owner) => owner === partition).length,
      );
      expect(Math.max(...shares) - Math.min(...shares)).toBeLessThanOrEqual(1);
      for (const partition of partitionsOf(await map())) {
        const { tasks } = queueKeys(nameOfPartition(QUEUE, partition));
        const text = String(await rig.command("HGET", tasks, "~slots")).split(";")[2] ?? "";
        const owned = Array.from({ length: 256 }, (_, slot) => {
          return (Number.parseInt(text[Math.floor(slot / 4)] ?? "0", 16) >> (slot % 4)) & 1;
        });
        expect(owned).toEqual(owners.map((owner) => (owner === partition ? 1 : 0)));
      }
    }
  });

  test("ids that a partition knows stay unique when their slots have another owner", async () => {
    const ids = Array.from({ length: 60 }, (_, i) => `order-${i}`);
    const stale = queueOf(instance(), 8);
    for (const id of ids) expect((await stale.enqueue(1, { id })).created).toBe(true);
    for (const count of [8, 3, 1, 5]) {
      await resize(count);
      for (const id of ids) {
        expect(await queueOf(instance(), 8).enqueue(2, { id })).toEqual({ id, created: false });
        expect(await queueOf(instance(), 8).get(id)).toMatchObject({ state: "pending" });
      }
      const both = await queueOf(instance(), 8).enqueueMany(
        [...ids, `new-${count}`].map((id) => ({ payload: 3, id })),
      );
      expect(both.filter(({ created }) => created)).toEqual([{ id: `new-${count}`, created: true }]);
    }
    expect((await drainAll(queueOf(instance(), 8))).toSorted()).toEqual(
      [...ids, "new-8", "new-3", "new-1", "new-5"].toSorted(),
    );
    for (const id of ids) expect((await queueOf(instance(), 8).enqueue(2, { id })).created).toBe(false);
  });

  test("a dedup key belongs to its first task when its slot has another owner", async () => {
    const keys = Array.from({ length: 40 }, (_, i) => `key-${i}`);
    const first = await queueOf(instance(), 2).enqueueMany(
      keys.map((key) => ({ payload: 1, dedup: { key, window: "1h" } })),
    );
    await resize(8);
    const again = await queueOf(instance(), 8).enqueueMany(
      keys.map((key) => ({ payload: 2, dedup: { key, window: "1h" } })),
    );
    expect(again).toEqual(first.map(({ id }) => ({ id, created: false })));
    rig.now += 3_600_001;
    const later = await queueOf(instance(), 8).enqueueMany(
      keys.map((key) => ({ payload: 2, dedup: { key, window: "1h" } })),
    );
    expect(later.every(({ created }) => created)).toBe(true);
  });

  test("a producer with an old map writes where tasks are read, and learns of the new map", async () => {
    const stale = queueOf(instance(), 8);
    await stale.enqueue(0, { id: "first" });
    await resize(8);
    await resize(3);
    const enqueued = new Set(["first"]);
    for (let i = 0; i < 40; i++) {
      enqueued.add((await stale.enqueue(i, i % 2 ? { id: `id-${i}` } : {})).id);
      enqueued.add((await stale.enqueue(i, { group: `g${i}` })).id);
    }
    expect(new Set(await drainAll(queueOf(instance(), 3)))).toEqual(enqueued);
    const owners = (await map()).owners;
    const partitions = [...enqueued].filter((id) => id.startsWith("id-")).map((id) => owners[slotOf(id)]);
    expect(new Set(partitions)).toEqual(new Set([0, 1, 2]));
  });

  test("a change that stopped at any point is completed by another caller, or by a sweep", async () => {
    await resize(4);
    await queueOf(instance(), 4).enqueueMany(
      Array.from({ length: 50 }, (_, i) => ({ payload: i, id: `t${i}` })),
    );
    const completed: number[] = [];
    for (let stopAfter = 1; stopAfter <= 10; stopAfter++) {
      let left = stopAfter;
      const failing: Transport = {
        async send(commands, options) {
          if (left-- === 0) throw new Error("stopped");
          return rig.transport.send(commands, options);
        },
      };
      const count = stopAfter % 2 ? 7 : 4;
      await resizeQueue({ ...place(), transport: failing }, count).catch(() => undefined);
      const { next } = await map();
      const producer = queueOf(instance(), 4);
      for (let i = 0; i < 50; i += 7) {
        expect((await producer.enqueue(i, { id: `t${i}` })).created).toBe(false);
        expect((await producer.enqueue(i, { id: `u${stopAfter}-${i}` })).created).toBe(true);
      }
      if (next && !(await map()).next) completed.push(stopAfter);
      await sweep(rig.transport, { now: () => rig.now });
      expect((await map()).next).toBe(undefined);
    }
    // Once slots are sealed, producers do not wait for a sweep.
    expect(completed.length).toBeGreaterThan(0);
    expect(new Set(await drainAll(queueOf(instance(), 4))).size).toBe(50 + 10 * 8);
  });

  test("sweeps remove partitions from the map that have nothing left", async () => {
    await resize(8);
    await queueOf(instance(), 8).enqueueMany(
      Array.from({ length: 80 }, (_, i) => ({ payload: i, id: `t${i}` })),
    );
    await resize(2);
    expect((await map()).former).toEqual([2, 3, 4, 5, 6, 7]);
    await drainAll(queueOf(instance(), 2));
    // The records of completed tasks are kept for an hour, the empty queues in the registry for 70 minutes.
    for (let minutes = 0; minutes < 240; minutes += 5) {
      rig.now += 300_000;
      await sweep(rig.transport, { now: () => rig.now });
    }
    expect((await map()).former).toEqual([]);
    expect(await queueOf(instance(), 2).enqueue(1, { id: "t3" })).toEqual({ id: "t3", created: true });
  });
});

test("sweeps search a partition that keeps some of its slots, until it knows nothing of others", async () => {
  await resize(2);
  const producer = queueOf(instance(), 2);
  const keys = Array.from({ length: 30 }, (_, i) => `key-${i}`);
  await producer.enqueueMany(keys.map((key) => ({ payload: 1, dedup: { key, window: "3h" } })));
  await producer.enqueueMany(Array.from({ length: 300 }, (_, i) => ({ payload: i, id: `t${i}` })));
  await resize(4);
  expect((await map()).former).toEqual([0, 1]);
  const passes = async (minutes: number) => {
    for (let i = 0; i < minutes; i += 15) {
      rig.now += 900_000;
      const { failed } = await sweep(rig.transport, { now: () => rig.now });
      expect(failed).toEqual([]);
    }
  };
  await passes(120);
  expect((await map()).former).toEqual([0, 1]);
  await drainAll(queueOf(instance(), 4));
  await passes(45);
  // The dedup keys are still in use.
  expect((await map()).former).toEqual([0, 1]);
  await passes(120);
  expect((await map()).former).toEqual([]);
  expect(await rig.command("HKEYS", "{sluice:queues}:maps")).toEqual([QUEUE]);
  expect(await queueOf(instance(), 4).enqueue(1, { id: "t3" })).toEqual({ id: "t3", created: true });
});

test("a deployment gives a declared queue the number of partitions that it declares", async () => {
  const apply = (declaration: QueueDeclaration) =>
    applyQueues(rig.transport, [defineQueue(QUEUE, declaration)], { now: () => rig.now });
  expect((await apply({ partitions: 4, statistics: true })).applied).toEqual([QUEUE]);
  expect(owning(await map())).toEqual([0, 1, 2, 3]);
  expect((await apply({ partitions: 4, statistics: true })).applied).toEqual([]);
  await apply({ partitions: 2, statistics: true });
  expect(owning(await map())).toEqual([0, 1]);
  await apply({ statistics: true });
  expect(owning(await map())).toEqual([0]);
  expect(() => defineQueue(QUEUE, { partitions: 63 })).toThrow(
    "partitions must be a whole number from 1 to 62",
  );
});

test("new partitions have the settings of the queue and its groups, and shares of its limits", async () => {
  const operator = () => new Operator(QUEUE, { transport: instance(), partitions: 2, now: () => rig.now });
  await resize(2);
  await operator().configure({ maxWorking: 10, statistics: true });
  await operator().configureGroup("g", { maxWorking: 2 });
  expect(await operator().resize(6)).toBe(6);
  expect(await operator().settings()).toMatchObject({ maxWorking: 10, statistics: true });
  const producer = queueOf(instance(), 6);
  await producer.enqueueMany(Array.from({ length: 60 }, (_, i) => ({ payload: i, id: `t${i}` })));
  await producer.enqueueMany(Array.from({ length: 20 }, (_, i) => ({ payload: i, group: "g" })));
  const working = async () => (await queueOf(instance(), 6).counts()).working;
  const takeAll = async () => {
    for (let i = 0; i < 20; i++) await queueOf(instance(), 6).dequeue({ max: 20 });
  };
  await takeAll();
  expect(await working()).toBeLessThanOrEqual(10);
  for (let i = 0; i < 3; i++) {
    rig.now += 60_000;
    await sweep(rig.transport, { now: () => rig.now });
    await takeAll();
    expect(await working()).toBeLessThanOrEqual(10);
  }
  expect(await working()).toBe(10);
});
