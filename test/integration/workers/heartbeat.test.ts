import { beforeEach, describe, expect, test } from "vitest";
import type { LeasedTask, Queue, Worker } from "../../../src/index.ts";
import { START, useRig } from "../../support/rig.ts";
import { numbered } from "../../support/new-tasks.ts";
import { recorded } from "../../support/recorded.ts";

const rig = useRig();
let queue: Queue;
beforeEach(() => void (queue = rig.queue()));
const deadlines = async () => Object.fromEntries((await rig.space()).working);
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

  test.each([
    ["receipts", "1.1.1.token-01.t0"],
    ["receipts", Array.from({ length: 1_001 }, () => "1.1.1.token-01.t0")],
    ["receipts[1]", ["1.1.1.token-01.t0", "t0"]],
  ])("refuses an invalid list of receipts and names %s", async (path, receipts) => {
    const beat = rig.queue().heartbeat(one, { receipts: receipts as string[] });
    await expect(beat).rejects.toMatchObject({ code: "invalid_argument", path });
    expect(await rig.keySpace()).toEqual({});
  });

  test("registers a worker before its first dequeue, and updates where it runs", async () => {
    const none = { ok: true, leases: 0, deadlineAt: null, cancelRequested: [] };
    expect(await queue.heartbeat({ ...one, node: "a" })).toEqual(none);
    expect(await queue.heartbeat({ ...one, node: "b", pid: 0 })).toEqual(none);
    expect((await rig.operator().workers()).workers).toMatchObject([{ ...one, node: "b", pid: 0 }]);
    expect((await queue.counts()).workers).toBe(1);
  });

  test("of 2,500 tasks takes three requests, extends every lease, and returns the earliest deadline", async () => {
    await queue.enqueue(0, { id: "short", lease: "90s" });
    await queue.dequeue({ worker: one });
    for (let first = 0; first < 2_500; first += 500) {
      await queue.enqueueMany(numbered(2_500).slice(first, first + 500));
      expect(await queue.dequeue({ max: 500, worker: one })).toHaveLength(500);
    }
    await queue.cancel("t2400");
    rig.now += 60_000;
    const { queue: counted, requests } = recorded(rig);
    expect(await counted.heartbeat(one)).toEqual({
      ok: true,
      leases: 2_501,
      deadlineAt: rig.now + 90_000,
      cancelRequested: ["t2400"],
    });
    expect(requests).toHaveLength(3);
    const { short, ...others } = await deadlines();
    expect([short, new Set(Object.values(others))]).toEqual([rig.now + 90_000, new Set([rig.now + 300_000])]);
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

describe("heartbeats for days", () => {
  test("a lease kept by heartbeats counts no attempt, and its deadline does not drift", async () => {
    await queue.enqueue("for ever", { id: "t0", maxAttempts: 1 });
    const [task] = await queue.dequeue({ worker: one, lease: "10m" });
    const before = await queue.get("t0");
    for (let i = 0; i < 3 * 24 * 12; i++) {
      rig.now += 300_000;
      expect(await queue.heartbeat(one)).toMatchObject({ leases: 1, deadlineAt: rig.now + 600_000 });
      if (i % 100 !== 0) continue;
      expect(await rig.sweepOnce()).toEqual(["ok", 0, 0, 0, 0, 0, 0, 0]);
      expect(await queue.dequeue({ worker: { name: "other" } })).toHaveLength(0);
    }
    expect(await queue.get("t0")).toEqual({ ...before, deadlineAt: rig.now + 600_000 });
    expect(await task?.complete("at last")).toMatchObject({ ok: true, state: "completed" });
  });

  test("a task that never completes has exactly one holder at any time, even when its workers die", async () => {
    await queue.enqueue("for ever", { id: "t0", maxAttempts: 0 });
    let holder: { worker: Worker; task: LeasedTask } | undefined;
    for (let i = 0; i < 200; i++) {
      rig.now += 20_000;
      // Each process dies after a while, without another call.
      if (i % 7 === 3) holder = undefined;
      const worker: Worker = { name: `w${i % 3}`, incarnation: `i${i}`, silentAfter: "1m" };
      const [task] = await queue.dequeue({ worker, lease: "10d" });
      if (task) {
        expect(holder).toBeUndefined();
        holder = { worker, task };
      }
      if (holder) expect(await queue.heartbeat(holder.worker)).toMatchObject({ ok: true, leases: 1 });
      const { working, pending, workerLeases } = await rig.space();
      expect(working.size + pending.length).toBe(1);
      expect(workerLeases.size).toBe(working.size);
    }
    expect((await queue.get("t0"))?.attempt).toBeGreaterThan(20);
  });
});
