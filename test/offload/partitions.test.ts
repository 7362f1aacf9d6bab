import { expect, test } from "vitest";
import { Queue, sweep } from "../../src/index.ts";
import type { Transport } from "../../src/queue/redis/transport.ts";
import { QUEUE, START, useRig } from "../support/rig.ts";
import { large, offloading, testStore } from "./rig.ts";

const rig = useRig();
const HOUR = 3_600_000;

test("objects of tasks in all partitions stay until the tasks need them no more", async () => {
  const store = testStore(START);
  const offload = offloading(store);
  const queue = new Queue(QUEUE, { transport: rig.transport, partitions: 4, offload, now: () => rig.now });
  const names = Array.from({ length: 24 }, (_, i) => `t${i}`);
  await queue.enqueueMany(names.map((name) => ({ payload: large(name), id: name, resultTtl: 0 })));
  const without = await queue.enqueueMany(names.map((name) => ({ payload: large(name) })));
  expect(await store.keys()).toHaveLength(48);

  rig.now = START + 2 * HOUR;
  const pass = async (transport: Transport = rig.transport) =>
    (await sweep(transport, { offload, now: () => rig.now })).objects;
  expect(await pass()).toEqual({ checked: 48, removed: 0 });

  // If a map cannot be read, or is lost, no object goes.
  const maps = "{sluice:queues}:maps";
  const map = String(await rig.command("HGET", maps, QUEUE));
  await rig.command("HSET", maps, QUEUE, `2;${map}`);
  rig.now += HOUR;
  expect((await pass())?.removed ?? 0).toBe(0);
  await rig.command("HDEL", maps, QUEUE);
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
