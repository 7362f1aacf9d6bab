import { describe, expect, test } from "vitest";
import type { NewTask, Queue } from "../../src/index.ts";
import { QUEUE, START, useRig } from "../support/rig.ts";

const rig = useRig();

/** Dequeues one by one, completing each, and tells the groups in the order of delivery. */
async function deliveries(queue: Queue, count = Number.POSITIVE_INFINITY): Promise<string[]> {
  const groups: string[] = [];
  while (groups.length < count) {
    const [task] = await queue.dequeue();
    if (!task) break;
    groups.push(task.group ?? "");
    await task.complete();
  }
  return groups;
}

const many = (group: string | undefined, count: number, options: Partial<NewTask<unknown>> = {}) =>
  Array.from({ length: count }, (_, i) => ({ payload: i, group, ...options }));

const timesOf = (groups: readonly string[], group: string) =>
  groups.filter((other) => other === group).length;

/** Sets a group's settings past the library, as lua/README.md describes them. */
const settle = async (group: string, settings: string) =>
  rig.command("HSET", `sluice:{${QUEUE}}:tasks`, `~s:${group}`, `1;${settings}`);

describe("groups share a queue by weighted fair queueing", () => {
  test("a group of ten beside one of a thousand is done after twenty deliveries, also in batches", async () => {
    const queue = rig.queue();
    await queue.enqueueMany(many("large", 1_000));
    await queue.enqueueMany(many("small", 10));
    expect(timesOf(await deliveries(queue, 10), "small")).toBe(5);
    const batch = await queue.dequeue({ max: 10 });
    expect(batch.filter(({ group }) => group === "small")).toHaveLength(5);
    expect((await queue.counts()).pending).toBe(990);
  });

  test("at every delivery no waiting group is more than one behind its share, in proportion to weights", async () => {
    const queue = rig.queue();
    const weights: Record<string, number> = { a: 1, b: 2, c: 5 };
    for (const [group, weight] of Object.entries(weights)) {
      await settle(group, `k=${weight}`);
      await queue.enqueueMany(many(group, 100));
    }
    const order = await deliveries(queue, 120);
    for (let n = 1; n <= order.length; n++) {
      for (const [group, weight] of Object.entries(weights)) {
        const share = (n * weight) / 8;
        expect(Math.abs(timesOf(order.slice(0, n), group) - share)).toBeLessThanOrEqual(1);
      }
    }
  });

  test("each group's own tasks stay first in, first out", async () => {
    const queue = rig.queue();
    await queue.enqueueMany(
      [...many("a", 20), ...many("b", 20)].toSorted((x, y) => Number(x.payload) - Number(y.payload)),
    );
    const tasks = await queue.dequeue({ max: 40 });
    for (const name of ["a", "b"]) {
      const own = tasks.filter(({ group }) => group === name).map(({ payload }) => payload);
      expect(own).toEqual(Array.from({ length: 20 }, (_, i) => i));
    }
  });

  test("tasks without a group are a group of weight 1 of their own", async () => {
    const queue = rig.queue();
    await queue.enqueueMany(many(undefined, 100));
    await queue.enqueueMany(many("a", 50));
    await settle("b", "k=3");
    await queue.enqueueMany(many("b", 50));
    const order = await deliveries(queue, 50);
    expect([timesOf(order, ""), timesOf(order, "a"), timesOf(order, "b")]).toEqual([10, 10, 30]);
    const rest = await deliveries(queue);
    expect(rest).toHaveLength(150);
    expect((await rig.space()).tasks.has("~fair")).toBe(false);
  });

  test("a group that had nothing to do gathers no credit, and one that was served owes none", async () => {
    const queue = rig.queue();
    await queue.enqueueMany(many("busy", 300));
    await deliveries(queue, 200);
    await queue.enqueueMany(many("late", 50));
    const order = await deliveries(queue, 40);
    expect([timesOf(order, "busy"), timesOf(order, "late")]).toEqual([20, 20]);
  });

  test("among a flood of one-task groups a group gets its turn", async () => {
    const queue = rig.queue();
    await queue.enqueueMany(many("steady", 20));
    const flood = async (from: number) =>
      queue.enqueueMany(Array.from({ length: 10 }, (_, i) => ({ payload: 0, group: `one-${from + i}` })));
    const order: string[] = [];
    for (let round = 0; round < 10; round++) {
      await flood(round * 10);
      order.push(...(await deliveries(queue, 11)));
    }
    // In each round ten one-task groups and the steady one wait: it is one of eleven.
    expect(timesOf(order, "steady")).toBe(10);
  });

  test("no delivery is spent on groups that have nothing left", async () => {
    const queue = rig.queue();
    for (let i = 0; i < 30; i++) await queue.enqueueMany(many(`g${i}`, i < 25 ? 1 : 20));
    const got: number[] = [];
    for (let i = 0; i < 14; i++) got.push((await queue.dequeue({ max: 10 })).length);
    expect(got).toEqual([...Array.from({ length: 12 }, () => 10), 5, 0]);
    await queue.enqueueMany([...many("g0", 1), ...many("g29", 20)]);
    expect(await deliveries(queue, 21)).toHaveLength(21);
  });

  test("what is cancelled is paid back: the group's next task waits no longer for it", async () => {
    const queue = rig.queue();
    const mine = await queue.enqueueMany(many("a", 50));
    await queue.enqueueMany(many("b", 50));
    for (const { id } of mine.slice(1)) await queue.cancel(id);
    await queue.enqueue("next", { group: "a", id: "next" });
    const order = (await queue.dequeue({ max: 4 })).map(({ id, group = "" }) => (id === "next" ? id : group));
    expect(order.toSorted()).toEqual(["a", "b", "b", "next"]);
  });

  test("requeued, reclaimed, promoted and handed back tasks wait by their group's share", async () => {
    const queue = rig.queue();
    await queue.enqueueMany(many("large", 100));
    await queue.enqueueMany(many("small", 4, { lease: 1_000 }));
    const taken = await queue.dequeue({ max: 8 });
    const small = taken.filter(({ group }) => group === "small");
    expect(small).toHaveLength(4);
    await small[0]?.requeue();
    await small[1]?.requeue({ delay: 500 });
    await small[2]?.requeue({ unstarted: true });
    // The one handed back has its old tag, so it is foremost.
    const [back] = await queue.dequeue();
    expect(back).toMatchObject({ id: small[2]?.id, attempt: 2 });
    expect(await queue.get(small[2]?.id ?? "")).toMatchObject({ charged: 1 });
    rig.now += 1_000;
    await rig.sweepOnce();
    const order = await deliveries(queue, 8);
    expect(timesOf(order, "small")).toBe(3 + 1);
  });

  test("a group's state goes with its last task", async () => {
    const queue = rig.queue();
    await queue.enqueueMany([...many("hosts", 2), ...many("et", 2), ...many("x;y%z=1!", 2)]);
    expect((await queue.dequeue({ max: 6 })).map(({ group = "" }) => group).toSorted()).toEqual([
      "et",
      "et",
      "hosts",
      "hosts",
      "x;y%z=1!",
      "x;y%z=1!",
    ]);
    const working = await rig.space();
    expect(working.tasks.get("~g:hosts")).toBe("1;w=2");
    rig.now += 300_000;
    await rig.sweepOnce();
    await deliveries(queue);
    const after = await rig.space();
    expect([...after.tasks.keys()].filter((field) => /^~[gf]/.test(field))).toEqual([]);
  });
});

describe("priorities", () => {
  test("are strict between each other, and fair within one", async () => {
    const queue = rig.queue();
    await queue.enqueueMany(many(undefined, 2));
    await queue.enqueueMany([...many("a", 3, { priority: 5 }), ...many("b", 3, { priority: 5 })]);
    await queue.enqueueMany(many("a", 1, { priority: 9 }));
    await queue.enqueueMany(many(undefined, 1, { priority: 7 }));
    const tasks = await queue.dequeue({ max: 10 });
    const order = await Promise.all(tasks.map(async ({ id }) => (await queue.get(id))?.priority ?? 0));
    expect(order).toEqual([9, 7, 5, 5, 5, 5, 5, 5, 0, 0]);
    expect(
      tasks
        .slice(2, 4)
        .map(({ group = "" }) => group)
        .toSorted(),
    ).toEqual(["a", "b"]);
  });

  test("hold for tasks that were delayed, requeued or reclaimed too", async () => {
    const queue = rig.queue({ lease: 1_000 });
    await queue.enqueue("low", { id: "low" });
    await queue.enqueue("high", { id: "high", priority: 3, delay: 100 });
    rig.now += 100;
    await rig.sweepOnce();
    const [first] = await queue.dequeue();
    expect(first?.id).toBe("high");
    await first?.requeue();
    expect((await queue.dequeue())[0]?.id).toBe("high");
    rig.now += 1_000;
    await rig.sweepOnce();
    expect((await queue.dequeue())[0]?.id).toBe("high");
    expect((await queue.dequeue())[0]?.id).toBe("low");
  });

  test.each([[-1], [10], [1.5], ["5"]])("%j is refused", async (priority) => {
    const refused = rig.queue().enqueue(1, { priority: priority as number });
    await expect(refused).rejects.toMatchObject({ code: "invalid_argument", path: "priority" });
    expect(await rig.keySpace()).toEqual({});
  });
});

describe("a group's limit on how many work at once", () => {
  test("is never exceeded, holds nobody else up, and is filled again as soon as one ends", async () => {
    const queue = rig.queue();
    await settle("capped", "n=1;m=3");
    await queue.enqueueMany(many("capped", 200));
    await queue.enqueueMany(many("free", 20));
    const batch = await queue.dequeue({ max: 100 });
    expect([
      timesOf(
        batch.map(({ group }) => group ?? ""),
        "capped",
      ),
      batch.length,
    ]).toEqual([3, 23]);
    expect(await queue.dequeue({ max: 10 })).toHaveLength(0);
    expect((await rig.space()).held.size).toBe(197);
    const [one, two] = batch.filter(({ group }) => group === "capped");
    await one?.complete();
    await two?.requeue();
    expect((await queue.dequeue({ max: 10 })).map(({ payload }) => payload)).toEqual([3, 4]);
    expect(await queue.dequeue()).toHaveLength(0);
    expect((await queue.counts()).pending).toBe(196);
  });

  test("says to come back in a second while it holds tasks that wait for working ones", async () => {
    const queue = rig.queue();
    await rig.operator().configureGroup("capped", { maxWorking: 2 });
    await rig.operator().configureGroup("slow", { rate: { max: 1, per: "1h" } });
    await queue.enqueueMany([...many("capped", 5), ...many("slow", 3)]);
    const next = async () => {
      const batch = await queue.dequeue({ max: 10 });
      return { batch, count: batch.length, in: batch.nextDueAt && batch.nextDueAt - rig.now };
    };
    const { batch, ...first } = await next();
    expect(first).toEqual({ count: 3, in: 1_000 });
    expect(await next()).toMatchObject({ count: 0, in: 1_000 });
    for (const task of batch) await task.complete();
    const second = await next();
    expect([second.count, second.in]).toEqual([2, 1_000]);
    await second.batch[0]?.complete();
    const third = await next();
    // Nothing is held for working tasks any more; the other group's rate tells when, or its lease's end is sooner.
    expect([third.count, third.in]).toEqual([1, 300_000]);
    await second.batch[1]?.complete();
    await third.batch[0]?.complete();
    expect(await next()).toMatchObject({ count: 0, in: 3_960_000 - (START % 360_000) });
    await rig.operator().configureGroup("slow", { rate: null });
    expect(await next()).toMatchObject({ count: 2 });
  });

  test("counts leases that expire, and what is requeued waits behind what was held", async () => {
    const queue = rig.queue({ lease: 1_000 });
    await settle("capped", "n=7;m=1");
    await queue.enqueueMany(many("capped", 3));
    expect((await queue.dequeue({ max: 5 })).map(({ payload }) => payload)).toEqual([0]);
    rig.now += 1_000;
    expect((await queue.dequeue({ max: 5 })).map(({ payload }) => payload)).toEqual([1]);
    rig.now += 1_000;
    expect((await queue.dequeue({ max: 5 })).map(({ payload }) => payload)).toEqual([2]);
    rig.now += 1_000;
    expect((await queue.dequeue({ max: 5 })).map(({ payload }) => payload)).toEqual([0]);
  });

  test("set over a backlog puts it aside in bounded calls, and over working ones waits until enough have ended", async () => {
    const queue = rig.queue();
    await queue.enqueueMany(many("late", 1_000));
    const taken = await queue.dequeue({ max: 5 });
    await queue.enqueueMany(many("late", 1_000));
    await settle("late", "n=2;m=2");
    await queue.enqueue("other", { group: "free" });
    const others: unknown[] = [];
    for (let calls = 0; others.length === 0 && calls < 10; calls++) {
      others.push(...(await queue.dequeue({ max: 10 })).map(({ payload }) => payload));
    }
    expect(others).toEqual(["other"]);
    for (const task of taken.slice(0, 3)) await task.complete();
    expect(await queue.dequeue({ max: 10 })).toHaveLength(0);
    await taken[3]?.complete();
    expect(await queue.dequeue({ max: 10 })).toHaveLength(1);
  });

  test("is given back by a cancelled, a rejected and a flagged task", async () => {
    const queue = rig.queue();
    await settle("capped", "n=1;m=2");
    const ids = (await queue.enqueueMany(many("capped", 8))).map(({ id }) => id);
    await queue.cancel(ids[0] as string); // ready
    await queue.cancel(ids[7] as string); // held
    expect(await queue.cancel(ids[7] as string)).toEqual({ ok: true, state: "rejected" });
    const batch = await queue.dequeue({ max: 10 });
    expect(batch.map(({ id }) => id)).toEqual([ids[1], ids[2]]);
    await batch[0]?.reject("no");
    await queue.cancel(batch[1]?.id ?? "");
    await batch[1]?.requeue();
    expect((await queue.dequeue({ max: 10 })).map(({ id }) => id)).toEqual([ids[3], ids[4]]);
  });

  test("under several callers at once", async () => {
    const queue = rig.queue();
    await settle("a", "n=1;m=2");
    await settle("b", "n=2;m=5");
    await queue.enqueueMany([...many("a", 60), ...many("b", 60), ...many("c", 60)]);
    const working = new Map<string, number>();
    let done = 0;
    const consume = async () => {
      while (done < 180) {
        const tasks = await queue.dequeue({ max: 4 });
        for (const { group = "" } of tasks) working.set(group, (working.get(group) ?? 0) + 1);
        expect(working.get("a") ?? 0).toBeLessThanOrEqual(2);
        expect(working.get("b") ?? 0).toBeLessThanOrEqual(5);
        for (const task of tasks) {
          working.set(task.group ?? "", (working.get(task.group ?? "") ?? 0) - 1);
          expect(await task.complete()).toMatchObject({ ok: true });
          done++;
        }
      }
    };
    await Promise.all([consume(), consume(), consume(), consume()]);
    expect((await queue.counts()).pending).toBe(0);
  });
});

describe("a group's limit on how often it is dequeued", () => {
  test("lets through so many in any period, tells when there is more, and holds nobody else up", async () => {
    const queue = rig.queue();
    await settle("slow", "n=1;r=3/10000");
    await queue.enqueueMany(many("slow", 7));
    await queue.enqueueMany(many("free", 2));
    const times: number[] = [];
    const first = await queue.dequeue({ max: 10 });
    expect(first.map(({ group = "" }) => group).toSorted()).toEqual(["free", "free", "slow", "slow", "slow"]);
    times.push(START, START, START);
    while (times.length < 7) {
      const batch = await queue.dequeue({ max: 10 });
      for (const task of batch) {
        times.push(rig.now);
        await task.complete();
      }
      if (batch.length > 0) continue;
      expect(batch.nextDueAt).toBeGreaterThan(rig.now);
      expect(batch.nextDueAt).toBeLessThanOrEqual(rig.now + 11_000);
      rig.now = batch.nextDueAt ?? rig.now;
    }
    for (const from of times) {
      expect(times.filter((at) => at >= from && at < from + 10_000).length).toBeLessThanOrEqual(3);
    }
    expect((await rig.space()).held.size).toBe(0);
  });

  test("goes on by the sweep alone, without counting a timer as a task", async () => {
    const queue = rig.queue();
    await settle("slow", "n=1;r=1/1000");
    await queue.enqueueMany(many("slow", 3));
    await queue.dequeue({ max: 3 });
    expect(await queue.counts()).toMatchObject({ pending: 2, delayed: 0, working: 1 });
    rig.now += 1_100;
    await rig.sweepOnce();
    expect((await rig.space()).fair.size).toBe(1);
    expect(await queue.counts()).toMatchObject({ pending: 2, delayed: 0 });
    expect(await queue.dequeue({ max: 3 })).toHaveLength(1);
  });
});

describe("what a review found", () => {
  test("a limited group's due timer is heeded however much else is in line", async () => {
    const queue = rig.queue();
    await rig.operator().configureGroup("slow", { rate: { max: 1, per: "1s" } });
    await queue.enqueueMany(many("slow", 30));
    await queue.enqueueMany(many(undefined, 300));
    let slow = 0;
    for (let second = 0; second < 20; second++) {
      const batch = await queue.dequeue({ max: 10 });
      slow += timesOf(
        batch.map(({ group }) => group ?? ""),
        "slow",
      );
      rig.now += 1_100;
    }
    // A tenth counts until it has wholly passed.
    expect(slow).toBe(20);
  });

  test("a timer is set again where Redis had no room for what it let in", async () => {
    const queue = rig.queue();
    await rig.operator().configureGroup("slow", { rate: { max: 1, per: "1s" } });
    await queue.enqueueMany(many("slow", 3));
    await (await queue.dequeue())[0]?.complete();
    rig.now += 1_200;
    await rig.command("CONFIG", "SET", "maxmemory", "1");
    const refused = await rig.sweepOnce();
    await rig.command("CONFIG", "SET", "maxmemory", "0");
    expect(refused).toBeDefined();
    rig.now += 61_000;
    await rig.sweepOnce();
    expect(await queue.dequeue({ max: 5 })).toHaveLength(1);
  });

  test("more timers than one call looks after are told of by the sweep", async () => {
    const queue = rig.queue();
    const names = Array.from({ length: 230 }, (_, i) => `g${i}`);
    for (const name of names) await rig.operator().configureGroup(name, { rate: { max: 1, per: "1s" } });
    for (const name of names) await queue.enqueueMany(many(name, 2));
    for (let batch = await queue.dequeue({ max: 200 }); batch.length > 0;)
      batch = await queue.dequeue({ max: 200 });
    rig.now += 1_200;
    let sweeps = 1;
    while (((await rig.sweepOnce()) as number[])[5] === 1) sweeps++;
    expect((await rig.space()).fair.size).toBe(230);
    expect(sweeps).toBeLessThan(5);
  });

  test("a hand-back after virtual time began anew gives no other group an advantage", async () => {
    const queue = rig.queue();
    await queue.enqueueMany(many("a", 100));
    const taken = await queue.dequeue({ max: 100 });
    await queue.dequeue();
    expect((await rig.space()).tasks.has("~fair")).toBe(false);
    await taken.at(-1)?.requeue({ unstarted: true });
    await queue.enqueueMany(many("a", 5));
    await queue.enqueueMany(many("b", 50));
    expect(timesOf(await deliveries(queue, 10), "a")).toBe(5);
  });

  test("ghosts in the list cost those without a group nothing", async () => {
    const queue = rig.queue();
    const cancelled = await queue.enqueueMany(many(undefined, 100));
    await queue.enqueueMany(many(undefined, 20));
    await queue.enqueueMany(many("a", 100));
    for (const { id } of cancelled) await queue.cancel(id);
    const order = await deliveries(queue, 20);
    expect(timesOf(order, "")).toBeGreaterThanOrEqual(9);
  });

  test("a high priority goes before the group's ready ones of a lower, also at its limit", async () => {
    const queue = rig.queue();
    await rig.operator().configureGroup("g", { maxWorking: 2 });
    await queue.enqueueMany(many("g", 10));
    await queue.enqueueMany(many("g", 3, { priority: 9, headers: { high: "1" } }));
    const first = await queue.dequeue({ max: 5 });
    expect(first.map(({ headers }) => headers?.["high"])).toEqual(["1", "1"]);
    await Promise.all(first.map((task) => task.complete()));
    const second = await queue.dequeue({ max: 5 });
    expect(second.map(({ headers, payload }) => [headers?.["high"], payload])).toEqual([
      ["1", 2],
      [undefined, 0],
    ]);
  });

  test("tells when a rate leaves room also where this very call used it up", async () => {
    const queue = rig.queue();
    await rig.operator().configureGroup("slow", { rate: { max: 1, per: "1s" } });
    await queue.enqueueMany(many("slow", 3));
    const batch = await queue.dequeue({ max: 10 });
    expect([batch.length, batch.nextDueAt]).toEqual([1, START + 1_100]);
  });

  test("a group's tasks are not held up by one whose record is gone", async () => {
    const queue = rig.queue();
    await rig.operator().configureGroup("g", { maxWorking: 1 });
    await queue.enqueue("lost", { group: "g", id: "lost" });
    await (await queue.dequeue())[0]?.requeue();
    await queue.enqueue("next", { group: "g", id: "next" });
    // The changing record still says whose the entry in `fair` is.
    await rig.command("HDEL", `sluice:{${QUEUE}}:tasks`, "lost");
    expect(await queue.dequeue({ max: 5 })).toHaveLength(0);
    expect((await queue.dequeue({ max: 5 })).map(({ id }) => id)).toEqual(["next"]);
    expect(await queue.counts()).toMatchObject({ pending: 0, broken: 1 });
    await rig.command("HDEL", `sluice:{${QUEUE}}:tasks`, ".lost");
  });

  test("hundreds of groups in one call keep every command within bounds", async () => {
    const queue = rig.queue();
    for (let g = 0; g < 600; g++) {
      await rig.command("HSET", `sluice:{${QUEUE}}:tasks`, `~s:g${g}`, `1;n=${g + 1};r=1/60000`);
    }
    await queue.enqueueMany(Array.from({ length: 600 }, (_, g) => ({ payload: g, group: `g${g}` })));
    const taken = [];
    for (let batch = await queue.dequeue({ max: 1_000 }); batch.length > 0;) {
      taken.push(...batch);
      batch = await queue.dequeue({ max: 1_000 });
    }
    expect(taken).toHaveLength(600);
    const receipts = taken.map(({ receipt }) => receipt);
    await queue.settle(
      receipts.map((receipt) => ({ receipt, outcome: "requeue" as const, unstarted: true })),
    );
    expect(await queue.dequeue({ max: 1_000 })).toHaveLength(0);
    rig.now += 67_000;
    let delivered = 0;
    for (let round = 0; round < 40 && delivered < 600; round++)
      delivered += (await queue.dequeue({ max: 1_000 })).length;
    expect(delivered).toBe(600);
  });
});
