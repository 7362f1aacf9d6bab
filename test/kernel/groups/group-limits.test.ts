import { beforeEach, describe, expect, test } from "vitest";
import type { LeasedTask, Queue } from "../../../src/index.ts";
import { delivered, groupSettings, ofGroup, timesOf } from "../../support/groups.ts";
import { idsOf } from "../../support/leasing.ts";
import { named } from "../../support/new-tasks.ts";
import { START, useRig } from "../../support/rig.ts";

const rig = useRig();
let queue: Queue;
beforeEach(() => void (queue = rig.queue()));
const writeSettings = groupSettings(rig);

describe("a group's maxWorking", () => {
  test.each<[what: string, back: (task: LeasedTask) => Promise<unknown>]>([
    ["whose lease expired", async () => (rig.now += 1_000)],
    ["that was requeued", (task) => task.requeue()],
    ["that was handed back", (task) => task.requeue({ unstarted: true })],
  ])("admits a task of higher priority %s before held tasks of a lower one", async (_, back) => {
    await writeSettings("capped", "n=1;m=1");
    await queue.enqueue(0, { id: "high", group: "capped", priority: 1 });
    const [high] = await queue.dequeue({ lease: 1_000 });
    await queue.enqueueMany(named(["low", "lower"], { group: "capped" }));
    await back(high!);
    expect(idsOf(await delivered(queue))).toEqual(["high", "low", "lower"]);
  });

  test("holds tasks in the order in which they came", async () => {
    await writeSettings("capped", "n=1;m=1");
    for (const id of ["d", "c", "b", "a"]) await queue.enqueue(0, { id, group: "capped" });
    expect(idsOf(await delivered(queue))).toEqual(["d", "c", "b", "a"]);
  });

  test("is never exceeded, delays no other group, and is filled again as soon as one task ends", async () => {
    await writeSettings("capped", "n=1;m=3");
    await queue.enqueueMany(ofGroup("capped", 200));
    await queue.enqueueMany(ofGroup("free", 20));
    const batch = await queue.dequeue({ max: 100 });
    expect([
      timesOf(
        batch.map(({ group }) => group ?? ""),
        "capped",
      ),
      batch.length,
    ]).toEqual([3, 23]);
    expect(await queue.dequeue({ max: 10 })).toHaveLength(0);
    expect((await rig.space()).limited.size).toBe(197);
    const [one, two] = batch.filter(({ group }) => group === "capped");
    await one?.complete();
    await two?.requeue();
    expect((await queue.dequeue({ max: 10 })).map(({ payload }) => payload)).toEqual([3, 4]);
    expect(await queue.dequeue()).toHaveLength(0);
    expect((await queue.counts()).pending).toBe(196);
  });

  test("sets nextDueAt to one second while it holds tasks back", async () => {
    await rig.operator().configureGroup("capped", { maxWorking: 2 });
    await rig.operator().configureGroup("slow", { rate: { most: 1, per: "1h" } });
    await queue.enqueueMany([...ofGroup("capped", 5), ...ofGroup("slow", 3)]);
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
    // No task is held for working ones any more: the other group's rate gives the time, unless its lease ends
    // sooner.
    expect([third.count, third.in]).toEqual([1, 300_000]);
    await second.batch[1]?.complete();
    await third.batch[0]?.complete();
    expect(await next()).toMatchObject({ count: 0, in: 3_960_000 - (START % 360_000) });
    await rig.operator().configureGroup("slow", { rate: null });
    expect(await next()).toMatchObject({ count: 2 });
  });

  test("set over a backlog holds it in bounded calls, and waits until enough working tasks have ended", async () => {
    await queue.enqueueMany(ofGroup("late", 1_000));
    const taken = await queue.dequeue({ max: 5 });
    await queue.enqueueMany(ofGroup("late", 1_000));
    await writeSettings("late", "n=2;m=2");
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
});

describe("a group's rate", () => {
  test("is kept in any period, reports when it has room again, and delays no other group", async () => {
    await writeSettings("slow", "n=1;r=3/10000");
    await queue.enqueueMany(ofGroup("slow", 7));
    await queue.enqueueMany(ofGroup("free", 2));
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
    expect((await rig.space()).limited.size).toBe(0);
  });

  test("sets nextDueAt to when it has room again if a maxWorking beside it has room", async () => {
    await rig.operator().configureGroup("slow", { maxWorking: 5, rate: { most: 1, per: "1h" } });
    await queue.enqueueMany(ofGroup("slow", 3));
    expect((await queue.dequeue({ max: 3, lease: "1d" })).map(({ payload }) => payload)).toEqual([0]);
    const none = await queue.dequeue({ max: 3 });
    expect([none.length, none.nextDueAt]).toEqual([0, START + 3_960_000 - (START % 360_000)]);
  });
});

test("a task of higher priority comes before the ready tasks of a group at its limit", async () => {
  await rig.operator().configureGroup("g", { maxWorking: 1 });
  await queue.enqueue("low", { group: "g" });
  await queue.enqueue("high", { group: "g", priority: 1 });
  const [first] = await queue.dequeue();
  await first?.complete();
  const [second] = await queue.dequeue();
  expect([first?.payload, second?.payload]).toEqual(["high", "low"]);
});

test("a held task of higher priority comes before a task of its group that is handed back", async () => {
  await queue.enqueueMany([1, 2].map((payload) => ({ payload, group: "g" })));
  await rig.operator().configureGroup("g", { maxWorking: 1 });
  const [first] = await queue.dequeue({ max: 5 });
  await queue.enqueue("urgent", { group: "g", priority: 9 });
  await first?.requeue({ unstarted: true });
  const [urgent] = await queue.dequeue({ max: 5 });
  expect(urgent?.payload).toBe("urgent");
  await urgent?.complete();
  const rest = [];
  for (let i = 0; i < 2; i++) {
    const [task] = await queue.dequeue({ max: 5 });
    rest.push(task?.payload);
    await task?.complete();
  }
  expect(new Set(rest)).toEqual(new Set([1, 2]));
});
