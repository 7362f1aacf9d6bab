import { describe, expect, test } from "vitest";
import type { LeasedTask, Settlement } from "../../../src/index.ts";
import { leasing } from "../../support/leasing.ts";
import { many, numbered } from "../../support/new-tasks.ts";
import { START, useRig } from "../../support/rig.ts";

const rig = useRig();
const leased = leasing(rig);

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

test.each<[how: string, reason: string, fail: (task: LeasedTask) => unknown]>([
  ["requeue", "attempts_exhausted", (task) => task.requeue()],
  ["expiry", "lease_expired", () => void (rig.now += 1_000)],
])("there are exactly maxAttempts deliveries by %s, 10 by default (I5)", async (_, reason, fail) => {
  for (const maxAttempts of [3, undefined]) {
    const queue = rig.queue({ lease: 1_000, maxAttempts });
    const { id } = await queue.enqueue("work");
    const attempts: number[] = [];
    for (let [task] = await queue.dequeue(); task; [task] = await queue.dequeue()) {
      attempts.push(task.attempt);
      await fail(task);
    }
    const most = maxAttempts ?? 10;
    expect(attempts).toEqual(Array.from({ length: most }, (__, i) => i + 1));
    expect(await queue.get(id)).toMatchObject({ state: "rejected", reason, charged: most });
  }
});

test("a late settle by the last holder succeeds: a lease ends when it is reclaimed, not at its deadline (law 6)", async () => {
  const { queue, task } = await leased();
  rig.now += 60_000;
  expect(await task.extend()).toMatchObject({ ok: true, deadlineAt: START + 61_000 });
  rig.now += 60_000;
  expect(await task.complete("late")).toMatchObject({ ok: true, state: "completed" });
  expect((await queue.get("a"))?.result).toBe("late");
});

test("1,000 settlements fit into one call", async () => {
  const queue = rig.queue();
  await queue.enqueueMany(many(1_000));
  const batch = await queue.dequeue({ max: 1_000 });
  const extended = await queue.settle(
    batch.map(({ receipt }) => ({ receipt, outcome: "extend", lease: "1h" })),
  );
  const deadlines = new Set(extended.map((answer) => answer.ok && answer.deadlineAt));
  expect(deadlines).toEqual(new Set([START + 3_600_000]));
  const kinds = ["complete", "reject", "requeue"] as const;
  const answers = await queue.settle(
    batch.map(({ receipt }, i) => ({ receipt, outcome: kinds[i % 3] as (typeof kinds)[number] })),
  );
  expect(answers.every(({ ok }) => ok)).toBe(true);
  expect(await queue.counts()).toMatchObject({ pending: 333, working: 0, rejected: 333 });
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
