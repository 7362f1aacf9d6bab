import { describe, expect, test } from "vitest";
import { deepSweep, Queue, SluiceError } from "../../../src/index.ts";
import { derivedTaskIds } from "../../../src/kernel/names/derived-ids.ts";
import { nameOfShard } from "../../../src/kernel/names/keys.ts";
import { slotOf } from "../../../src/kernel/names/slots.ts";
import { resizeQueue } from "../../../src/features/partitions/resize.ts";
import { instances } from "../../support/instances.ts";
import { numbered } from "../../support/new-tasks.ts";
import { QUEUE, useRig } from "../../support/rig.ts";

const rig = useRig({ checkInvariants: false });
const { instance, over, queueOf, operatorOf, place, map, resize, keysIn, fieldsOf, run, sweepAll, drainAll } =
  instances(rig);
const ids = Array.from({ length: 16 }, (_, i) => `id${i}`);

/** Sweeps until the former partitions have left the map. */
async function dropFormer(): Promise<void> {
  for (let sweeps = 0; sweeps < 20 && (await map()).former.length > 0; sweeps++) {
    rig.now += 600_000;
    await sweepAll();
  }
  expect((await map()).former).toEqual([]);
}

describe("a former partition", () => {
  test("leaves the map also if it is partition 0", async () => {
    await queueOf().enqueue(1, { id: "a" });
    await resize(4);
    rig.now += 80_000;
    await resize(4);
    expect((await map()).former).toEqual([0]);
    await drainAll();
    await dropFormer();
  });

  test("stays in the map for as long as producers may use an older one", async () => {
    await resize(2);
    const stale = queueOf(2);
    expect(await stale.dequeue()).toHaveLength(0);
    await resize(1);
    await run();
    // Of two calls with so many tasks each goes to another partition.
    const tasks = Array.from({ length: 100 }, (_, payload) => ({ payload }));
    const added = [await stale.enqueueMany(tasks), await stale.enqueueMany(tasks)];
    expect(new Set(added.map(([task]) => task?.id.slice(-1)))).toEqual(new Set(["0", "1"]));
    expect(await queueOf().counts()).toMatchObject({ pending: 200 });
    rig.now += 120_000;
    await run();
    expect(await queueOf().counts()).toMatchObject({ pending: 200 });
  });

  /** Ids whose last life has ended, in a partition that does not own their slots any more. */
  async function endedIds(end: "complete" | "reject"): Promise<string[]> {
    const { owners: before } = await resize(2);
    for (const id of ids) await queueOf(2).enqueue(1, { id });
    for (let ended = 0; ended < ids.length; ended++) {
      const [task] = await queueOf(2).dequeue();
      await (end === "complete" ? task?.complete() : task?.reject(new Error("no")));
    }
    const { owners } = await resize(8);
    const moved = ids.filter((id) => owners[slotOf(id)] !== before[slotOf(id)]);
    expect(moved.length).toBeGreaterThan(4);
    return moved;
  }
  /** Which partitions have a record of an id. */
  async function having(id: string): Promise<number[]> {
    const found = await fieldsOf(id, 8);
    return found.flatMap((record, partition) => (record === null ? [] : [partition]));
  }

  test.each(["reject", "complete"] as const)(
    "begins the new life of a dead letter itself, and its owner that of another task: %s",
    async (end) => {
      const [id = ""] = await endedIds(end);
      const before = await having(id);
      expect(await queueOf(4).enqueue(2, { id })).toEqual({ id, created: false });
      const woken: string[] = [];
      const producer = new Queue<number>(QUEUE, {
        ...over(instance(), 4),
        wake: { wake: (queue) => woken.push(queue) },
      });
      expect(await producer.enqueue(2, { id, again: true })).toEqual({ id, created: true });
      expect(woken).toEqual([QUEUE]);
      expect(await queueOf(4).get(id, { payload: true })).toMatchObject({ state: "pending", payload: 2 });
      const owner = (await map()).owners[slotOf(id)];
      expect(await having(id)).toEqual(end === "reject" ? before : [owner]);
    },
  );

  test("forgets a task that begins a new life elsewhere, but not the ghost that it left before", async () => {
    const { owners: before } = await resize(2);
    // Others are in front of the ghosts.
    for (let i = 0; i < 40; i++) await queueOf(2).enqueue(0, { id: `first${i}` });
    for (const id of ids) {
      await queueOf(2).enqueue(1, { id });
      await queueOf(2).cancel(id);
      await queueOf(2).enqueue(1, { id, again: true, priority: 9 });
    }
    for (let ended = 0; ended < ids.length;) {
      const [task] = await queueOf(2).dequeue();
      await task?.complete();
      if (task?.payload === 1) ended++;
    }
    const { owners } = await resize(8);
    const id = ids.find((one) => owners[slotOf(one)] !== before[slotOf(one)]) as string;
    expect(await queueOf(4).enqueue(2, { id, again: true })).toEqual({ id, created: true });
    expect(await deepSweep(rig.transport, { now: () => rig.now })).toMatchObject({ faults: [], failed: [] });
    expect((await drainAll()).filter((one) => one === id)).toEqual([id]);
  });

  test.each(["id%", "An0therIdOf22Letters0%"])(
    "is asked for %s as long as its new life there goes on",
    async (form) => {
      const some = Array.from({ length: 10 }, (_, i) => form.replace("%", String(i)));
      const { owners: before } = await resize(2);
      for (const id of some) await queueOf(2).enqueue(1, { id });
      for (let i = 0; i < 2; i++)
        for (const task of await queueOf(2).dequeue({ max: 10 })) await task.reject(new Error("no"));
      const { owners } = await resize(8);
      await run();
      const id = some.find((one) => owners[slotOf(one)] !== before[slotOf(one)]) as string;
      rig.now += 200_000;
      expect(await queueOf(8).enqueue(2, { id, again: true, delay: "30d" })).toEqual({ id, created: true });
      // The other dead letters go after seven days.
      for (let days = 0; days < 9; days++) {
        rig.now += 86_400_000;
        await sweepAll();
      }
      expect(await queueOf(8).enqueue(3, { id })).toEqual({ id, created: false });
      expect(await queueOf(8).counts()).toMatchObject({ delayed: 1, pending: 0 });
    },
  );

  test("keeps a dead letter if the owner of its slot cannot be reached", async () => {
    const [id = ""] = await endedIds("reject");
    const { owners } = await map();
    const owner = nameOfShard(QUEUE, owners[slotOf(id)] as number);
    const transport = instance((_, commands) => {
      if (JSON.stringify(commands).includes(`{${owner}}`)) throw new SluiceError("redis_unreachable", "down");
    });
    expect(await queueOf(8, transport).enqueue(2, { id, again: true })).toEqual({ id, created: true });
    expect(await queueOf(8).get(id, { payload: true })).toMatchObject({ state: "pending", payload: 2 });
  });

  test("takes no dead letter of a batch if it is full itself, and otherwise all, beside new tasks and ended ones", async () => {
    const moved = await endedIds("reject");
    await operatorOf("stored").configure({ maxPending: 8 });
    for (let i = 0; i < 8; i++) await queueOf(8).enqueue(0);
    const batch = [...moved, "new1", "new2", moved[0]].map((id) => ({ payload: 2, id, again: true }));
    await expect(queueOf(8).enqueueMany(batch)).rejects.toMatchObject({ code: "queue_full" });
    for (const id of moved)
      expect(await queueOf(8).get(id, { payload: true })).toMatchObject({ state: "rejected", payload: 1 });
    await operatorOf("stored").configure({ maxPending: null });
    const answers = await queueOf(8).enqueueMany(batch);
    expect(answers.map(({ created }) => created)).toEqual([...batch.slice(1).map(() => true), false]);
    expect(await queueOf(8).counts()).toMatchObject({
      pending: moved.length + 10,
      rejected: 16 - moved.length,
    });
  });
});

test.each([
  ["the same", true],
  ["another", false],
])("the search for foreign records goes on only in the same run of Redis: %s", async (_, isSame) => {
  const tasks = numbered(2_000);
  const { owners: before } = await resize(2);
  for (const half of [tasks.slice(1_000), tasks.slice(0, 1_000)]) await queueOf(2).enqueueMany(half);
  const { owners, version } = await resize(4);
  expect((await map()).former).toContain(1);
  const hash = keysIn(1).tasks;
  const foreign = tasks
    .map(({ id }) => id)
    .filter((id) => before[slotOf(id)] === 1 && owners[slotOf(id)] !== 1);
  expect(foreign.length).toBeGreaterThan(100);
  // One is left, in the first page.
  const [cursor, page] = (await rig.command("HSCAN", hash, "0", "COUNT", "100")) as [string, string[]];
  expect(cursor).not.toBe("0");
  const kept = page.find((field) => foreign.includes(field)) as string;
  await rig.command("HDEL", hash, ...foreign.filter((id) => id !== kept));

  const [, runId] = /run_id:(\w+)/.exec(
    (await rig.command("INFO", "server")) as string,
  ) as unknown as string[];
  const stored = `1;${version};${cursor};${isSame ? runId : "0123abcd"};0;${rig.now}`;
  await rig.command("HSET", "{sluice:queues}:maps", `${QUEUE}/1`, stored);
  await sweepAll();
  expect((await map()).former.includes(1)).toBe(!isSame);
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

  /** The owners of the slots of a queue whose number of partitions changes so. */
  async function ownersThen(...counts: number[]): Promise<((text: string) => number | undefined)[]> {
    const other = { ...place(instance()), name: "another" };
    const maps = [];
    for (const count of counts) maps.push(await resizeQueue(other, count));
    return maps.map(
      ({ owners }) =>
        (text) =>
          owners[slotOf(text)],
    );
  }

  test.each(["group", "dedup"] as const)("adds nothing if only the slot of its %s did", async (kind) => {
    const [before, after] = await ownersThen(2, 8);
    const moves = (text: string) => before?.(text) !== after?.(text);
    const derived = await Promise.all(KEYS.map(async (key) => (await derivedTaskIds(QUEUE, key))(0)));
    const id = derived.find((one) => !moves(one)) as string;
    const name = KEYS.find((text) => moves(text) && before?.(text) === before?.(id)) as string;
    const placed = kind === "group" ? { group: name } : { dedup: { key: name, window: "1m" as const } };
    const enqueue = () => queueOf(8).enqueue(1, { idempotencyKey: KEYS[derived.indexOf(id)], ...placed });

    await resize(2);
    expect(await enqueue()).toEqual({ id, created: true });
    await resize(8);
    for (let sweeps = 0; sweeps < 12; sweeps++) {
      rig.now += 600_000;
      await sweepAll();
    }
    expect(await enqueue()).toEqual({ id, created: true });
    expect(await queueOf(8).counts()).toMatchObject({ pending: 1 });
    await drainAll();
    await dropFormer();
  });

  test("adds none of other tasks, also to a partition that was not asked (I3)", async () => {
    const [ownerOf] = await ownersThen(2);
    const names = Array.from({ length: 100 }, (_, i) => `g${i}`);
    const [kept = "", moved = ""] = [0, 1].map((owner) => names.find((name) => ownerOf?.(name) === owner));
    const add = (...groups: string[]) =>
      queueOf().enqueueMany(
        groups.map((group) => ({ payload: 1, group })),
        { idempotencyKey: "key" },
      );
    const answer = await add(moved);
    await resize(2);
    await expect(add(moved, kept)).rejects.toMatchObject({ code: "idempotency_key_reused" });
    expect(await queueOf().counts()).toMatchObject({ pending: 1 });
    expect(await add(moved)).toEqual(answer);
  });

  test.each([4, 2])(
    "has the same answer after another task got its dedup key, and a change to %i",
    async (last) => {
      const [first, second, third] = await ownersThen(2, 8, last);
      const names = Array.from({ length: 100 }, (_, i) => `d${i}`);
      const dedupKey = names.find((name) => {
        const isBack = third?.(name) === first?.(name);
        return (
          second?.(name) !== first?.(name) && second?.(name) !== third?.(name) && isBack === (last === 2)
        );
      }) as string;
      const keyed = { idempotencyKey: "key", dedup: { key: dedupKey, window: "1m" as const } };

      await resize(2);
      const answer = await queueOf().enqueue(1, keyed);
      expect(answer.created).toBe(true);
      rig.now += 61_000;
      await resize(8);
      const next = { dedup: { key: dedupKey, window: "1h" as const } };
      const { id } = await queueOf().enqueue(2, next);
      await resize(last);
      expect(await queueOf().enqueue(1, keyed)).toEqual(answer);
      expect(await queueOf().enqueue(2, next)).toEqual({ id, created: false });
      const twice = { payload: 1, id: `new{${dedupKey}}`, ...next };
      expect(await queueOf().enqueueMany([twice, twice])).toEqual([
        { id, created: false },
        { id, created: false },
      ]);
      expect(await queueOf().counts()).toMatchObject({ pending: 2 });
    },
  );

  test.each(Object.entries(options))(
    "keeps no partition among the former ones for ever, with %s",
    async (_, of) => {
      await resize(2);
      for (const key of KEYS) await queueOf(2).enqueue(1, of(key));
      await resize(8);
      let round = 0;
      while ((await map()).former.length > 0) {
        expect(round++).toBeLessThan(20);
        await drainAll();
        rig.now += 600_000;
        for (const key of KEYS) await queueOf(8).enqueue(1, of(`${key}-${round}`));
        await sweepAll();
      }
      expect(round).toBeGreaterThan(1);
    },
  );
});

test("a partition that comes back to the map loses the settings that it had when it left, also if a producer with an old map brings it back", async () => {
  /** The settings of the queue and of two groups in each partition, without what each numbers itself. */
  const settings = async () => {
    const all = await Promise.all(["~set", "~s:g", "~s:only"].map((field) => fieldsOf(field, 8)));
    return all.map((some) => some.map((text) => String(text).replace(/;n=\d+/, "")));
  };
  await resize(8);
  const before = operatorOf(8);
  await before.pause();
  await before.configure({ events: true });
  await before.configureGroup("g", { maxWorking: 1 });
  await before.configureGroup("only", { weight: 3 });
  await resize(4);
  await dropFormer();
  const after = operatorOf("stored");
  await after.resume();
  await after.configure({ events: null });
  await after.configureGroup("g", { maxWorking: 2 });
  await after.configureGroup("only", { weight: null });
  await rig.command("ZADD", "sluice:queues", String(rig.now), `${QUEUE}/5`);
  await run();
  expect((await map()).former).toEqual([5]);
  expect((await settings()).map((some) => some[5])).toEqual(["null", "1;m=2", "null"]);
  await resize(8);
  expect(await settings()).toEqual(["null", "1;m=2", "null"].map((text) => Array(8).fill(text)));
});
