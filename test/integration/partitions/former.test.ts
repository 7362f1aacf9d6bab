import { describe, expect, test } from "vitest";
import { Operator, Queue, SluiceError, sweep } from "../../../src/index.ts";
import { nameOfPartition, queueKeys } from "../../../src/queue/core/keys.ts";
import { derivedTaskIds } from "../../../src/queue/core/ids.ts";
import { slotOf } from "../../../src/queue/core/partition-slots.ts";
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

  test("stays in the map for as long as producers may use an older one", async () => {
    await resizeQueue(place(), 2);
    const stale = instance(2);
    expect(await stale.dequeue()).toHaveLength(0);
    await resizeQueue(place(), 1);
    await sweep(rig.transport, { now: () => rig.now });
    // Of two calls with so many tasks each goes to another partition.
    const tasks = Array.from({ length: 100 }, (_, payload) => ({ payload }));
    const added = [await stale.enqueueMany(tasks), await stale.enqueueMany(tasks)];
    expect(new Set(added.map(([task]) => task?.id.slice(-1)))).toEqual(new Set(["0", "1"]));
    expect(await instance().counts()).toMatchObject({ pending: 200 });
    rig.now += 120_000;
    await sweep(rig.transport, { now: () => rig.now });
    expect(await instance().counts()).toMatchObject({ pending: 200 });
  });

  /** Ids whose last life has ended, in a partition that does not own their slots any more. */
  async function endedIds(end: "complete" | "reject"): Promise<string[]> {
    const ids = Array.from({ length: 12 }, (_, i) => `id${i}`);
    await resizeQueue(place(), 2);
    for (const id of ids) await instance(2).enqueue(1, { id });
    for (let ended = 0; ended < ids.length; ended++) {
      const [task] = await instance(2).dequeue();
      await (end === "complete" ? task?.complete() : task?.reject(new Error("no")));
    }
    const { owners: before } = await fetchMap(place());
    await resizeQueue(place(), 8);
    const { owners } = await fetchMap(place());
    const moved = ids.filter((id) => owners[slotOf(id)] !== before[slotOf(id)]);
    expect(moved.length).toBeGreaterThan(4);
    return moved;
  }
  /** Which partitions have a record of an id. */
  async function having(id: string): Promise<number[]> {
    const found: number[] = [];
    for (let partition = 0; partition < 8; partition++) {
      const { tasks } = queueKeys(nameOfPartition(QUEUE, partition));
      if ((await rig.command("HEXISTS", tasks, id)) === 1) found.push(partition);
    }
    return found;
  }

  test.each(["reject", "complete"] as const)(
    "begins the new life of a dead letter itself, and its owner that of another task: %s",
    async (end) => {
      const [id = ""] = await endedIds(end);
      const before = await having(id);
      expect(await instance(4).enqueue(2, { id })).toEqual({ id, created: false });
      const woken: string[] = [];
      const producer = new Queue<number>(QUEUE, {
        transport: instanceTransport(),
        partitions: 4,
        now: () => rig.now,
        wake: { wake: (queue) => woken.push(queue) },
      });
      expect(await producer.enqueue(2, { id, again: true })).toEqual({ id, created: true });
      expect(woken).toEqual([QUEUE]);
      expect(await instance(4).get(id, { payload: true })).toMatchObject({ state: "pending", payload: 2 });
      const owner = (await fetchMap(place())).owners[slotOf(id)];
      expect(await having(id)).toEqual(end === "reject" ? before : [owner]);
    },
  );

  test.each(["id%", "An0therIdOf22Letters0%"])(
    "is asked for %s as long as its new life there goes on",
    async (form) => {
      const ids = Array.from({ length: 10 }, (_, i) => form.replace("%", String(i)));
      await resizeQueue(place(), 2);
      for (const id of ids) await instance(2).enqueue(1, { id });
      for (const task of await instance(2).dequeue({ max: 10 })) await task.reject(new Error("no"));
      for (const task of await instance(2).dequeue({ max: 10 })) await task.reject(new Error("no"));
      const { owners: before } = await fetchMap(place());
      await resizeQueue(place(), 8);
      await sweep(instanceTransport(), { now: () => rig.now });
      const { owners } = await fetchMap(place());
      const id = ids.find((one) => owners[slotOf(one)] !== before[slotOf(one)]) as string;
      rig.now += 200_000;
      expect(await instance(8).enqueue(2, { id, again: true, delay: "30d" })).toEqual({ id, created: true });
      // The other dead letters go after seven days.
      for (let days = 0; days < 9; days++) {
        rig.now += 86_400_000;
        expect((await sweep(instanceTransport(), { now: () => rig.now })).failed).toEqual([]);
      }
      expect(await instance(8).enqueue(3, { id })).toEqual({ id, created: false });
      expect(await instance(8).counts()).toMatchObject({ delayed: 1, pending: 0 });
    },
  );

  test("takes all of a batch of dead letters, new tasks and ended ones", async () => {
    const ids = await endedIds("reject");
    const tasks = [...ids, "new1", "new2", ids[0] as string].map((id) => ({ payload: 2, id, again: true }));
    const answers = await instance(8).enqueueMany(tasks);
    expect(answers.map(({ created }) => created)).toEqual([...tasks.slice(1).map(() => true), false]);
    expect(await instance(8).counts()).toMatchObject({ pending: ids.length + 2, rejected: 12 - ids.length });
  });

  test("keeps a dead letter if the owner of its slot cannot be reached", async () => {
    const [id = ""] = await endedIds("reject");
    const { owners } = await fetchMap(place());
    const owner = nameOfPartition(QUEUE, owners[slotOf(id)] as number);
    const transport: Transport = {
      send: async (commands, options) => {
        if (JSON.stringify(commands).includes(`{${owner}}`)) {
          throw new SluiceError("redis_unreachable", "down");
        }
        return rig.transport.send(commands, options);
      },
    };
    const queue = new Queue<number>(QUEUE, { transport, partitions: 8, now: () => rig.now });
    expect(await queue.enqueue(2, { id, again: true })).toEqual({ id, created: true });
    expect(await instance(8).get(id, { payload: true })).toMatchObject({ state: "pending", payload: 2 });
  });

  test("keeps a dead letter if it is full itself, and then takes none", async () => {
    const ids = await endedIds("reject");
    await instanceOperator().configure({ maxPending: 8 });
    for (let i = 0; i < 8; i++) await instance(8).enqueue(0);
    const batch = ids.map((id) => ({ payload: 2, id, again: true }));
    await expect(instance(8).enqueueMany(batch)).rejects.toMatchObject({ code: "queue_full" });
    for (const id of ids)
      expect(await instance(8).get(id, { payload: true })).toMatchObject({ state: "rejected", payload: 1 });
    await instanceOperator().configure({ maxPending: null });
    const answers = await instance(8).enqueueMany(batch);
    expect(answers).toEqual(ids.map((id) => ({ id, created: true })));
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

test.each([
  ["the same", true],
  ["another", false],
])("the search for foreign records goes on only in the same run of Redis: %s", async (_, isSame) => {
  const ids = Array.from({ length: 2_000 }, (_value, i) => `t${i}`);
  const { owners: before } = await resizeQueue(place(), 2);
  for (const half of [ids.slice(1_000), ids.slice(0, 1_000)]) {
    await instance(2).enqueueMany(half.map((id) => ({ payload: 1, id })));
  }
  const { owners, version } = await resizeQueue(place(), 4);
  expect((await fetchMap(place())).former).toContain(1);
  const { tasks } = queueKeys(nameOfPartition(QUEUE, 1));
  const foreign = ids.filter((id) => before[slotOf(id)] === 1 && owners[slotOf(id)] !== 1);
  expect(foreign.length).toBeGreaterThan(100);
  // One is left, in the first page.
  const [cursor, page] = (await rig.command("HSCAN", tasks, "0", "COUNT", "100")) as [string, string[]];
  expect(cursor).not.toBe("0");
  const kept = page.find((field) => foreign.includes(field)) as string;
  await rig.command("HDEL", tasks, ...foreign.filter((id) => id !== kept));

  const [, run] = /run_id:(\w+)/.exec((await rig.command("INFO", "server")) as string) as unknown as string[];
  const stored = `1;${version};${cursor};${isSame ? run : "0123abcd"};0;${rig.now}`;
  await rig.command("HSET", "{sluice:queues}:maps", `${QUEUE}/1`, stored);
  expect((await sweep(instanceTransport(), { now: () => rig.now })).failed).toEqual([]);
  expect((await fetchMap(place())).former.includes(1)).toBe(!isSame);
});

describe("a call with an idempotency key that comes again after its slot has changed hands", () => {
  const KEYS = Array.from({ length: 16 }, (_, i) => `key${i}`);
  const options = {
    "a group": (key: string) => ({ idempotencyKey: key, group: `g-${key}` }),
    "a dedup key that is forgotten": (key: string) => ({
      idempotencyKey: key,
      dedup: { key: `d-${key}`, window: "1m" as const },
    }),
    neither: (key: string) => ({ idempotencyKey: key }),
  };

  /** The owners of the slots of a queue with 2 partitions, and later with 8. */
  async function ownersThen(): Promise<readonly (readonly number[])[]> {
    const other = { ...place(), name: "another" };
    const [before, after] = [await resizeQueue(other, 2), await resizeQueue(other, 8)];
    return [before.owners, after.owners];
  }

  test.each(["group", "dedup"] as const)("adds nothing if only the slot of its %s did", async (kind) => {
    const [before = [], after = []] = await ownersThen();
    const moves = (text: string) => before[slotOf(text)] !== after[slotOf(text)];
    const ids = await Promise.all(KEYS.map(async (key) => (await derivedTaskIds(QUEUE, key))(0)));
    const id = ids.find((derived) => !moves(derived)) as string;
    const name = KEYS.find((text) => moves(text) && before[slotOf(text)] === before[slotOf(id)]) as string;
    const placed = kind === "group" ? { group: name } : { dedup: { key: name, window: "1m" as const } };
    const enqueue = () => instance(8).enqueue(1, { idempotencyKey: KEYS[ids.indexOf(id)], ...placed });

    await resizeQueue(place(), 2);
    expect(await enqueue()).toEqual({ id, created: true });
    await resizeQueue(place(), 8);
    for (let sweeps = 0; sweeps < 12; sweeps++) {
      rig.now += 600_000;
      expect((await sweep(instanceTransport(), { now: () => rig.now })).failed).toEqual([]);
    }
    expect(await enqueue()).toEqual({ id, created: true });
    expect(await instance(8).counts()).toMatchObject({ pending: 1 });
    const [task] = await instance(8).dequeue();
    await task?.complete();
    await dropFormer();
  });

  test.each([4, 2])(
    "has the same answer after another task got its dedup key, and a change to %i",
    async (last) => {
      const other = { ...place(), name: "another" };
      const owners: (readonly number[])[] = [];
      for (const count of [2, 8, last]) owners.push((await resizeQueue(other, count)).owners);
      const [first, second, third] = owners.map((all) => (name: string) => all[slotOf(name)]);
      const names = Array.from({ length: 100 }, (_, i) => `d${i}`);
      const dedupKey = names.find((name) => {
        const isBack = third?.(name) === first?.(name);
        return (
          second?.(name) !== first?.(name) && second?.(name) !== third?.(name) && isBack === (last === 2)
        );
      }) as string;
      const keyed = { idempotencyKey: "key", dedup: { key: dedupKey, window: "1m" as const } };

      await resizeQueue(place(), 2);
      const answer = await instance().enqueue(1, keyed);
      expect(answer.created).toBe(true);
      rig.now += 61_000;
      await resizeQueue(place(), 8);
      const next = { dedup: { key: dedupKey, window: "1h" as const } };
      const { id } = await instance().enqueue(2, next);
      await resizeQueue(place(), last);
      expect(await instance().enqueue(1, keyed)).toEqual(answer);
      expect(await instance().enqueue(2, next)).toEqual({ id, created: false });
      const twice = { payload: 1, id: `new{${dedupKey}}`, ...next };
      expect(await instance().enqueueMany([twice, twice])).toEqual([
        { id, created: false },
        { id, created: false },
      ]);
      expect(await instance().counts()).toMatchObject({ pending: 2 });
    },
  );

  test.each(Object.entries(options))(
    "keeps no partition among the former ones for ever, with %s",
    async (_, of) => {
      await resizeQueue(place(), 2);
      for (const key of KEYS) await instance(2).enqueue(1, of(key));
      await resizeQueue(place(), 8);
      const settleAll = async () => {
        for (let tasks = await instance(8).dequeue({ max: 20 }); tasks.length > 0;) {
          await instance(8).settle(tasks.map(({ receipt }) => ({ receipt, outcome: "complete" })));
          tasks = await instance(8).dequeue({ max: 20 });
        }
      };
      let round = 0;
      while ((await fetchMap(place())).former.length > 0) {
        expect(round++).toBeLessThan(20);
        await settleAll();
        rig.now += 600_000;
        for (const key of KEYS) await instance(8).enqueue(1, of(`${key}-${round}`));
        expect((await sweep(instanceTransport(), { now: () => rig.now })).failed).toEqual([]);
      }
      expect(round).toBeGreaterThan(1);
    },
  );
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
