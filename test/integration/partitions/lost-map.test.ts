import { nameOfPartition, queueKeys } from "../../../src/queue/core/keys.ts";
import { beforeEach, describe, expect, test } from "vitest";
import { Queue, sweep } from "../../../src/index.ts";
import { slotOf } from "../../../src/queue/core/partition-slots.ts";
import { copySettings } from "../../../src/queue/partitions/copy-settings.ts";
import { fetchMap } from "../../../src/queue/partitions/map-calls.ts";
import { spread, writeMap } from "../../../src/queue/partitions/map.ts";
import { resizeQueue } from "../../../src/queue/partitions/resize.ts";
import type { Command, Transport } from "../../../src/queue/redis/transport.ts";
import { QUEUE, useRig } from "../../support/rig.ts";

// A replica takes over that had not got the last maps: an earlier map is there again, or none. What the partitions
// have noted of the lost ones stays, because they are on other nodes.

const rig = useRig({ checkInvariants: false });
const MAPS = "{sluice:queues}:maps";
/** A function instance with a memory of its own. */
const instance = () => {
  const transport: Transport = { send: (commands, options) => rig.transport.send(commands, options) };
  return new Queue<number>(QUEUE, { transport, partitions: 2, now: () => rig.now });
};
const place = () => ({
  name: QUEUE,
  prefix: undefined,
  transport: rig.transport,
  now: () => rig.now,
  copySettings,
});
const resize = (count: number) => resizeQueue(place(), count);
/** Changes the number of partitions, and returns what was sent for it. */
async function recorded(count: number): Promise<Command[]> {
  const sent: Command[] = [];
  const transport: Transport = {
    send(commands, options) {
      sent.push(...commands);
      return rig.transport.send(commands, options);
    },
  };
  await resizeQueue({ ...place(), transport }, count);
  return sent;
}
const map = () => fetchMap(place());
const ids = Array.from({ length: 120 }, (_, i) => `order-${i}`);
const add = (queue: Queue<number>, names: readonly string[]) =>
  queue.enqueueMany(names.map((id) => ({ payload: 1, id })));

/** Loses all maps after this one. */
const comeBack = (text: string) =>
  text === "" ? rig.command("HDEL", MAPS, QUEUE) : rig.command("HSET", MAPS, QUEUE, text);

/** Which partitions note that they own the slot of each id. */
async function notedOwners(): Promise<number[][]> {
  const names = Array.from({ length: 62 }, (_, partition) => nameOfPartition(QUEUE, partition));
  const notes = await Promise.all(names.map((name) => rig.command("HGET", queueKeys(name).tasks, "~slots")));
  const owns = (note: unknown, slot: number) => {
    const digit = (note as string | null)?.split(";")[2]?.[Math.floor(slot / 4)] ?? "0";
    return ((Number.parseInt(digit, 16) >> (slot % 4)) & 1) === 1;
  };
  return ids.map((id) => names.flatMap((_, i) => (owns(notes[i], slotOf(id)) ? [i] : [])));
}

async function drain(): Promise<string[]> {
  const consumer = instance();
  const done: string[] = [];
  for (;;) {
    const tasks = await consumer.dequeue({ max: 50 });
    if (tasks.length === 0) return done.toSorted();
    await consumer.settle(tasks.map(({ receipt }) => ({ receipt, outcome: "complete" as const })));
    done.push(...tasks.map(({ id }) => id));
  }
}

describe.each([
  { lost: [8], change: undefined },
  { lost: [8], change: 5 },
  { lost: [3], change: 8 },
  { lost: [8, 3], change: 6 },
  { lost: [8, 2], change: undefined },
])("if maps of $lost partitions are lost, then a change to $change", ({ lost, change }) => {
  describe.each(["no map", "the map of two partitions", "a map that is being changed"])("%s", (kind) => {
    let before = "";
    let informed = instance();
    let sent: Command[] = [];

    beforeEach(async () => {
      await resize(2);
      const two = await map();
      before = kind === "no map" ? "" : two.text;
      if (kind === "a map that is being changed") {
        before = writeMap({
          ...two,
          version: two.version + 1,
          next: spread(two.owners, 5),
          isPreparing: false,
        }).text;
        await comeBack(before);
      }
      sent = [];
      informed = instance();
      for (const [i, count] of lost.entries()) {
        sent.push(...(await recorded(count)));
        await add(informed, ids.slice(i * 40, (i + 1) * 40));
      }
      await comeBack(before);
      if (change !== undefined) await resize(change);
    });

    test("adds no id twice, by whichever map a producer knows", async () => {
      const first = await Promise.all([add(instance(), ids), add(informed, ids), add(instance(), ids)]);
      const isOld = (i: number) => i < 40 * lost.length;
      const added = ids.map((_, i) => first.filter((results) => results[i]?.created).length);
      expect(added).toEqual(ids.map((_, i) => (isOld(i) ? 0 : 1)));
      for (const queue of [informed, instance()]) {
        expect((await add(queue, ids)).filter(({ created }) => created)).toEqual([]);
        const found = await Promise.all(ids.map((id) => queue.get(id)));
        expect(found).toMatchObject(ids.map((id) => ({ id, state: "pending" })));
      }
      expect(await drain()).toEqual(ids.toSorted());
    });

    test("leaves each slot with one owner, and the queue with all its tasks", async () => {
      await add(instance(), ["a", "b", "c"]);
      const { owners, next } = await map();
      // Copies of the calls of the lost changes come late.
      await rig.transport.send(sent);
      expect(next).toBe(undefined);
      expect(await notedOwners()).toEqual(ids.map((id) => [owners[slotOf(id)]]));
      expect(await drain()).toEqual([...ids.slice(0, 40 * lost.length), "a", "b", "c"].toSorted());
    });
  });
});

test("sweeps forget in time who had slots under the lost map", async () => {
  await resize(2);
  const { text } = await map();
  await resize(8);
  await add(instance(), ids);
  await comeBack(text);
  await add(instance(), ["a", "b", "c"]);
  expect((await map()).former).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
  await drain();
  for (let hours = 0; hours < 60; hours++) {
    rig.now += 3_600_000;
    expect((await sweep(rig.transport, { now: () => rig.now })).failed).toEqual([]);
  }
  expect(await map()).toMatchObject({ next: undefined, former: [] });
});
