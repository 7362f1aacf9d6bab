import { expect, test } from "vitest";
import { applyQueues, defineQueue, Operator, Queue, sweep } from "../../../src/index.ts";
import { copySettings } from "../../../src/queue/partitions/copy-settings.ts";
import { owning } from "../../../src/queue/partitions/map.ts";
import { fetchMap } from "../../../src/queue/partitions/map-calls.ts";
import { resizeQueue } from "../../../src/queue/partitions/resize.ts";
import type { Transport } from "../../../src/queue/redis/transport.ts";
import { QUEUE, useRig } from "../../support/rig.ts";

// The first partitions of a queue that is in use: its producers, which know of none, must learn of them first.

const rig = useRig({ checkInvariants: false });

/** A transport of another function instance, which remembers nothing. */
const instance = (): Transport => ({ send: (commands, options) => rig.transport.send(commands, options) });
const queueOf = (transport: Transport, partitions?: number) =>
  new Queue(QUEUE, { transport, partitions, now: () => rig.now });
const operator = () => new Operator(QUEUE, { transport: instance(), now: () => rig.now });
const place = (transport = rig.transport) => ({
  name: QUEUE,
  prefix: undefined,
  transport,
  now: () => rig.now,
  copySettings,
});
const map = () => fetchMap(place());
const resize = (count: number) => resizeQueue(place(), count);
const sweepLater = (ms: number) => {
  rig.now += ms;
  return sweep(rig.transport, { queue: QUEUE, now: () => rig.now });
};

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

test("a queue that is in use is partitioned after its producers could learn of it", async () => {
  const unaware = queueOf(instance());
  await unaware.enqueueMany(Array.from({ length: 20 }, (_, i) => ({ payload: i, id: `old-${i}` })));
  expect((await resize(4)).next).not.toBe(undefined);
  expect(owning(await map())).toEqual([0]);
  expect(await unaware.enqueue(1, { id: "old-3" })).toEqual({ id: "old-3", created: false });
  rig.now += 80_000;
  await sweep(rig.transport, { queue: QUEUE, now: () => rig.now });
  expect((await resize(4)).next).toBe(undefined);
  expect(owning(await map())).toEqual([0, 1, 2, 3]);
  for (let i = 0; i < 20; i++) {
    expect((await queueOf(instance()).enqueue(i, { id: `old-${i}` })).created).toBe(false);
    expect((await queueOf(instance(), 4).enqueue(i, { id: `new-${i}` })).created).toBe(true);
  }
  expect((await drainAll(queueOf(instance(), 4))).length).toBe(40);
});

test("a change that stopped at any point leaves no wait that began before its announcement", async () => {
  await queueOf(instance()).enqueue(1, { id: "old" });
  const waits: unknown[] = [];
  for (let stopAfter = 0; stopAfter < 12; stopAfter++) {
    await rig.command("HDEL", "{sluice:queues}:maps", QUEUE);
    await rig.command("HDEL", `sluice:{${QUEUE}}:tasks`, "~slots");
    let left = stopAfter;
    const failing: Transport = {
      async send(commands, options) {
        if (left-- === 0) throw new Error("stopped");
        return rig.transport.send(commands, options);
      },
    };
    await resizeQueue(place(failing), 4).catch(() => undefined);
    const { next } = await map();
    const note = await rig.command("HGET", `sluice:{${QUEUE}}:tasks`, "~slots");
    waits.push(next !== undefined);
    if (next) expect(note).toBe(`1;0;${"f".repeat(64)}`);
  }
  expect(new Set(waits)).toEqual(new Set([false, true]));
});

test("a queue that was deleted is not new: producers that do not know of its partitions add no task twice", async () => {
  const unaware = queueOf(instance());
  await unaware.enqueue(1, { id: "first" });
  await queueOf(instance()).dequeue({ max: 1 });
  await operator().deleteQueue({ force: true });
  await operator().resize(4);
  expect(owning(await map())).toEqual([0]);
  const ids = Array.from({ length: 20 }, (_, i) => `order-${i}`);
  const created = async (queue: Queue) => {
    const all: boolean[] = [];
    for (const id of ids) all.push((await queue.enqueue(1, { id })).created);
    return all;
  };
  expect(await created(queueOf(instance(), 4))).toEqual(ids.map(() => true));
  expect(await created(unaware)).toEqual(ids.map(() => false));
  await sweepLater(80_000);
  expect(owning(await map())).toEqual([0, 1, 2, 3]);
  expect(await created(unaware)).toEqual(ids.map(() => false));
  expect((await drainAll(queueOf(instance(), 4))).toSorted()).toEqual(ids.toSorted());
});

test.each([6, 2])("another number while producers learn of the first (%i) replaces it", async (count) => {
  await queueOf(instance()).enqueue(1, { id: "old" });
  await operator().resize(4);
  rig.now += 30_000;
  await operator().resize(count);
  expect(await operator().listPartitions()).toMatchObject({ count, changing: true });
  await sweepLater(40_000);
  expect(await operator().listPartitions()).toMatchObject({ count, changing: true });
  await sweepLater(10_000);
  expect(await operator().listPartitions()).toMatchObject({ count, changing: false });
  expect(owning(await map())).toEqual(Array.from({ length: count }, (_, i) => i));
  expect(await queueOf(instance(), 4).enqueue(1, { id: "old" })).toEqual({ id: "old", created: false });
  expect(await operator().resize(5)).toBe(5);
});

test("one partition while producers learn of more ends the change, and the next one waits for as long", async () => {
  await queueOf(instance()).enqueue(1, { id: "old" });
  await operator().resize(4);
  rig.now += 60_000;
  expect(await operator().resize(1)).toBe(1);
  expect(await operator().listPartitions()).toMatchObject({ count: 1, changing: false });
  expect(await operator().resize(3)).toBe(1);
  await sweepLater(10_000);
  expect(owning(await map())).toEqual([0]);
  await sweepLater(10_000);
  expect(owning(await map())).toEqual([0, 1, 2]);
  expect(await queueOf(instance(), 4).enqueue(1, { id: "old" })).toEqual({ id: "old", created: false });
});

test("a declaration with another number while producers learn of the first replaces it", async () => {
  await queueOf(instance()).enqueue(1, { id: "old" });
  const apply = (partitions: number) =>
    applyQueues(instance(), [defineQueue(QUEUE, { partitions })], { now: () => rig.now });
  await apply(4);
  await apply(2);
  await sweepLater(80_000);
  expect(owning(await map())).toEqual([0, 1]);
});

test("of several numbers at the same time one is the last", async () => {
  await queueOf(instance()).enqueue(1, { id: "old" });
  await Promise.all([2, 3, 4, 5, 6].map((count) => resizeQueue(place(instance()), count)));
  const { next } = await map();
  await sweepLater(80_000);
  const { owners, version } = await map();
  expect(owners).toEqual(next);
  expect(version).toBe(1);
});
