import { expect, test } from "vitest";
import { sweep } from "../../../src/index.ts";
import { placesOf } from "../../../src/open/sweep-with.ts";
import type { Transport } from "../../../src/kernel/transport.ts";
import { QUEUE, START, useRig } from "../../support/rig.ts";
import { large, withStore } from "./rig.ts";

const rig = useRig();
const HOUR = 3_600_000;

test("objects of tasks in all partitions stay until the tasks need them no more", async () => {
  const { store, offload } = withStore(rig);
  const queue = rig.queue({ partitions: 4, offload });
  const names = Array.from({ length: 24 }, (_, i) => `t${i}`);
  await queue.enqueueMany(names.map((name) => ({ payload: large(name), id: name, resultTtl: 0 })));
  const without = await queue.enqueueMany(names.map((name) => ({ payload: large(name) })));
  expect(await store.keys()).toHaveLength(48);

  rig.now = START + 2 * HOUR;
  const pass = async (transport: Transport = rig.transport) =>
    (await sweep(transport, { offload, now: () => rig.now })).objects;
  expect(await pass()).toEqual({ checked: 48, removed: 0 });

  // If a map cannot be read, no object goes.
  const maps = "{sluice:queues}:maps";
  const map = String(await rig.command("HGET", maps, QUEUE));
  await rig.command("HSET", maps, QUEUE, `2;${map}`);
  rig.now += HOUR;
  expect((await pass())?.removed ?? 0).toBe(0);
  await rig.command("HSET", maps, QUEUE, map);
  expect(await store.keys()).toHaveLength(48);

  const payloads: string[] = [];
  for (;;) {
    const tasks = await queue.dequeue({ max: 10 });
    if (tasks.length === 0) break;
    payloads.push(...tasks.map(({ payload }) => (payload as ReturnType<typeof large>).name));
    await queue.settle(tasks.map(({ receipt }) => ({ receipt, outcome: "complete" as const })));
  }
  expect(payloads.toSorted()).toEqual([...names, ...names].toSorted());
  expect(without.every(({ created }) => created)).toBe(true);
  rig.now += 2 * HOUR;
  await pass();
  expect(await store.keys()).toEqual([]);
});

test("if the map of a queue is lost, the objects of all partitions stay that the registry has noted", async () => {
  const { offload } = withStore(rig);
  const queue = rig.queue({ partitions: 4, offload });
  const ids = Array.from({ length: 24 }, (_, i) => `t${i}`);
  await queue.enqueueMany(ids.map((id) => ({ payload: large(id), id })));
  const maps = "{sluice:queues}:maps";
  const map = String(await rig.command("HGET", maps, QUEUE));
  await rig.command("HDEL", maps, QUEUE);
  rig.now = START + 2 * HOUR;
  const context = { transport: rig.transport, now: () => rig.now, placesOf, until: Infinity };
  expect(await offload.removeOrphans(context)).toEqual({ checked: 24, removed: 0 });
  await rig.command("HSET", maps, QUEUE, map);
});

test("if a partition refuses its tasks, those that others have added keep their objects", async () => {
  const { offload, store } = withStore(rig);
  const options = { partitions: 4, offload };
  const queue = rig.queue(options);
  await queue.enqueue(large("first"), { id: "first" });
  await rig.operator(options).configure({ maxPending: 40 });
  // More of one slot than the share of its partition, and some of others.
  const ids = Array.from({ length: 16 }, (_, i) => (i < 12 ? `t${i}{same-slot}` : `t${i}`));
  const all = ids.map((id) => ({ payload: large(id), id }));
  await expect(rig.queue(options).enqueueMany(all)).rejects.toMatchObject({ code: "queue_full" });
  const added = [];
  for (const id of ids) {
    const found = await queue.get(id, { payload: true });
    if (!found) continue;
    expect(found.payload).toEqual(large(id));
    added.push(id);
  }
  expect(added.length).toBeGreaterThan(0);
  expect(added.length).toBeLessThan(16);
  // The objects of the others are gone.
  expect(await store.keys()).toHaveLength(1 + added.length);
  rig.now = START + 2 * HOUR;
  const { objects } = await sweep(rig.transport, { offload, now: () => rig.now });
  expect(objects).toEqual({ checked: 1 + added.length, removed: 0 });
});
