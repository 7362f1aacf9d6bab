import { describe, expect, test } from "vitest";
import { Operator, Queue, sweep } from "../../../src/index.ts";
import { nameOfPartition, queueKeys } from "../../../src/queue/core/keys.ts";
import { copySettings } from "../../../src/queue/partitions/copy-settings.ts";
import { fetchMap } from "../../../src/queue/partitions/map-calls.ts";
import { resizeQueue } from "../../../src/queue/partitions/resize.ts";
import type { Transport } from "../../../src/queue/redis/transport.ts";
import { QUEUE, useRig } from "../../support/rig.ts";

const rig = useRig({ checkInvariants: false });

/** The transport of a new function instance, which remembers nothing. */
const instanceTransport = (): Transport => ({
  send: (commands, options) => rig.transport.send(commands, options),
});
const instance = (partitions?: number) =>
  new Queue<number>(QUEUE, { transport: instanceTransport(), partitions, now: () => rig.now });
const instanceOperator = () =>
  new Operator(QUEUE, { transport: instanceTransport(), partitions: "stored", now: () => rig.now });

/** The records of the settings in a partition, without what each partition numbers itself. */
async function settingsIn(partition: number): Promise<Record<string, string>> {
  const { tasks } = queueKeys(nameOfPartition(QUEUE, partition));
  const [, found] = (await rig.command("HSCAN", tasks, "0", "MATCH", "~s*", "COUNT", "1000")) as [
    string,
    string[],
  ];
  const fields = found.flatMap((field, i) => (i % 2 === 0 ? [[field, found[i + 1] ?? ""] as const] : []));
  const records = fields.filter(([field]) => field === "~set" || field.startsWith("~s:"));
  return Object.fromEntries(records.map(([field, text]) => [field, text.replace(/;n=\d+/, "")]));
}
const place = () => ({
  name: QUEUE,
  prefix: undefined,
  transport: rig.transport,
  now: () => rig.now,
  copySettings,
});

/** Sweeps until the former partitions have left the map. */
async function dropFormer(): Promise<void> {
  for (let sweeps = 0; sweeps < 20 && (await fetchMap(place())).former.length > 0; sweeps++) {
    rig.now += 600_000;
    expect((await sweep(instanceTransport(), { now: () => rig.now })).failed).toEqual([]);
  }
  expect((await fetchMap(place())).former).toEqual([]);
}

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

describe("a partition that comes back to the map", () => {
  const operator = (partitions: number) =>
    new Operator(QUEUE, { transport: rig.transport, partitions, now: () => rig.now });

  test("loses the settings that it had when it left", async () => {
    await resizeQueue(place(), 8);
    await operator(8).pause();
    await operator(8).configure({ events: true });
    await operator(8).configureGroup("g", { maxWorking: 1 });
    await operator(8).configureGroup("only", { weight: 3 });
    await resizeQueue(place(), 4);
    await dropFormer();
    await instanceOperator().resume();
    await instanceOperator().configure({ events: null });
    await instanceOperator().configureGroup("g", { maxWorking: 2 });
    await instanceOperator().configureGroup("only", { weight: null });
    await resizeQueue(place(), 8);
    const [first, ...others] = await Promise.all([0, 4, 5, 6, 7].map((partition) => settingsIn(partition)));
    expect(first).toMatchObject({ "~s:g": expect.stringContaining("m=2") });
    for (const other of others) expect(other).toEqual(first);
  });

  test("loses them also if a producer with an old map brings it back", async () => {
    await resizeQueue(place(), 8);
    await operator(8).pause();
    await resizeQueue(place(), 4);
    await dropFormer();
    await instanceOperator().resume();
    await rig.command("ZADD", "sluice:queues", String(rig.now), `${QUEUE}/5`);
    await sweep(instanceTransport(), { now: () => rig.now });
    expect((await fetchMap(place())).former).toEqual([5]);
    expect(await settingsIn(5)).toEqual(await settingsIn(0));
  });
});

test("a task with a generated id and a group is found also after its partition has left the former ones", async () => {
  await resizeQueue(place(), 2);
  const ids: string[] = [];
  for (let i = 0; i < 12; i++) {
    ids.push((await instance(2).enqueue(i, { group: `g${i}`, delay: "10d" })).id);
  }
  await resizeQueue(place(), 8);
  await dropFormer();
  for (const id of ids) {
    expect(await instance(8).get(id)).toMatchObject({ state: "delayed" });
    expect(await instance(8).cancel(id)).toMatchObject({ ok: true });
  }
});
