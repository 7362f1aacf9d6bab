import { expect, test } from "vitest";
import { derivedName } from "../../../src/kernel/names/derived-ids.ts";
import { newTaskId } from "../../../src/kernel/names/ids.ts";
import { namedPlace } from "../../../src/kernel/names/slots.ts";
import { forgetMap } from "../../../src/features/partitions/map-memory.ts";
import type { Command, Transport } from "../../../src/kernel/transport.ts";
import { instances } from "../../support/instances.ts";
import { numbered } from "../../support/new-tasks.ts";
import { QUEUE, useRig } from "../../support/rig.ts";

// Calls that come late, and instances that know an old map, or none.

const rig = useRig({ checkInvariants: false });
const { instance, queueOf, map, resize, slotsIn, textIn } = instances(rig);

test("a late copy of any call of a change leaves each slot with one owner", async () => {
  await queueOf().enqueue(1, { id: "old" });
  const sent: Command[] = [];
  const recording = instance((_, commands) => sent.push(...commands));
  await resize(3, recording);
  const { owners, version } = await map();
  expect(new Set(owners).size).toBe(3);
  for (const late of sent) {
    await rig.transport.send([late]);
    // A late seal may take slots from their owner, which then gets them again from the next producer.
    for (const partition of [0, 1, 2]) {
      const foreign = (await slotsIn(partition)).filter((slot) => owners[slot] !== partition);
      expect(foreign).toEqual([]);
    }
  }
  expect((await map()).version).toBe(version);
  for (const { id } of numbered(200)) expect((await queueOf(3).enqueue(1, { id })).created).toBe(true);
});

test("a task whose id has the form of another queue's generated id is found, and a derived id names no partition", async () => {
  const queue = queueOf(8);
  for (let partition = 0; partition < 8; partition++) {
    const id = `${newTaskId()}~${partition}`;
    expect(namedPlace(id)).toBe(partition);
    await queue.enqueue(1, { id });
    expect(await queue.get(id)).toMatchObject({ id, state: "pending" });
    expect(await queue.cancel(id)).toMatchObject({ ok: true });
  }
  expect(await queue.get(`${newTaskId()}~z`)).toBe(null);
  expect(namedPlace(await derivedName("id", "q", "k"))).toBe(undefined);
});

test("a slot that changes hands between two copies of an enqueue gets its task once, without an id too", async () => {
  await resize(4);
  let copies = 0;
  // The first copy of the enqueue gets no answer. Its second one comes after the change.
  const lossy: Transport = {
    async send(commands, options) {
      const isEnqueue = commands.some((command) => "script" in command && command.keys.length === 8);
      if (isEnqueue && copies++ === 0) {
        await rig.transport.send(commands, options);
        await resize(3);
      }
      return rig.transport.send(commands, options);
    },
  };
  const group = await textIn(3, (i) => `g-${i}`);
  expect(await queueOf(4, lossy).enqueue(1, { group })).toMatchObject({ created: true });
  expect(copies).toBeGreaterThan(1);
  expect(await queueOf(4).counts()).toMatchObject({ pending: 1 });
});

test("an instance that knew the partitions uses the queue's own keys after Redis was emptied", async () => {
  await resize(4);
  const transport = instance();
  const queue = queueOf(undefined, transport);
  await queue.enqueue(1, { id: "old" });
  await rig.command("FLUSHALL");
  forgetMap({ name: QUEUE, transport });
  expect(await queue.enqueue(1, { id: "new" })).toEqual({ id: "new", created: true });
  expect(await rig.command("KEYS", "*:tasks")).toEqual([`sluice:{${QUEUE}}:tasks`]);
  expect((await queueOf().dequeue()).map(({ id }) => id)).toEqual(["new"]);
});
