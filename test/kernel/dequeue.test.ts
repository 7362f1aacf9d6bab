import { beforeEach, describe, expect, test } from "vitest";
import type { Batch, Queue, Transport } from "../../src/index.ts";
import { many, named, numbered } from "../support/new-tasks.ts";
import { START, useRig, QUEUE } from "../support/rig.ts";
import { callOf } from "../../src/kernel/scripts/binding.ts";
import { queueKeys } from "../../src/kernel/names/keys.ts";
import { dequeueScript } from "../../src/kernel/scripts/take-scripts.ts";

const rig = useRig();
let queue: Queue;
beforeEach(() => void (queue = rig.queue()));
const ids = (batch: Batch<unknown>) => batch.map(({ id }) => id);

/** Enqueues tasks with ids by their number. */
async function fill(count: number, letter = "t"): Promise<string[]> {
  const tasks = numbered(count, {}, letter);
  await queue.enqueueMany(tasks);
  return tasks.map(({ id }) => id);
}

test("the lease is the task's own, else the dequeue's, else the queue's", async () => {
  const withLease = rig.queue({ lease: "40s" });
  await queue.enqueueMany([{ payload: 0, lease: "7s" }, ...many(2)]);
  const deadlines: unknown[] = [];
  for (const lease of ["9s", "9s", undefined] as const) {
    deadlines.push((await withLease.dequeue({ lease }))[0]?.deadlineAt);
  }
  expect(deadlines).toEqual([START + 7_000, START + 9_000, START + 40_000]);
});

test("a copy of a dequeue gets no task that another holds by now (I2)", async () => {
  await fill(1);
  const copy = () => queue.dequeue({ token: "token-01", lease: 1_000 });
  expect(ids(await copy())).toEqual(["t0"]);
  rig.now += 1_000;
  expect(ids(await queue.dequeue())).toEqual(["t0"]);
  expect(ids(await copy())).toEqual([]);
});

test("a copy of a dequeue by an idempotency key is the same call, and one by another key another", async () => {
  await fill(2);
  const keys = ["k1", "k1", "k2"];
  const batches = [];
  for (const idempotencyKey of keys) batches.push(ids(await queue.dequeue({ idempotencyKey })));
  expect(batches).toEqual([["t0"], ["t0"], ["t1"]]);
});

describe("bounds", () => {
  test("maxBytes keeps tasks that do not fit in their place, and always returns one", async () => {
    await queue.enqueueMany(["a", "b", "c", "d"].map((id) => ({ id, payload: id.repeat(1_000) })));
    expect(ids(await queue.dequeue({ max: 4, maxBytes: 10 }))).toEqual(["a"]);
    expect(ids(await queue.dequeue({ max: 4, maxBytes: 2_200 }))).toEqual(["b", "c"]);
    expect((await rig.space()).pending).toEqual(["d"]);
  });

  test("100 payloads of 100 kB come in order, in two calls bounded by maxBytes", async () => {
    const all = numbered(100).map((task) => ({ ...task, payload: "x".repeat(100_000) }));
    for (const half of [0, 50]) await queue.enqueueMany(all.slice(half, half + 50));
    const got = [await queue.dequeue({ max: 1_000 }), await queue.dequeue({ max: 1_000 })];
    expect(got.flatMap(ids)).toEqual(all.map(({ id }) => id));
  });

  test("one task that kills its function ends alone in the dead letters (law 11)", async () => {
    const queue = rig.queue({ maxAttempts: 5 });
    await fill(100);
    for (let rounds = 0; rounds < 60; rounds++) {
      const batch = await queue.dequeue({ max: 100, lease: 1_000 });
      if (batch.some(({ id }) => id === "t37")) rig.now += 1_000;
      else if (batch.length > 0)
        await queue.settle(batch.map(({ receipt }) => ({ receipt, outcome: "complete" })));
    }
    expect([...(await rig.space()).dead.keys()]).toEqual(["t37"]);
    expect((await queue.counts()).working).toBe(0);
    const states = await Promise.all(
      Array.from({ length: 100 }, async (_, i) => (await queue.get(`t${i}`))?.state),
    );
    expect(states.filter((state) => state === "completed")).toHaveLength(99);
    expect((await queue.get("t37"))?.reason).toBe("lease_expired");
  });
});

/** Enqueues tasks `t0` to `t<count - 1>`, and cancels the first of them. */
async function enqueueAndCancel(count: number, cancelled: number): Promise<void> {
  const ids = Array.from({ length: count }, (_, i) => `t${i}`);
  for (let first = 0; first < count; first += 1_000) {
    await queue.enqueueMany(ids.slice(first, first + 1_000).map((id) => ({ id, payload: id })));
  }
  await Promise.all(ids.slice(0, cancelled).map((id) => queue.cancel(id)));
}

describe("a dequeue continues behind entries that are not deliverable", () => {
  test("in calls of the script that each skip between 200 and 400 (law 7)", async () => {
    await enqueueAndCancel(700, 600);
    const args = { testNow: String(rig.now), maxTasks: "1", lease: "1000", token: "token-01", resend: "1" };
    const more = { maxBytes: "1000", worker: "", info: "" } as const;
    const call = callOf(dequeueScript, queueKeys(QUEUE), { ...args, ...more });
    const left: number[] = [];
    for (const reply of [
      ["more", START],
      ["more", START],
      ["ok", START, "t600"],
    ]) {
      const [outcome] = await rig.transport.send([call]);
      expect(outcome && "reply" in outcome && (outcome.reply as unknown[]).slice(0, 3)).toEqual(reply);
      left.push((await rig.space()).pending.length);
    }
    const passed = [700 - (left[0] ?? 0), (left[0] ?? 0) - (left[1] ?? 0)];
    expect(passed.map((count) => count >= 200 && count < 400)).toEqual([true, true]);
    expect(left[2]).toBe(99);
  });

  test("for 50 calls at most, and its token stays unused", async () => {
    let calls = 0;
    const ghostly: Transport = {
      send: async (commands, options) => {
        if (++calls > 55) return rig.transport.send(commands, options);
        return [{ reply: ["more", rig.now] }];
      },
    };
    await queue.enqueue("there");
    const none = await rig.queue({ transport: ghostly }).dequeue({ token: "token-02" });
    expect([none.length, none.nextDueAt, calls]).toEqual([0, START, 50]);
    expect(await queue.dequeue({ token: "token-02" })).toHaveLength(1);
  });
});

test("a dequeue over the backlog of newly limited groups returns the tasks behind it", async () => {
  for (const group of ["a", "a", "b", "b"]) await queue.enqueueMany(many(1_000, { group }));
  for (const group of ["a", "b"]) await rig.operator().configureGroup(group, { maxWorking: 1 });
  expect((await queue.dequeue({ max: 2 })).map(({ group }) => group)).toEqual(["a", "b"]);
  await queue.enqueue("last", { group: "c" });
  await queue.enqueue("lowest", { group: "d" });
  expect((await queue.dequeue({ max: 2 })).map(({ payload }) => payload)).toEqual(["last", "lowest"]);
});

test("a dequeue sets nextDueAt to now for a due task of a group behind one that it returns", async () => {
  await queue.enqueue("later", { delay: 1_000, group: "g" });
  await queue.enqueueMany(named(["t", "x", "y"]));
  await Promise.all(["x", "y"].map((id) => queue.cancel(id)));
  rig.now += 1_000;
  const batch = await queue.dequeue({ max: 2 });
  expect([batch.map(({ id }) => id), batch.nextDueAt]).toEqual([["t"], rig.now]);
  expect((await queue.dequeue()).map(({ payload }) => payload)).toEqual(["later"]);
});
