import { describe, expect, test } from "vitest";
import type { Settlement } from "../../../src/index.ts";
import { leasing } from "../../support/leasing.ts";
import { named, numbered } from "../../support/new-tasks.ts";
import { START, useRig } from "../../support/rig.ts";

const rig = useRig();
const leased = leasing(rig);

describe("outcomes", () => {
  test("complete keeps the result for resultTtl", async () => {
    const { queue, task } = await leased({ resultTtl: "10m" });
    const completed = { receipt: task.receipt, ok: true, state: "completed" };
    expect(await task.complete({ sum: 0.1 })).toEqual(completed);
    expect(await queue.get("a")).toMatchObject({ state: "completed", result: { sum: 0.1 }, endedAt: START });
    rig.now += 600_000 - 1;
    await rig.sweepOnce();
    expect(await queue.get("a")).toMatchObject({ state: "completed" });
    rig.now += 1;
    await rig.sweepOnce();
    expect(await queue.get("a")).toBeNull();
  });

  test.each([0, 1_000])(
    "a resultTtl of %i ms does not shorten how long the id is known",
    async (resultTtl) => {
      const { queue, task } = await leased({ resultTtl });
      await task.complete("secret");
      const { tasks, expiry } = await rig.space();
      expect(JSON.stringify([...tasks]).includes("secret")).toBe(resultTtl > 0);
      expect([...expiry]).toEqual([["a", START + 300_000]]);
      expect(await queue.get("a")).toMatchObject({ state: "completed" });
    },
  );

  test("reject keeps payload and error as a dead letter for deadTtl", async () => {
    const { queue, task } = await leased({ deadTtl: "1d" });
    const rejected = { state: "rejected", reason: "rejected" };
    const error = new TypeError("no such address");
    expect(await task.reject(error)).toEqual({ receipt: task.receipt, ok: true, ...rejected });
    const { name, message } = error;
    expect(await queue.get("a")).toMatchObject({ ...rejected, error: { name, message } });
    const { tasks, dead, expiry } = await rig.space();
    expect(tasks.get("a")).toMatch(/j"work"$/);
    expect([[...dead], [...expiry]]).toEqual([[["a", START]], [["a", START + 86_400_000]]]);
  });

  test("requeue puts the task behind the others at once, or after a delay", async () => {
    const { queue, task } = await leased();
    await queue.enqueueMany([{ payload: 1, id: "b" }]);
    expect(await task.requeue()).toEqual({ receipt: task.receipt, ok: true, state: "pending" });
    expect((await rig.space()).pending).toEqual(["a", "b"]);
    const [b] = await queue.dequeue();
    const delayed = { receipt: b?.receipt, ok: true, state: "delayed", dueAt: START + 2_000 };
    expect(await b?.requeue({ delay: "2s", error: "later" })).toEqual(delayed);
    const requeued = { state: "delayed", error: "later", requeues: 1, requeuedAt: START };
    expect(await queue.get("b")).toMatchObject(requeued);
  });

  test("there are exactly maxAttempts deliveries by requeue; the last requeue rejects and reports it (I5)", async () => {
    const { queue, task } = await leased({ maxAttempts: 3 });
    await task.requeue();
    await (await queue.dequeue())[0]?.requeue({ delay: 1 });
    rig.now += 1;
    const [third] = await queue.dequeue();
    expect(third?.attempt).toBe(3);
    const rejected = { state: "rejected", reason: "attempts_exhausted" };
    expect(await third?.requeue({ error: "still no" })).toMatchObject({ ok: true, ...rejected });
    expect(await queue.dequeue()).toHaveLength(0);
    const ended = { ...rejected, attempt: 3, charged: 3, error: "still no" };
    expect(await queue.get("a")).toMatchObject(ended);
  });

  test.each([3, undefined])(
    "there are exactly maxAttempts deliveries by expiry, 10 by default (I5): %s",
    async (maxAttempts) => {
      const { queue } = await leased({ maxAttempts }, 10);
      let deliveries = 1;
      for (let i = 0; i < 12; i++) {
        rig.now += 10;
        deliveries += (await queue.dequeue({ lease: 10 })).length;
      }
      const most = maxAttempts ?? 10;
      expect(deliveries).toBe(most);
      const ended = { state: "rejected", reason: "lease_expired", attempt: most, charged: most };
      expect(await queue.get("a")).toMatchObject(ended);
    },
  );

  test("a requeue that does not count refunds the attempt but not the delivery (I4 I5)", async () => {
    const { queue, task } = await leased({ maxAttempts: 1 });
    expect(await task.requeue({ count: false })).toMatchObject({ state: "pending" });
    expect(await queue.get("a")).toMatchObject({ attempt: 1, charged: 0 });
    const [again] = await queue.dequeue();
    expect(again?.attempt).toBe(2);
    expect(await again?.requeue()).toMatchObject({ state: "rejected", reason: "attempts_exhausted" });
  });

  test("of many tasks handed back unstarted the first stays the first, and one with a lost lease changes nothing (I8)", async () => {
    const queue = rig.queue();
    await queue.enqueueMany(numbered(500));
    const tasks = await queue.dequeue({ max: 400 });
    await tasks[7]?.complete();
    const settled = await queue.settle(
      tasks.map(({ receipt }) => ({ receipt, outcome: "requeue", unstarted: true })),
    );
    expect(settled.filter(({ ok }) => !ok)).toMatchObject([{ code: "lease_lost" }]);
    const again = await queue.dequeue({ max: 1_000 });
    const ids = numbered(500).map(({ id }) => id);
    expect(again.map(({ id }) => id)).toEqual(ids.filter((id) => id !== tasks[7]?.id));
  });

  test("handed back unstarted a task goes to the front again, uncounted (I5 I8)", async () => {
    const queue = rig.queue();
    await queue.enqueueMany(named(["a", "b", "c", "d"], { maxAttempts: 1 }));
    const [a, b] = await queue.dequeue({ max: 2 });
    for (const task of [b, a]) {
      const reported = { receipt: task?.receipt, ok: true, state: "pending" };
      expect(await task?.requeue({ unstarted: true })).toEqual(reported);
      const before = await rig.keySpace();
      expect(await task?.requeue({ unstarted: true })).toEqual(reported);
      expect(await rig.keySpace()).toEqual(before);
    }
    expect((await rig.space()).pending.toReversed()).toEqual(["a", "b", "c", "d"]);
    expect(await queue.get("a")).toMatchObject({ state: "pending", attempt: 1, charged: 0, requeues: 0 });
    const again = await queue.dequeue({ max: 4 });
    expect(again.map(({ id, attempt }) => [id, attempt])).toEqual([
      ["a", 2],
      ["b", 2],
      ["c", 1],
      ["d", 1],
    ]);
    expect(await again[0]?.requeue()).toMatchObject({ state: "rejected", reason: "attempts_exhausted" });
  });

  test("a late settle by the last holder succeeds: a lease ends when it is reclaimed, not at its deadline (law 6)", async () => {
    const { queue, task } = await leased();
    rig.now += 60_000;
    expect(await task.extend()).toMatchObject({ ok: true, deadlineAt: START + 61_000 });
    rig.now += 60_000;
    expect(await task.complete("late")).toMatchObject({ ok: true, state: "completed" });
    expect((await queue.get("a"))?.result).toBe("late");
  });
});

describe("bad input", () => {
  test.each<[what: string, settlement: object, field: string]>([
    ["nonsense for a receipt", { receipt: "nonsense", outcome: "complete" }, "receipt"],
    ["a number for a receipt", { receipt: 7, outcome: "complete" }, "receipt"],
    ["an unknown outcome", { outcome: "finish" }, "outcome"],
    ["a negative delay", { outcome: "requeue", delay: -1 }, "delay"],
    ["a lease of 0", { outcome: "extend", lease: 0 }, "lease"],
    ["a result that JSON cannot express", { outcome: "complete", result: 1n }, "result"],
    ["a result over 1 MiB", { outcome: "complete", result: "a".repeat(1_048_576) }, "result"],
    ["an error over 16 KiB", { outcome: "reject", error: { log: "a".repeat(17_000) } }, "error"],
  ])("%s", async (_, settlement, field) => {
    const { queue, task } = await leased();
    const wrong = { receipt: "1.1.1.tokentoken.a", ...settlement } as Settlement;
    const right = { receipt: task.receipt, outcome: "complete" } as const;
    const before = await rig.keySpace();
    await expect(queue.settle([wrong])).rejects.toMatchObject({ path: `settlements[0].${field}` });
    await expect(queue.settle([right, wrong])).rejects.toMatchObject({ path: `settlements[1].${field}` });
    expect(await rig.keySpace()).toEqual(before);
  });

  test.each([{ delay: 1 }, { backoff: true as const }, { error: "no" }])(
    "%j beside unstarted",
    async (more) => {
      const { task } = await leased();
      const before = await rig.keySpace();
      await expect(task.requeue({ unstarted: true, ...more })).rejects.toMatchObject({
        code: "invalid_argument",
        path: "unstarted",
      });
      expect(await rig.keySpace()).toEqual(before);
    },
  );

  test("the message of an error is shortened, so that a failure can always be recorded", async () => {
    const { queue, task } = await leased();
    await task.reject(new Error("x".repeat(100_000)));
    const info = await queue.get("a");
    expect(info?.error).toEqual({ name: "Error", message: `${"x".repeat(3_999)}…` });
  });
});
