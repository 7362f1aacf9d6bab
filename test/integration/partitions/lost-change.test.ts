import { describe, expect, test } from "vitest";
import { Operator, Producer, Queue, Schedules, sweep } from "../../../src/index.ts";
import { slotOf } from "../../../src/queue/core/partition-slots.ts";
import { copySettings } from "../../../src/queue/partitions/copy-settings.ts";
import { fetchMap } from "../../../src/queue/partitions/map-calls.ts";
import { owning } from "../../../src/queue/partitions/map.ts";
import { resizeQueue } from "../../../src/queue/partitions/resize.ts";
import type { Transport } from "../../../src/queue/redis/transport.ts";
import { QUEUE, useRig } from "../../support/rig.ts";

// Redis has lost all that it had of a queue with partitions: its map, its markers, and the notes of its partitions.
// Processes go on that remember the map.

const rig = useRig({ checkInvariants: false });
const instance = (): Transport => ({ send: (commands, options) => rig.transport.send(commands, options) });
const over = (transport: Transport, partitions?: number) => ({ transport, partitions, now: () => rig.now });
const place = () => ({
  name: QUEUE,
  prefix: undefined,
  transport: rig.transport,
  now: () => rig.now,
  copySettings,
});
const map = () => fetchMap(place());
const names = Array.from({ length: 12 }, (_, i) => `order-${i}`);

/** Takes all tasks as a process that has never heard of the partitions. */
async function drainAll(): Promise<string[]> {
  const queue = new Queue(QUEUE, over(instance()));
  const ids: string[] = [];
  for (;;) {
    const tasks = await queue.dequeue({ max: 50 });
    if (tasks.length === 0) return ids.toSorted();
    await queue.settle(tasks.map(({ receipt }) => ({ receipt, outcome: "complete" as const })));
    ids.push(...tasks.map(({ id }) => id));
  }
}

describe.each([undefined, 4])(
  "a producer that declares %s partitions, and remembers the map",
  (partitions) => {
    test.each([
      ["with ids", () => names.map((id) => ({ payload: 1, id }))],
      ["without ids", () => names.map(() => ({ payload: 1 }))],
      ["with dedup keys", () => names.map((key) => ({ payload: 1, dedup: { key, window: "1h" as const } }))],
      ["of groups", () => names.map((group) => ({ payload: 1, group }))],
    ])("adds tasks %s, one by one and together, and each is found once", async (kind, tasks) => {
      await resizeQueue(place(), 4);
      const transport = instance();
      const producer = new Producer(QUEUE, over(transport, partitions));
      // For a minute a process notes no partition again in a registry that is lost. Consumers do not visit it then, if
      // the queue has a map again, or it took tasks without a slot.
      if (partitions !== undefined || kind === "without ids")
        await new Queue(QUEUE, over(transport)).counts();
      else await producer.enqueue(1);
      await rig.command("FLUSHALL");
      const added: string[] = [];
      for (const { payload, ...options } of tasks())
        added.push((await producer.enqueue(payload, options)).id);
      const again = await producer.enqueueMany(tasks());
      added.push(...again.filter(({ created }) => created).map(({ id }) => id));
      expect(await drainAll()).toEqual(added.toSorted());
      await sweep(rig.transport, { now: () => rig.now });
      expect(await drainAll()).toEqual([]);
    });
  },
);

test("other calls of processes that remember the map end well, and what they write stays", async () => {
  await resizeQueue(place(), 4);
  const transport = instance();
  const queue = new Queue(QUEUE, over(transport));
  const operator = new Operator(QUEUE, over(transport));
  await queue.enqueue(1);
  const [held] = await queue.dequeue();
  await rig.command("FLUSHALL");
  expect(await held?.complete()).toMatchObject({ ok: false });
  expect([...(await queue.dequeue({ max: 5 }))]).toEqual([]);
  expect(await queue.counts()).toMatchObject({ pending: 0 });
  expect(await queue.get("order-1")).toBe(null);
  await operator.configure({ maxPending: 7 });
  await new Schedules(QUEUE, over(transport)).put("s", { every: "1h", payload: 1 });
  for (let i = 0; i < 2; i++) await sweep(rig.transport, { now: () => rig.now });
  const other = over(instance());
  expect(await new Operator(QUEUE, other).settings()).toMatchObject({ maxPending: 7 });
  expect(await new Schedules(QUEUE, other).get("s")).toMatchObject({ name: "s" });
});

test("a schedule that such a process puts, and its tasks, are found after a sweep", async () => {
  await resizeQueue(place(), 4);
  const transport = instance();
  await new Queue(QUEUE, over(transport)).counts();
  await rig.command("FLUSHALL");
  await new Schedules(QUEUE, over(transport)).put("s", { every: "1m", from: rig.now + 60_000, payload: 1 });
  expect(await sweep(rig.transport, { now: () => rig.now })).toMatchObject({ scheduled: 0, failed: [] });
  expect(await new Schedules(QUEUE, over(instance())).get("s")).toMatchObject({ name: "s" });
  rig.now += 60_000;
  expect(await sweep(rig.transport, { now: () => rig.now })).toMatchObject({ scheduled: 1, failed: [] });
  expect(await drainAll()).toEqual([`s.${rig.now}`]);
});

test.each([
  ["the marker", []],
  ["neither markers nor partition 0", ["sluice:{emails}:*", "sluice:{emails}/0:*"]],
])("a sweep finds the tasks of a queue that has lost its map, and has %s", async (_, lost) => {
  await resizeQueue(place(), 4);
  const tasks = names.map((id) => ({ payload: 1, id }));
  await new Queue(QUEUE, over(instance(), 4)).enqueueMany(tasks);
  const { owners } = await map();
  await rig.command("HDEL", "{sluice:queues}:maps", QUEUE);
  await rig.command("ZREM", "sluice:queues", `/${QUEUE}`);
  for (const pattern of lost) {
    const keys = (await rig.command("KEYS", pattern)) as string[];
    await rig.command("DEL", ...keys);
  }
  const left = names.filter((id) => lost.length === 0 || owners[slotOf(id)] !== 0);
  expect(await sweep(rig.transport, { now: () => rig.now })).toMatchObject({ failed: [] });
  expect(owning(await map())).toEqual([0, 1, 2, 3]);
  expect(await drainAll()).toEqual(left.toSorted());
});

test("a note of the registry alone gives a queue no partitions", async () => {
  await new Queue(QUEUE, over(instance())).enqueue(1, { id: "x" });
  await rig.command("ZADD", "sluice:queues", String(rig.now), `${QUEUE}/3`);
  expect(await sweep(rig.transport, { now: () => rig.now })).toMatchObject({ failed: [] });
  expect((await map()).text).toBe("");
  expect(owning(await map())).toEqual([0]);
  expect(await drainAll()).toEqual(["x"]);
});
