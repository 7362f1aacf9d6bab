import { beforeEach, describe, expect, test } from "vitest";
import { Queue } from "../../../src/index.ts";
import { derivedName, newTaskId } from "../../../src/queue/core/ids.ts";
import { nameOfPartition, queueKeys } from "../../../src/queue/core/keys.ts";
import { namedPartition, slotOf } from "../../../src/queue/core/partition-slots.ts";
import { copySettings } from "../../../src/queue/partitions/copy-settings.ts";
import { fetchMap } from "../../../src/queue/partitions/map-calls.ts";
import { forgetMap, placeOfMap } from "../../../src/queue/partitions/map-memory.ts";
import { resizeQueue } from "../../../src/queue/partitions/resize.ts";
import type { Command, Transport } from "../../../src/queue/redis/transport.ts";
import { partitionSpaces } from "../../support/partition-spaces.ts";
import { QUEUE, useRig } from "../../support/rig.ts";

// Calls that come late, and instances that know an old map, or none.

const rig = useRig({ checkInvariants: false });
const instance = (): Transport => ({ send: (commands, options) => rig.transport.send(commands, options) });
const queueOf = (transport: Transport, partitions?: number) =>
  new Queue(QUEUE, { transport, partitions, now: () => rig.now });
const place = (transport = rig.transport) => ({
  name: QUEUE,
  prefix: undefined,
  transport,
  now: () => rig.now,
  copySettings,
});
const resize = (count: number) => resizeQueue(place(), count);
const ids = Array.from({ length: 200 }, (_, i) => `order-${i}`);
const ownersIn = async (partition: number) =>
  String(await rig.command("HGET", queueKeys(nameOfPartition(QUEUE, partition)).tasks, "~slots"));

describe("a producer whose map is two changes old", () => {
  beforeEach(() => resize(1));

  test("adds no id twice, if a slot went to another partition and came back", async () => {
    await resize(4);
    const stale = queueOf(instance(), 4);
    await stale.enqueue(0, { id: "first" });
    await resize(8);
    const added = await queueOf(instance(), 8).enqueueMany(ids.map((id) => ({ payload: 1, id })));
    expect(added.every(({ created }) => created)).toBe(true);
    await resize(4);
    const again = await stale.enqueueMany(ids.map((id) => ({ payload: 2, id })));
    expect(again).toEqual(ids.map((id) => ({ id, created: false })));
    for (const id of ids) expect((await stale.enqueue(3, { id })).created).toBe(false);
  });
});

test("a late copy of any call of a change leaves each slot with one owner", async () => {
  await queueOf(instance()).enqueue(1, { id: "old" });
  const sent: Command[] = [];
  const recording: Transport = {
    send(commands, options) {
      sent.push(...commands);
      return rig.transport.send(commands, options);
    },
  };
  await resizeQueue(place(recording), 3);
  const { owners, version } = await fetchMap(place());
  expect(new Set(owners).size).toBe(3);
  for (const late of sent) {
    await rig.transport.send([late]);
    const notes = await Promise.all([0, 1, 2].map(ownersIn));
    const owning = owners.map((_, slot) =>
      [0, 1, 2].filter((partition) => {
        const digit = notes[partition]?.split(";")[2]?.[Math.floor(slot / 4)] ?? "0";
        return (Number.parseInt(digit, 16) >> (slot % 4)) & 1;
      }),
    );
    // A late seal may take slots from their owner, which then gets them again from the next producer.
    expect(owning.map((all, slot) => all.filter((one) => one !== owners[slot]))).toEqual(
      owners.map(() => []),
    );
  }
  expect((await fetchMap(place())).version).toBe(version);
  for (const id of ids) expect((await queueOf(instance(), 3).enqueue(1, { id })).created).toBe(true);
});

test("a task whose id has the form of another queue's generated id is found", async () => {
  const queue = queueOf(instance(), 8);
  for (let partition = 0; partition < 8; partition++) {
    const id = `${newTaskId()}~${partition}`;
    expect(namedPartition(id)).toBe(partition);
    await queue.enqueue(1, { id });
    expect(await queue.get(id)).toMatchObject({ id, state: "pending" });
    expect(await queue.cancel(id)).toMatchObject({ ok: true });
  }
  expect(await queue.get(`${newTaskId()}~z`)).toBe(null);
});

describe("a dequeue that is sent again by another instance", () => {
  test.each(["token-01", "token-07", "token-23", "token-42"])(
    "gets the same tasks (%s, law 5)",
    async (token) => {
      const queue = queueOf(instance(), 8);
      await resize(8);
      // Some partitions were never in use; an instance that has read the registry knows that.
      const used = ids.filter((id) => slotOf(id) % 3 === 0).slice(0, 40);
      await queue.enqueueMany(used.map((id) => ({ payload: 1, id })));
      const first = queueOf(instance(), 8);
      await first.dequeue({ max: 1 });
      const leased = await first.dequeue({ max: 3, token });
      const again = await queueOf(instance(), 8).dequeue({ max: 3, token });
      expect(again.map(({ receipt }) => receipt)).toEqual(leased.map(({ receipt }) => receipt));
      expect(leased.length).toBeGreaterThan(0);
    },
  );
});

test("derived ids have a slot, and name no partition", async () => {
  expect(namedPartition(await derivedName("id", "q", "k"))).toBe(undefined);
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
  const { owners } = await fetchMap(place());
  const group = Array.from({ length: 300 }, (_, i) => `g-${i}`).find(
    (name) => owners[slotOf(name)] === 3,
  ) as string;
  expect(await queueOf(lossy, 4).enqueue(1, { group })).toMatchObject({ created: true });
  expect(copies).toBeGreaterThan(1);
  expect(await queueOf(instance(), 4).counts()).toMatchObject({ pending: 1 });
});

test("an enqueue whose answer was lost before the queue got partitions adds nothing again, also with generated ids", async () => {
  let loses = false;
  const transport: Transport = {
    async send(commands, options) {
      const outcomes = await rig.transport.send(commands, options);
      if (!loses) return outcomes;
      loses = false;
      await resize(4);
      return rig.transport.send(commands, options);
    },
  };
  const queue = queueOf(transport);
  await queue.enqueue(0, { id: "first" });
  loses = true;
  const added = await queue.enqueueMany(ids.slice(0, 20).map((group) => ({ group, payload: 1 })));
  expect(added.every(({ created }) => created)).toBe(true);
  const places = [...partitionSpaces(await rig.keySpace(), QUEUE)].flatMap(([partition, { tasks }]) =>
    [...tasks.keys()].filter((field) => !/^[.~]/.test(field)).map((id) => [id, partition] as const),
  );
  expect(new Map(places)).toEqual(new Map(["first", ...added.map(({ id }) => id)].map((id) => [id, 0])));
  expect(places).toHaveLength(21);
});

test("a producer that knew the partitions adds no id twice after their map was lost", async () => {
  await resize(4);
  const transport = instance();
  const queue = queueOf(transport);
  const tasks = ids.map((id) => ({ id, payload: 1 }));
  await queue.enqueueMany(tasks);
  await rig.command("HDEL", "{sluice:queues}:maps", QUEUE);
  forgetMap(transport, placeOfMap(QUEUE, undefined));
  expect(await queue.enqueueMany(tasks)).toEqual(ids.map((id) => ({ id, created: false })));
  expect(await fetchMap(place())).toMatchObject({ version: 2, next: undefined });
});

test("an instance that knew the partitions uses the queue's own keys after Redis was emptied", async () => {
  await resize(4);
  const transport = instance();
  const queue = queueOf(transport);
  await queue.enqueue(1, { id: "old" });
  await rig.command("FLUSHALL");
  forgetMap(transport, placeOfMap(QUEUE, undefined));
  expect(await queue.enqueue(1, { id: "new" })).toEqual({ id: "new", created: true });
  expect(await rig.command("KEYS", "*:tasks")).toEqual([`sluice:{${QUEUE}}:tasks`]);
  expect((await queueOf(instance()).dequeue()).map(({ id }) => id)).toEqual(["new"]);
});
