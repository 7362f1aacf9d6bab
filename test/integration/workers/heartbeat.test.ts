import { beforeEach, describe, expect, test } from "vitest";
import type { LeasedTask, Queue, Worker } from "../../../src/index.ts";
import { START, useRig } from "../../support/rig.ts";
import { numbered } from "../../support/new-tasks.ts";

const rig = useRig();
let queue: Queue;
beforeEach(() => void (queue = rig.queue()));
const deadlines = async () => Object.fromEntries((await rig.space()).working);
const idsOf = (tasks: readonly LeasedTask[]) => tasks.map(({ id }) => id);
const one = { name: "one", incarnation: "a" };

describe("a heartbeat", () => {
  test("extends the leases of its own incarnation, and no others", async () => {
    await queue.enqueueMany(numbered(6));
    await queue.dequeue({ max: 2, worker: one, lease: "10s" });
    await queue.dequeue({ worker: { name: "one", incarnation: "ab" }, lease: "10s" });
    await queue.dequeue({ worker: { name: "one" }, lease: "10s" });
    await queue.dequeue({ worker: { name: "onea" }, lease: "10s" });
    await queue.dequeue({ lease: "10s" });
    rig.now += 5_000;
    const before = await deadlines();
    expect(await queue.heartbeat(one)).toEqual({
      ok: true,
      leases: 2,
      deadlineAt: rig.now + 10_000,
      cancelRequested: [],
    });
    expect(await deadlines()).toEqual({ ...before, t0: rig.now + 10_000, t1: rig.now + 10_000 });
    expect(await queue.heartbeat({ name: "one" })).toMatchObject({ ok: true, leases: 1 });
    expect(await deadlines()).toMatchObject({ t3: rig.now + 10_000, t4: START + 10_000 });
  });

  test("extends each task by its own lease or by the lease given, and never to an earlier deadline", async () => {
    await queue.enqueueMany([
      { id: "short", payload: 0, lease: "10s" },
      { id: "long", payload: 0, lease: "1h" },
      { id: "none", payload: 0 },
    ]);
    await queue.dequeue({ max: 3, worker: one, lease: "1m" });
    rig.now += 1_000;
    expect(await queue.heartbeat(one)).toMatchObject({ leases: 3, deadlineAt: rig.now + 10_000 });
    expect(await deadlines()).toEqual({
      short: rig.now + 10_000,
      long: rig.now + 3_600_000,
      none: rig.now + 60_000,
    });
    expect(await queue.heartbeat(one, { lease: "5m" })).toMatchObject({ deadlineAt: rig.now + 300_000 });
    expect(await deadlines()).toEqual({
      short: rig.now + 300_000,
      long: rig.now + 3_600_000,
      none: rig.now + 300_000,
    });
  });

  test("with receipts extends these leases alone, and reports which of them are lost", async () => {
    await queue.enqueueMany(numbered(5));
    const mine = await queue.dequeue({ max: 3, worker: one, lease: "10s" });
    // The answer of this dequeue was lost: no process works on its task, and its lease must end.
    await queue.dequeue({ worker: one, lease: "10s" });
    const [unnamed] = await queue.dequeue({ lease: "10s" });
    await queue.cancel("t1");
    await mine[2]?.requeue();
    rig.now += 5_000;
    const receipts = [...mine, ...mine, ...(unnamed ? [unnamed] : [])].map(({ receipt }) => receipt);
    const until = rig.now + 10_000;
    expect(await queue.heartbeat(one, { receipts })).toEqual({
      ok: true,
      leases: 3,
      deadlineAt: until,
      cancelRequested: ["t1"],
      lost: ["t2"],
    });
    expect(await deadlines()).toEqual({ t0: until, t1: until, t3: START + 10_000, t4: until });
    rig.now += 5_000;
    await rig.sweepOnce();
    expect((await rig.space()).pending.toReversed()).toEqual(["t3", "t2"]);
    expect(await queue.heartbeat(one, { receipts: [] })).toMatchObject({
      leases: 0,
      deadlineAt: null,
      lost: [],
    });
  });

  test("with receipts of other workers' leases leaves those leases alone and reports them as lost", async () => {
    await queue.enqueueMany(numbered(5));
    const receipts: string[] = [];
    // A lease without a worker can be extended with its receipt by any worker.
    const holders = [one, { name: "one", incarnation: "ab" }, { name: "one" }, { name: "two" }, undefined];
    for (const worker of holders) {
      const [task] = await queue.dequeue({ lease: "10s", ...(worker && { worker }) });
      receipts.push(task?.receipt ?? "");
    }
    await queue.cancel("t1");
    rig.now += 5_000;
    const before = await deadlines();
    expect(await queue.heartbeat(one, { receipts, lease: "1h" })).toEqual({
      ok: true,
      leases: 2,
      deadlineAt: rig.now + 3_600_000,
      cancelRequested: [],
      lost: ["t1", "t2", "t3"],
    });
    const later = rig.now + 3_600_000;
    expect(await deadlines()).toEqual({ ...before, t0: later, t4: later });
  });

  test("with receipts of deleted or unknown tasks reports them as lost", async () => {
    await queue.enqueue(0, { id: "t0", resultTtl: 0 });
    const [task] = await queue.dequeue({ worker: one });
    await rig.operator().deleteQueue({ force: true });
    const receipts = [task?.receipt ?? "", "1.1.1.token-01.unknown"];
    expect(await queue.heartbeat(one, { receipts })).toEqual({
      ok: true,
      leases: 0,
      deadlineAt: null,
      cancelRequested: [],
      lost: ["t0", "unknown"],
    });
  });

  test("distinguishes the receipt of a task's earlier lease from its current one", async () => {
    await queue.enqueue(0, { id: "t0" });
    const [before] = await queue.dequeue({ worker: one, lease: 1_000 });
    rig.now += 1_000;
    const [now] = await queue.dequeue({ worker: one, lease: 1_000 });
    const receipts = [before?.receipt ?? "", now?.receipt ?? ""];
    expect(await queue.heartbeat(one, { receipts })).toMatchObject({ leases: 1, lost: ["t0"] });
    expect(await queue.heartbeat(one, { receipts: receipts.slice(0, 1) })).toMatchObject({
      leases: 0,
      lost: ["t0"],
    });
  });

  test.each([
    ["receipts", "1.1.1.token-01.t0"],
    ["receipts", Array.from({ length: 1_001 }, () => "1.1.1.token-01.t0")],
    ["receipts[1]", ["1.1.1.token-01.t0", "t0"]],
  ])("refuses an invalid list of receipts and names %s", async (path, receipts) => {
    const beat = rig.queue().heartbeat(one, { receipts: receipts as string[] });
    await expect(beat).rejects.toMatchObject({ code: "invalid_argument", path });
    expect(await rig.keySpace()).toEqual({});
  });

  test("reports which of its tasks are to be cancelled", async () => {
    await queue.enqueueMany(numbered(4));
    const tasks = await queue.dequeue({ max: 3, worker: one });
    await queue.dequeue({ worker: { name: "two" } });
    for (const id of ["t1", "t2", "t3"]) await queue.cancel(id);
    expect(await queue.heartbeat(one)).toMatchObject({ leases: 3, cancelRequested: ["t1", "t2"] });
    await tasks[1]?.requeue();
    expect(await queue.heartbeat(one)).toMatchObject({ leases: 2, cancelRequested: ["t2"] });
  });

  test("registers a worker before its first dequeue, and updates where it runs", async () => {
    const none = { ok: true, leases: 0, deadlineAt: null, cancelRequested: [] };
    expect(await queue.heartbeat({ ...one, node: "a" })).toEqual(none);
    expect(await queue.heartbeat({ ...one, node: "b", pid: 0 })).toEqual(none);
    expect((await rig.operator().workers()).workers).toMatchObject([{ ...one, node: "b", pid: 0 }]);
    expect((await queue.counts()).workers).toBe(1);
  });

  test("extends an expired lease that was not reclaimed yet, and no other", async () => {
    await queue.enqueueMany(numbered(2));
    const [task] = await queue.dequeue({ worker: one, lease: "10s" });
    rig.now += 10_000;
    await queue.heartbeat(one);
    expect(await rig.sweepOnce()).toEqual(["ok", 0, 0, 0, 0, 0, 0, 0]);
    rig.now += 10_000;
    await rig.sweepOnce();
    expect(await queue.heartbeat(one)).toMatchObject({ ok: true, leases: 0 });
    expect(await task?.extend()).toMatchObject({ ok: false, code: "lease_lost" });
  });

  test("of a restarted process does not extend its predecessor's leases", async () => {
    await queue.enqueueMany(numbered(2));
    await queue.dequeue({ worker: one, lease: "10s" });
    const restarted = { name: "one", incarnation: "b" };
    const [own] = await queue.dequeue({ worker: restarted, lease: "10s" });
    for (let i = 0; i < 3; i++) {
      rig.now += 5_000;
      await queue.heartbeat(restarted);
      await rig.sweepOnce();
    }
    const space = await rig.space();
    expect([space.pending, [...space.working.keys()]]).toEqual([["t0"], ["t1"]]);
    expect(await own?.complete()).toMatchObject({ ok: true });
  });

  test("of 2,500 tasks takes three requests and extends every lease", async () => {
    await filled(queue, one, 2_500);
    await queue.cancel("t2400");
    let requests = 0;
    const { send } = rig.transport;
    const counted = rig.queue({
      transport: { send: (...args) => (requests++, send(...args)) },
    });
    rig.now += 60_000;
    expect(await counted.heartbeat(one)).toEqual({
      ok: true,
      leases: 2_500,
      deadlineAt: rig.now + 300_000,
      cancelRequested: ["t2400"],
    });
    expect(requests).toBe(3);
    expect(new Set((await rig.space()).working.values())).toEqual(new Set([rig.now + 300_000]));
  });

  test("of more tasks than fit one request returns the earliest deadline of all", async () => {
    await queue.enqueue(0, { lease: "10s" });
    await queue.dequeue({ worker: one });
    await filled(queue, one, 1_500);
    expect(await queue.heartbeat(one)).toMatchObject({ leases: 1_501, deadlineAt: rig.now + 10_000 });
  });

  test("refuses an invalid worker or lease, and changes nothing", async () => {
    const bad: [unknown, object, string][] = [
      [undefined, {}, "worker"],
      [null, {}, "worker"],
      ["one", {}, "worker"],
      [{}, {}, "worker.name"],
      [{ name: "a b" }, {}, "worker.name"],
      [{ name: "one", incarnation: "" }, {}, "worker.incarnation"],
      [{ name: "one", pid: -1 }, {}, "worker.pid"],
      [{ name: "one", node: 1 }, {}, "worker.node"],
      [{ name: "one", node: "x".repeat(129) }, {}, "worker.node"],
      [{ name: "one", silentAfter: 0 }, {}, "worker.silentAfter"],
      [one, { lease: 0 }, "lease"],
    ];
    for (const [worker, options, path] of bad) {
      await expect(queue.heartbeat(worker as Worker, options)).rejects.toMatchObject({
        code: "invalid_argument",
        path,
      });
    }
    expect(await rig.keySpace()).toEqual({});
  });
});

/** Enqueues tasks `t0` … and leases all of them to the worker. */
async function filled(queue: Queue, worker: Worker, count: number): Promise<LeasedTask[]> {
  const tasks: LeasedTask[] = [];
  for (let first = 0; first < count; first += 500) {
    await queue.enqueueMany(numbered(count).slice(first, first + 500));
    tasks.push(...(await queue.dequeue({ max: 500, worker })));
  }
  expect(idsOf(tasks)).toEqual(numbered(count).map(({ id }) => id));
  return tasks;
}
