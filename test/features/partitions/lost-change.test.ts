import { expect, test } from "vitest";
import { Producer } from "../../../src/index.ts";
import { slotOf } from "../../../src/kernel/names/slots.ts";
import { owning } from "../../../src/features/partitions/map.ts";
import { instances } from "../../support/instances.ts";
import { named } from "../../support/new-tasks.ts";
import { QUEUE, useRig } from "../../support/rig.ts";

// Redis has lost all that it had of a queue with partitions: its map, its markers, and the notes of its partitions.
// Processes go on that remember the map.

const rig = useRig({ checkInvariants: false });
const { instance, over, queueOf, operatorOf, schedulesOf, map, resize, sweepAll, drainAll } = instances(rig);
const names = Array.from({ length: 12 }, (_, i) => `order-${i}`);

const kinds = {
  "with ids": () => named(names),
  "without ids": () => names.map(() => ({ payload: 1 })),
  "with dedup keys": () => names.map((key) => ({ payload: 1, dedup: { key, window: "1h" as const } })),
  "of groups": () => names.map((group) => ({ payload: 1, group })),
};
test.each(
  Object.entries(kinds).flatMap(([kind, tasks]) =>
    [undefined, 4].map((partitions) => ({ kind, tasks, partitions })),
  ),
)(
  "a producer that declares $partitions partitions, and remembers the map, adds tasks $kind, one by one and together, and each is found once",
  async ({ kind, tasks, partitions }) => {
    await resize(4);
    const transport = instance();
    const producer = new Producer(QUEUE, over(transport, partitions));
    // For a minute a process notes no partition again in a registry that is lost. Consumers do not visit it then, if
    // the queue has a map again, or it took tasks without a slot.
    if (partitions !== undefined || kind === "without ids") await queueOf(undefined, transport).counts();
    else await producer.enqueue(1);
    await rig.command("FLUSHALL");
    const added: string[] = [];
    for (const { payload, ...options } of tasks()) added.push((await producer.enqueue(payload, options)).id);
    const again = await producer.enqueueMany(tasks());
    added.push(...again.filter(({ created }) => created).map(({ id }) => id));
    expect(await drainAll()).toEqual(added.toSorted());
    await sweepAll();
    expect(await drainAll()).toEqual([]);
  },
);

test("other calls of processes that remember the map end well, and what they write stays", async () => {
  await resize(4);
  const transport = instance();
  const queue = queueOf(undefined, transport);
  await queue.enqueue(1);
  const [held] = await queue.dequeue();
  await rig.command("FLUSHALL");
  expect(await held?.complete()).toMatchObject({ ok: false });
  expect([...(await queue.dequeue({ max: 5 }))]).toEqual([]);
  expect(await queue.counts()).toMatchObject({ pending: 0 });
  expect(await queue.get("order-1")).toBe(null);
  await operatorOf(undefined, transport).configure({ maxPending: 7 });
  await schedulesOf(transport).put("s", { every: "1m", from: rig.now + 60_000, payload: 1 });
  for (let i = 0; i < 2; i++) expect(await sweepAll()).toMatchObject({ scheduled: 0 });
  expect(await operatorOf().settings()).toMatchObject({ maxPending: 7 });
  expect(await schedulesOf().get("s")).toMatchObject({ name: "s" });
  rig.now += 60_000;
  expect(await sweepAll()).toMatchObject({ scheduled: 1 });
  expect(await drainAll()).toEqual([`s.${rig.now}`]);
});

test.each([
  ["the marker", []],
  ["neither markers nor partition 0", ["sluice:{emails}:*", "sluice:{emails}/0:*"]],
])("a sweep finds the tasks of a queue that has lost its map, and has %s", async (_, lost) => {
  await resize(4);
  await queueOf(4).enqueueMany(named(names));
  const { owners } = await map();
  await rig.command("HDEL", "{sluice:queues}:maps", QUEUE);
  await rig.command("ZREM", "sluice:queues", `/${QUEUE}`);
  for (const pattern of lost) {
    const keys = (await rig.command("KEYS", pattern)) as string[];
    await rig.command("DEL", ...keys);
  }
  const left = names.filter((id) => lost.length === 0 || owners[slotOf(id)] !== 0);
  await sweepAll();
  expect(owning(await map())).toEqual([0, 1, 2, 3]);
  expect(await drainAll()).toEqual(left.toSorted());
});

test.each([
  ["of a partition", `${QUEUE}/3`],
  ["of how many there are", `/${QUEUE}`],
])("a note of the registry alone, %s, gives a queue no partitions", async (_, note) => {
  await queueOf().enqueueMany(named(names));
  await rig.command("ZADD", "sluice:queues", "2", note);
  for (let i = 0; i < 2; i++) {
    await sweepAll();
    expect(await map()).toMatchObject({ text: "" });
    expect(await rig.command("TYPE", `sluice:{${QUEUE}}:tasks`)).toBe("hash");
  }
  expect(await drainAll()).toEqual(names.toSorted());
});
