import { beforeEach, describe, expect, test } from "vitest";
import { sweep, type Queue, type Worker } from "../../../src/index.ts";
import { useRig } from "../../support/rig.ts";
import { idsOf } from "../../support/leasing.ts";
import { numbered } from "../../support/new-tasks.ts";

const rig = useRig();
let queue: Queue;
beforeEach(() => void (queue = rig.queue()));
const MINUTE = 60_000;
const namesOf = (count: number) => numbered(count).map(({ id }) => id);
const one: Worker = { name: "one", incarnation: "a", silentAfter: "1m" };
const two: Worker = { name: "two", silentAfter: "1m" };
const run = (options = {}) => sweep(rig.transport, { now: () => rig.now, ...options });

/** Leases tasks for longer than any test runs. */
const take = (queue: Queue, worker: Worker | undefined, max: number) =>
  queue.dequeue({ max, worker, lease: "30d" });

describe("a silent worker", () => {
  test("loses none of 2,500 tasks, started or not", async () => {
    for (let i = 0; i < 5; i++) {
      await queue.enqueueMany(numbered(2_500).slice(500 * i, 500 * i + 500));
      await take(queue, one, 500);
    }
    rig.now += MINUTE;
    expect(await run()).toMatchObject({ reclaimed: 2_500, rejected: 0, more: false });
    expect((await rig.space()).pending.toReversed()).toEqual(namesOf(2_500));
    expect(await queue.counts()).toMatchObject({ working: 0, workers: 0 });
  });

  test("is failed by dequeues too, in bounded calls, and no task is lost between them", async () => {
    // The first two workers have a thousand tasks together, the most that one call takes.
    for (const [i, letter] of ["a", "b", "c", "d"].entries()) {
      await queue.enqueueMany(numbered(500, {}, letter));
      await take(queue, { ...two, name: `w${i}` }, 500);
    }
    rig.now += MINUTE;
    const seen = new Set<string>();
    for (let i = 0; i < 500 && seen.size < 2_000; i++) {
      // They travel in batches of ten.
      const batch = await queue.dequeue({ max: 100 });
      for (const { id } of batch) seen.add(id);
      await queue.settle(batch.map(({ receipt }) => ({ receipt, outcome: "complete" })));
    }
    expect(seen.size).toBe(2_000);
    expect(await queue.counts()).toMatchObject({ pending: 0, working: 0, workers: 0 });
  });
});

test("a worker that says when it is gone is working or idle until then, and keeps its tasks", async () => {
  const [busy, idle] = [
    { name: "busy", goneAfter: "2m" },
    { name: "idle", goneAfter: "2m" },
  ] as const;
  const states = async () =>
    Object.fromEntries((await rig.operator().workers()).workers.map(({ name, state }) => [name, state]));
  await queue.enqueue(0, { id: "t0" });
  const [task] = await queue.dequeue({ worker: busy, lease: "10m" });
  await queue.heartbeat(idle, { receipts: [] });
  await queue.dequeue({ worker: { name: "function" } });
  expect(await states()).toEqual({ busy: "working", idle: "idle", function: undefined });
  expect(await queue.counts()).toMatchObject({ workers: 3 });
  rig.now += 2 * MINUTE;
  expect(await states()).toEqual({ busy: "gone", idle: "gone", function: undefined });
  await run();
  expect(await states()).toEqual({ busy: "gone", function: undefined });
  expect(await queue.counts()).toMatchObject({ working: 1, workers: 2 });
  await queue.heartbeat(busy, { receipts: [] });
  expect(await states()).toEqual({ busy: "working", function: undefined });
  await task?.complete();
  rig.now += 2 * MINUTE;
  await run();
  expect(await states()).toEqual({ function: undefined });
  expect(await queue.counts()).toMatchObject({ workers: 1 });
});

test("a dequeue that finds a worker silent gives its tasks before those that fall due", async () => {
  await queue.enqueueMany(numbered(2));
  await take(queue, one, 2);
  await queue.enqueueMany(numbered(2, { delay: "30s" }, "due"));
  rig.now += MINUTE;
  const ids: string[] = [];
  // One by one: tasks of a failed worker travel in small batches (law 11).
  for (let i = 0; i < 4; i++) ids.push(...idsOf(await queue.dequeue()));
  expect(ids).toEqual(["t0", "t1", "due0", "due1"]);
});

test("a heartbeat without receipts of leases extends none", async () => {
  await queue.enqueue(0, { id: "t0" });
  const [task] = await queue.dequeue({ worker: one, lease: "10m" });
  rig.now += MINUTE / 2;
  expect(await queue.heartbeat(one, { receipts: [] })).toMatchObject({ ok: true, leases: 0 });
  expect(await queue.get("t0")).toMatchObject({ deadlineAt: task?.deadlineAt });
});

test("a worker that is not to be failed keeps its tasks, and is listed as long as it has any, even after a long silence", async () => {
  await queue.enqueue(0, { id: "t0" });
  const [task] = await take(queue, { name: "one" }, 1);
  for (let hour = 1; hour <= 30; hour++) {
    rig.now += 60 * MINUTE;
    expect(await task?.extend("2h")).toMatchObject({ ok: true });
    expect(await rig.sweepOnce()).toEqual(["ok", 0, 0, 0, 0, 0, 0, 0]);
    expect((await rig.operator().workers()).workers).toMatchObject([{ name: "one", tasks: ["t0"] }]);
  }
  expect(await task?.complete()).toMatchObject({ ok: true });
  rig.now += 60 * MINUTE;
  await rig.sweepOnce();
  expect((await queue.counts()).workers).toBe(0);
});

test("the timer of the workers is set again if it fires while a worker takes a task from behind cancelled ones", async () => {
  await queue.dequeue({ worker: one });
  await queue.enqueueMany([
    { payload: 0, id: "gone" },
    { payload: 0, id: "late", delay: 1 },
  ]);
  await queue.cancel("gone");
  rig.now += MINUTE;
  // The queue looks for due tasks only after it drops the cancelled one and finds too few pending tasks.
  expect(idsOf(await take(queue, one, 1))).toEqual(["late"]);
  expect((await rig.space()).delayed.get("~w")).toBe(rig.now + MINUTE);
  rig.now += MINUTE;
  expect(await run()).toMatchObject({ reclaimed: 1 });
});
