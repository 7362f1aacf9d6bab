import { expect, test } from "vitest";
import type { LeasedTask, Settlement } from "../../src/index.ts";
import { leasing } from "../support/leasing.ts";
import { many, numbered, named } from "../support/new-tasks.ts";
import { START, useRig } from "../support/rig.ts";
import { noRoomBeyond, roomFor } from "../support/no-room.ts";
import { recorded } from "../support/recorded.ts";

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

test("the message of an error is shortened, so that a failure can always be recorded", async () => {
  const { queue, task } = await leased();
  await task.reject(new Error("x".repeat(100_000)));
  const info = await queue.get("a");
  expect(info?.error).toEqual({ name: "Error", message: `${"x".repeat(3_999)}…` });
});

const progress = async () => (await rig.queue().get("a"))?.progress;

test("late copies of the last eight extends are recognised, also by idempotency key", async () => {
  const { queue, task } = await leased();
  const extend = (n: number) =>
    queue.settle([{ receipt: task.receipt, outcome: "extend", progress: n }], {
      idempotencyKey: `call-${n}`,
    });
  for (let n = 1; n <= 8; n++) await extend(n);
  for (let n = 1; n <= 8; n++) {
    await extend(n);
    expect(await progress()).toBe(8);
  }
  await extend(9);
  await extend(1);
  expect(await progress()).toBe(1);
});

test("the memory of late copies is removed with the lease", async () => {
  const { task } = await leased();
  await task.extend("1m", { progress: 1 });
  expect((await rig.space()).tasks.get(".a")).toMatch(/;T=,\w{8}[;\n]/);
  await task.requeue();
  expect((await rig.space()).tasks.get(".a")).not.toMatch(/;T=/);
  expect(await progress()).toBe(1);
});

const completed = ({ receipt }: { readonly receipt: string }): Settlement => ({
  receipt,
  outcome: "complete",
});

test("a completed id with a ghost in the list stays completed", async () => {
  const queue = rig.queue();
  await queue.enqueue("first", { id: "a" });
  await queue.cancel("a");
  // Delayed, so that its ghost keeps its place in the list.
  await queue.enqueue("second", { id: "a", again: true, delay: 1_000 });
  rig.now += 1_000;
  await rig.sweepOnce();
  await queue.enqueue("behind", { id: "b" });
  const [task] = await queue.dequeue();
  expect(task).toMatchObject({ id: "a", payload: "second" });
  const { settled, tasks } = await queue.settleAndDequeue([completed(task!)], { max: 2 });
  expect(settled).toMatchObject([{ ok: true, state: "completed" }]);
  expect(tasks.map(({ id }) => id)).toEqual(["b"]);
  expect(await queue.get("a")).toMatchObject({ state: "completed" });
});

test.each([
  ["the settlement", () => roomFor(rig.transport, 0)],
  ["a result, even with room for the lease", () => noRoomBeyond(rig.transport, 1_000)],
])("a settle with a dequeue leases nothing if Redis has no room for %s", async (_, full) => {
  const { queue, task } = await leased();
  await queue.enqueueMany(named(["b", "c"]));
  const before = await rig.space();
  const large = { receipt: task.receipt, outcome: "complete", result: "x".repeat(2_000) } as const;
  const refused = rig.queue({ transport: full() }).settleAndDequeue([large]);
  await expect(refused).rejects.toMatchObject({ code: "queue_full" });
  const after = await rig.space();
  expect([after.pending, after.tasks]).toEqual([before.pending, before.tasks]);
  expect([...after.working.keys()]).toEqual(["a"]);
  expect((await queue.settleAndDequeue([completed(task)])).settled).toMatchObject([{ ok: true }]);
});

test("a copy of a settle with a dequeue leases nothing if it arrives after one that found nothing", async () => {
  const { queue, requests } = recorded(rig);
  await queue.enqueueMany(numbered(1));
  const [task] = await queue.dequeue();
  await queue.settleAndDequeue([completed(task!)], { token: "token-01" });
  await queue.enqueue("late");
  const late = (requests[2] ?? []).map((command) =>
    "script" in command ? { ...command, args: command.args.with(4, "") } : command,
  );
  await rig.transport.send(late);
  expect(await queue.dequeue()).toHaveLength(1);
});
