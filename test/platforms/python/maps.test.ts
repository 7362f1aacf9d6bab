// What Python's calls do about a map of the partitions that is missing or lost.
import { expect, test } from "vitest";
import { Operator } from "../../../src/index.ts";
import { queueKeys } from "../../../src/kernel/names/keys.ts";
import { slotOf } from "../../../src/kernel/names/slots.ts";
import { owning, UNPARTITIONED } from "../../../src/features/partitions/map.ts";
import { renameKeys } from "../../../src/features/partitions/marker.ts";
import { fetchMap } from "../../../src/features/partitions/map-calls.ts";
import { QUEUE, useRig } from "../../support/rig.ts";
import { useBothClients } from "./both-clients.ts";

const rig = useRig();
const both = useBothClients(rig);

const idsTo = (count: number) => Array.from({ length: count }, (_, i) => `t-${i}`);
const fill = (partitions: number, ids: readonly string[]) =>
  both.queueOf(partitions).enqueueMany(ids.map((id) => ({ payload: id, id })));

test("a marker whose map was lost gets one above what the partitions know", async () => {
  await both.resize(4);
  await fill(4, idsTo(20));
  await rig.command("HDEL", "{sluice:queues}:maps", QUEUE);
  const added = await both.python(`[queue.enqueue(1, id=f"t-{i}")[1] for i in range(21)]`);
  expect(added).toEqual([...Array<boolean>(20).fill(false), true]);
  const map = await fetchMap(both.place);
  expect(map).toMatchObject({ version: 2, next: undefined, former: [0, 1, 2, 3], isPreparing: false });
  expect(owning(map)).toEqual([0, 1, 2, 3]);
});

test("a first map of Python's finds what other nodes have if that of the map and of partition 0 is empty", async () => {
  const ids = idsTo(40);
  await both.resize(2);
  await fill(2, ids);
  const before = await both.partitionsOfIds();
  const keys = (await rig.command("KEYS", "*")) as string[];
  await rig.command("DEL", ...keys.filter((key) => !key.includes("{emails/1}")));
  await renameKeys(both.place, 4);
  const added = await both.python(`[queue.enqueue(1, id=f"t-{i}")[1] for i in range(40)]`);
  expect(added).toEqual(ids.map((id) => before.get(id) === 0));
  expect(await both.partitionsOfIds()).toHaveProperty("size", 40);
  expect(await fetchMap(both.place)).toMatchObject({ version: 2, next: undefined, former: [0, 1] });
  const taken = await both.python(`sorted(task.id for _ in range(9) for task in queue.dequeue(max=10))`);
  expect(taken).toEqual(ids.toSorted());
});

test("a client that has known the partitions notices that their map was lost, and that Redis is empty", async () => {
  await both.resize(4);
  await fill(4, idsTo(20));
  const known = await both.python(`
    knows = Queue(redis, "${QUEUE}")
    known = [knows.enqueue(1, id="t-0")[1]]
    redis.command("HDEL", redis.maps, "${QUEUE}")
    knows._partitions.forget()
    known += [knows.enqueue(1, id=f"t-{i}")[1] for i in range(21)]
    redis.command("FLUSHALL")
    knows._partitions.forget()
    report([*known, knows.enqueue(1, id="anew")[1], len(knows.dequeue())])
  `);
  expect(known).toEqual([...Array<boolean>(21).fill(false), true, true, 1]);
  expect(await rig.command("KEYS", "*tasks")).toEqual([`sluice:{${QUEUE}}:tasks`]);
});

test("new partitions of a queue with settings wait for the library, and the queue works until then", async () => {
  await new Operator(QUEUE, { transport: both.place.transport }).configure({ maxPending: 100 });
  await renameKeys(both.place, 2);
  const [added, taken] = await both.python(`
    added = [queue.enqueue(i, id=f"t-{i}") for i in range(9)]
    report([added, len([task for _ in range(2) for task in Queue(redis, "${QUEUE}").dequeue(max=9)])])
  `);
  expect([added, taken]).toEqual([idsTo(9).map((id) => [id, true]), 9]);
  const map = await fetchMap(both.place);
  expect(map).toMatchObject({ version: 1, owners: UNPARTITIONED.owners, isPreparing: true });
  await both.resize(2);
  expect(await fetchMap(both.place)).toMatchObject({ owners: map.next, next: undefined, former: [0] });
});

test("an owner that has lost its note gets it again, and a lost map a later version", async () => {
  await both.resize(4);
  const isAdded = (id: string) => both.python(`queue.enqueue(1, id="${id}")[1]`);
  const map = await fetchMap(both.place);
  const tasksOf = (partition: number) => queueKeys(`${QUEUE}/${partition}`).tasks;
  await rig.command("HDEL", tasksOf(map.owners[slotOf("a")] as number), "~slots");
  expect(await isAdded("a")).toBe(true);
  expect(await fetchMap(both.place)).toEqual(map);

  for (const partition of [0, 1, 2, 3])
    await rig.command("HSET", tasksOf(partition), "~slots", `1;9;${"0".repeat(64)}`);
  expect(await isAdded("b")).toBe(true);
  const later = { version: 10, owners: map.owners, next: undefined, former: [0, 1, 2, 3] };
  expect(await fetchMap(both.place)).toMatchObject(later);
});
