import { describe, expect, test } from "vitest";
import { Queue, sweep } from "../../../src/index.ts";
import { copySettings } from "../../../src/queue/partitions/copy-settings.ts";
import { fetchMap } from "../../../src/queue/partitions/map-calls.ts";
import { resizeQueue } from "../../../src/queue/partitions/resize.ts";
import type { Transport } from "../../../src/queue/redis/transport.ts";
import { QUEUE, useRig } from "../../support/rig.ts";

const rig = useRig({ checkInvariants: false });

/** A new function instance, which remembers nothing. */
const instance = (partitions?: number) => {
  const transport: Transport = { send: (commands, options) => rig.transport.send(commands, options) };
  return new Queue<number>(QUEUE, { transport, partitions, now: () => rig.now });
};
const place = () => ({
  name: QUEUE,
  prefix: undefined,
  transport: rig.transport,
  now: () => rig.now,
  copySettings,
});

describe("a former partition", () => {
  test("leaves the map also if it is partition 0", async () => {
    await instance().enqueue(1, { id: "a" });
    await resizeQueue(place(), 4);
    rig.now += 80_000;
    await resizeQueue(place(), 4);
    expect((await fetchMap(place())).former).toEqual([0]);
    const [task] = await instance(4).dequeue();
    await task?.complete();
    for (let minutes = 0; minutes < 100; minutes += 10) {
      rig.now += 600_000;
      expect((await sweep(rig.transport, { now: () => rig.now })).failed).toEqual([]);
    }
    expect((await fetchMap(place())).former).toEqual([]);
  });

  test("forgets a dead letter whose id begins a new life at the new owner of its slot", async () => {
    const ids = ["a", "b", "c", "d"];
    await resizeQueue(place(), 2);
    for (const id of ids) await instance(2).enqueue(1, { id });
    for (let rejected = 0; rejected < 4; rejected++) {
      const [task] = await instance(2).dequeue();
      await task?.reject(new Error("no"));
    }
    await resizeQueue(place(), 8);
    for (const id of ids) {
      expect(await instance(4).enqueue(2, { id })).toEqual({ id, created: false });
      expect(await instance(4).enqueue(2, { id, again: true })).toEqual({ id, created: true });
      expect(await instance(4).get(id)).toMatchObject({ state: "pending" });
    }
    expect(await instance(4).counts()).toMatchObject({ pending: 4, rejected: 0 });
  });

  test("is asked also by a producer with an old map, by which nothing has moved", async () => {
    await resizeQueue(place(), 2);
    const ids = Array.from({ length: 16 }, (_, i) => `id${i}`);
    const stale = instance(2);
    await stale.enqueue(0, { id: "first" });
    await resizeQueue(place(), 8);
    for (const id of ids) expect(await instance(2).enqueue(1, { id })).toEqual({ id, created: true });
    await resizeQueue(place(), 2);
    for (const id of ids) expect(await stale.enqueue(2, { id })).toEqual({ id, created: false });
  });
});
