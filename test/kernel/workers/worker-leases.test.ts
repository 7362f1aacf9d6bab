import { beforeEach, describe, expect, test } from "vitest";
import type { Queue } from "../../../src/index.ts";
import { named } from "../../support/new-tasks.ts";
import { key, START, useRig } from "../../support/rig.ts";

const rig = useRig();
let queue: Queue;
beforeEach(() => void (queue = rig.queue()));
const one = { name: "one", incarnation: "a" };
const two = { name: "two" };
const hash = key("tasks");
const ids = ["a", "b", "c", "d", "e", "f", "g", "h"];

/** The members of the zset `worker-leases`, without the lease numbers. */
const hands = async () =>
  [...(await rig.space()).workerLeases.keys()].map((member) => member.replace(/ \d{15} /, " "));

async function leased(count: number, options = {}) {
  await queue.enqueueMany(named(ids.slice(0, count), options));
  return queue.dequeue({ max: count, worker: one, lease: "10s" });
}

test("an entry of an ended lease is ignored, and removed when its worker is failed", async () => {
  const tasks = await leased(2);
  await tasks[1]?.requeue();
  await queue.dequeue({ worker: two });
  for (const member of ["two  000000000000001 a", "one a 000000000000002 b", "one a 000000000000009 x"]) {
    await rig.command("ZADD", key("worker-leases"), "0", member);
  }
  rig.now += 1_000;
  expect(await queue.heartbeat(one)).toMatchObject({ leases: 1 });
  expect(await queue.heartbeat(two)).toMatchObject({ leases: 1 });
  expect(await rig.operator().failWorker(one)).toEqual({ returned: 1, rejected: 0, more: false });
  expect(await rig.operator().failWorker("two")).toEqual({ returned: 1, rejected: 0, more: false });
  expect(await hands()).toEqual([]);
});

describe("progress", () => {
  test("is given to extend, returned by get, and kept until the task ends", async () => {
    const tasks = await leased(1);
    const [task] = tasks;
    const values = [{ done: 3, of: 10, "to;do": "50 %; ü\n" }, "half", 0, null, [], false];
    for (const progress of values) {
      rig.now += 10;
      expect(await task?.extend("10s", { progress })).toMatchObject({ ok: true });
      expect(await queue.get("a")).toMatchObject({ progress, deadlineAt: rig.now + 10_000 });
    }
    expect(await task?.extend(1, { progress: "x".repeat(1_022) })).toMatchObject({ ok: true });
    expect(await task?.extend(1, { progress: false })).toMatchObject({ ok: true });
    await task?.requeue();
    const [next] = await queue.dequeue({ worker: two });
    expect(await task?.extend("10s", { progress: "late" })).toMatchObject({ code: "lease_lost" });
    expect(await queue.get("a")).toMatchObject({ progress: false, worker: two });
    await next?.complete();
    expect(await queue.get("a")).not.toHaveProperty("progress");
  });
});

describe("a newer release (law 12)", () => {
  test("keeps its record of a worker", async () => {
    await leased(1);
    await rig.command("HSET", hash, "~w:one a", "2;who knows");
    const before = await rig.keySpace();
    await expect(queue.heartbeat(one)).rejects.toMatchObject({ code: "newer_schema" });
    expect(await rig.keySpace()).toEqual(before);
  });

  test("keeps its tasks leased by a failed worker, and the other tasks return", async () => {
    await leased(3);
    const old = (await rig.space()).tasks.get(".b") ?? "";
    await rig.command("HSET", hash, ".b", old.replace(/^1/, "2"));
    expect(await rig.operator().failWorker(one)).toEqual({ returned: 2, rejected: 0, more: false });
    await expect(rig.operator().failWorker(one)).rejects.toMatchObject({ code: "newer_schema" });
    expect(await hands()).toEqual(["one a b"]);
    await rig.command("HSET", hash, ".b", old);
    expect(await rig.operator().failWorker(one)).toMatchObject({ returned: 1 });
    expect((await queue.counts()).pending).toBe(3);
  });
});

test("a full Redis accepts heartbeats, failWorker, and the failing of silent workers", async () => {
  const silent = { ...two, silentAfter: "1m" } as const;
  await leased(4);
  await queue.enqueue("e", { id: "e" });
  await queue.dequeue({ worker: silent, lease: "1h" });
  await rig.command("CONFIG", "SET", "maxmemory", "1");
  try {
    rig.now += 1_000;
    expect(await queue.heartbeat(one, { lease: "1h" })).toMatchObject({ ok: true, leases: 4 });
    expect(await queue.heartbeat({ name: "new" })).toMatchObject({ ok: true, leases: 0 });
    expect(await rig.operator().failWorker(one)).toMatchObject({ returned: 4 });
    expect(await queue.heartbeat(one)).toMatchObject({ code: "worker_lost" });
    expect(await queue.dequeue({ worker: one, lease: "1h" })).toHaveLength(1);
    rig.now = START + 60_000;
    expect(await rig.sweepOnce()).toEqual(["ok", 0, 1, 0, 0, 0, 0, 0]);
    expect(await queue.counts()).toMatchObject({ pending: 4, working: 1, workers: 2 });
  } finally {
    await rig.command("CONFIG", "SET", "maxmemory", "0");
  }
});
