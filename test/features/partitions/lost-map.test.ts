import { describe, expect, test } from "vitest";
import { slotOf } from "../../../src/kernel/names/slots.ts";
import { spread, writeMap } from "../../../src/features/partitions/map.ts";
import type { Command } from "../../../src/kernel/transport.ts";
import { instances } from "../../support/instances.ts";
import { named } from "../../support/new-tasks.ts";
import { QUEUE, useRig } from "../../support/rig.ts";

// A replica takes over that had not got the last maps: an earlier map is there again, or none. What the partitions
// have noted of the lost ones stays, because they are on other nodes.

const rig = useRig({ checkInvariants: false });
const { instance, queueOf, map, resize, slotsIn, drainAll } = instances(rig);
const MAPS = "{sluice:queues}:maps";
const ids = Array.from({ length: 120 }, (_, i) => `order-${i}`);

/** Loses all maps after this one. */
const comeBack = (text: string) =>
  text === "" ? rig.command("HDEL", MAPS, QUEUE) : rig.command("HSET", MAPS, QUEUE, text);

/** Which partitions note that they own the slot of each id. */
async function notedOwners(): Promise<number[][]> {
  const all = await Promise.all(Array.from({ length: 62 }, (_, partition) => slotsIn(partition)));
  const noted = all.map((slots) => new Set(slots));
  return ids.map((id) => noted.flatMap((slots, partition) => (slots.has(slotOf(id)) ? [partition] : [])));
}

describe.each([
  { lost: [8], change: undefined },
  { lost: [8], change: 5 },
  { lost: [3], change: 8 },
  { lost: [8, 3], change: 6 },
  { lost: [8, 2], change: undefined },
])("if maps of $lost partitions are lost, then a change to $change", ({ lost, change }) => {
  test.each(["no map", "the map of two partitions", "a map that is being changed"])(
    "%s: no id is added twice, and each slot has one owner, also after late copies of the lost changes",
    async (kind) => {
      const two = await resize(2);
      let before = kind === "no map" ? "" : two.text;
      if (kind === "a map that is being changed") {
        const next = spread(two.owners, 5);
        before = writeMap({ ...two, version: two.version + 1, next, isPreparing: false }).text;
        await comeBack(before);
      }
      const late: Command[] = [];
      const informed = queueOf(2);
      const old: string[] = [];
      for (const count of lost) {
        await resize(
          count,
          instance((_, commands) => late.push(...commands)),
        );
        const some = ids.slice(old.length, old.length + 40);
        await informed.enqueueMany(named(some));
        old.push(...some);
      }
      await comeBack(before);
      if (change !== undefined) await resize(change);

      const queues = [queueOf(2), informed, queueOf(2)];
      const first = await Promise.all(queues.map((queue) => queue.enqueueMany(named(ids))));
      const added = ids.map((_, i) => first.filter((results) => results[i]?.created).length);
      expect(added).toEqual(ids.map((id) => (old.includes(id) ? 0 : 1)));
      const { owners, next } = await map();
      await rig.transport.send(late);
      expect(next).toBe(undefined);
      expect(await notedOwners()).toEqual(ids.map((id) => [owners[slotOf(id)]]));
      for (const queue of [informed, queueOf(2)]) {
        const again = await queue.enqueueMany(named(ids));
        expect(again.filter(({ created }) => created)).toEqual([]);
        const found = await Promise.all(ids.map((id) => queue.get(id)));
        expect(found).toMatchObject(ids.map((id) => ({ id, state: "pending" })));
      }
      expect(await drainAll()).toEqual(ids.toSorted());
    },
  );
});
