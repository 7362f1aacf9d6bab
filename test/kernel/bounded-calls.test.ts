import { describe, expect, test } from "vitest";
import { type LeasedTask, sweep, type Settlement } from "../../src/index.ts";
import { numbered } from "../support/new-tasks.ts";
import { recorded } from "../support/recorded.ts";
import { useRig } from "../support/rig.ts";

/** Law 7: a call of a script does a bounded amount of work, whatever the caller asks for. */

const rig = useRig();
const idsOf = (tasks: readonly { readonly id: string }[]) => tasks.map(({ id }) => id);
const ids = (count: number) => idsOf(numbered(count));
const worker = { name: "one", incarnation: "a", silentAfter: 1_000 };

/** Leases `count` new tasks. */
async function leased(count: number, options: { lease?: number; worker?: typeof worker } = {}) {
  await rig.queue().enqueueMany(numbered(count));
  return rig.queue().dequeue({ max: count, ...options });
}

const requeued = (task: LeasedTask, unstarted?: true): Settlement => ({
  receipt: task.receipt,
  outcome: "requeue",
  ...(unstarted && { unstarted }),
});

describe("a settle of 1,000", () => {
  test("is one request of several script calls, in order", async () => {
    const tasks = await leased(1_000);
    const { queue, scripts } = recorded(rig);
    const again = tasks.map((task) => requeued(task));
    const settled = await queue.settle([...again.slice(0, 999), { ...again[0]!, outcome: "complete" }]);
    expect(scripts()).toEqual([Array<string>(5).fill("settle")]);
    expect(settled.map((result) => result.ok && result.state)).toEqual([
      ...Array<string>(999).fill("pending"),
      false,
    ]);
    expect(settled.map(({ receipt }) => receipt)).toEqual(
      [...tasks.slice(0, 999), tasks[0]!].map((t) => t.receipt),
    );
    expect(idsOf(await queue.dequeue({ max: 500 }))).toEqual(ids(500));
  });

  test("that hands back all of them keeps their order; one that hands back some is one call (I8)", async () => {
    const tasks = await leased(1_000);
    const { queue, scripts } = recorded(rig);
    await queue.settle(tasks.map((task) => requeued(task, true)));
    expect((await rig.space()).pending.toReversed()).toEqual(ids(1_000));
    const others = [...(await queue.dequeue({ max: 500 })), ...(await queue.dequeue({ max: 500 }))];
    const mixed = others.map((task, i) => requeued(task, i % 2 === 0 || undefined));
    await queue.settle(mixed);
    const order = ids(1_000).filter((_, i) => i % 2 === 0);
    expect((await rig.space()).pending.toReversed().slice(0, 500)).toEqual(order);
    const settles = scripts().filter(([first]) => first === "settle");
    expect(settles.map(({ length }) => length)).toEqual([5, 1]);
  });

  test("with a dequeue is two requests", async () => {
    const tasks = await leased(1_000);
    const { queue, scripts } = recorded(rig);
    const answer = await queue.settleAndDequeue(
      tasks.map((task) => requeued(task)),
      { max: 3 },
    );
    expect(scripts()).toEqual([Array<string>(5).fill("settle"), ["dequeue"]]);
    expect(answer.settled.map(({ receipt }) => receipt)).toEqual(tasks.map(({ receipt }) => receipt));
    expect(idsOf(answer.tasks)).toEqual(ids(3));
  });
});

test("a dequeue returns at most 500 tasks that were leased before, and says that more are ready", async () => {
  await rig.queue().settle((await leased(600)).map((task) => requeued(task)));
  const batch = await rig.queue().dequeue({ max: 1_000 });
  expect(idsOf(batch)).toEqual(ids(500));
  expect(batch.nextDueAt).toBe(rig.now);
  expect(idsOf(await rig.queue().dequeue({ max: 1_000 }))).toEqual(ids(600).slice(500));
});

describe("a dequeue that finds too few tasks", () => {
  const delayed = async (id: string, delay: number) => rig.queue().enqueue(id, { id, delay });

  test("takes due ones as well, behind those that were ready, by time and then by id (I8)", async () => {
    for (const [id, delay] of [
      ["d", 2],
      ["c", 1],
      ["b", 2],
      ["later", 3],
    ] as const)
      await delayed(id, delay);
    rig.now += 2;
    await rig.queue().enqueueMany([{ id: "ready", payload: 0 }]);
    const batch = await rig.queue().dequeue({ max: 10 });
    expect(idsOf(batch)).toEqual(["ready", "c", "b", "d"]);
    expect(batch.nextDueAt).toBe(rig.now + 1);
    const { pending, delayed: left } = await rig.space();
    expect([pending, [...left.keys()]]).toEqual([[], ["later"]]);
  });

  test("leaves in line those that it has no room for, also if one of a group takes its turn", async () => {
    for (const id of ["a", "b", "c"]) await delayed(id, 1);
    await rig.queue().enqueue(0, { id: "of-group", delay: 1, group: "g" });
    rig.now += 1;
    const [first, ...others] = await rig.queue().dequeue({ max: 2 });
    expect([first?.id, ...idsOf(others)]).toEqual(["a", "of-group"]);
    const { pending, fair, delayed: left } = await rig.space();
    expect([pending, [...fair.keys()], left.size]).toEqual([["c", "b"], [], 0]);
  });

  test("puts reclaimed ones in front of both (I8)", async () => {
    await rig.queue().enqueueMany(numbered(2));
    await rig.queue().dequeue({ max: 2, lease: 5 });
    await delayed("due", 5);
    await rig.queue().enqueue(0, { id: "ready" });
    rig.now += 5;
    // A task whose lease expired travels in a tenth of the batch.
    expect(idsOf(await rig.queue().dequeue({ max: 40 }))).toEqual(["t0", "t1", "ready", "due"]);
  });
});

describe("a sweep", () => {
  const swept = async (options: { limit?: number } = {}) => {
    const { transport, scripts } = recorded(rig);
    const report = await sweep(transport, { now: () => rig.now, ...options });
    return {
      report,
      calls: scripts()
        .flat()
        .filter((name) => name === "sweep").length,
    };
  };

  test("reclaims 160 leases a call, the first to expire in front of the others of its call (I6 I8)", async () => {
    await leased(500, { lease: 1_000 });
    rig.now += 1_000;
    expect(await rig.sweepOnce()).toEqual(["ok", 0, 160, 0, 0, 1, 0, 0]);
    expect(await swept()).toMatchObject({ report: { reclaimed: 340, more: false }, calls: 3 });
    expect((await rig.space()).pending).toHaveLength(500);
  });

  test("takes the tasks of a silent worker 160 a call", async () => {
    await leased(400, { lease: 60_000, worker });
    rig.now += 1_001;
    expect(await rig.sweepOnce()).toEqual(["ok", 0, 160, 0, 0, 1, 0, 0]);
    expect(await swept()).toMatchObject({ report: { reclaimed: 240, more: false }, calls: 2 });
    expect((await rig.space()).pending.toReversed().toSorted()).toEqual(ids(400).toSorted());
  });

  test("promotes 160 tasks of groups a call, and the others that are due before them, in their order (I6 I8)", async () => {
    const groups = numbered(200, { delay: 1, group: "g" }, "g");
    await rig.queue().enqueueMany(groups.map((task, i) => ({ ...task, delay: 1 + i })));
    await rig.queue().enqueueMany(numbered(300).map((task, i) => ({ ...task, delay: 1 + i })));
    rig.now += 300;
    expect(await rig.sweepOnce()).toEqual(["ok", 320, 0, 0, 0, 1, 0, 0]);
    expect(await swept()).toMatchObject({ report: { promoted: 180, more: false }, calls: 1 });
    const { pending, fair } = await rig.space();
    expect(pending.toReversed()).toEqual(ids(300));
    const inTurn = [...fair].toSorted(([, one], [, other]) => one - other).map(([id]) => id);
    expect(inTurn).toEqual(idsOf(groups));
  });

  test("deletes 500 records a call", async () => {
    const tasks = await leased(900);
    await rig.queue().settle(tasks.map(({ receipt }) => ({ receipt, outcome: "complete" })));
    rig.now += 3_600_000;
    expect(await rig.sweepOnce()).toEqual(["ok", 0, 0, 0, 500, 1, 0, 0]);
    expect(await swept()).toMatchObject({ report: { expired: 400, more: false }, calls: 1 });
  });

  test("with a limit of 10,000 sends ten calls a request, once it knows that there is so much", async () => {
    for (let i = 0; i < 2_000; i += 1_000) {
      await rig.queue().enqueueMany(numbered(1_000, {}, `x${i}-`));
      await rig.queue().dequeue({ max: 1_000, lease: 1_000 });
    }
    rig.now += 1_000;
    const { transport, scripts } = recorded(rig);
    const report = await sweep(transport, { now: () => rig.now, limit: 10_000 });
    expect(report).toMatchObject({ reclaimed: 2_000, more: false });
    const calls = scripts().map((names) => names.filter((name) => name === "sweep").length);
    expect(calls.filter((count) => count > 0)).toEqual([1, 10, 10]);
  });
});

test("a worker of 1,000 tasks is failed by seven calls in two requests, and its tasks keep their order (I8)", async () => {
  await leased(1_000, { lease: 60_000, worker });
  const { transport, scripts } = recorded(rig);
  const answer = await rig.operator({ transport }).failWorker(worker);
  expect(answer).toEqual({ returned: 1_000, rejected: 0, more: false });
  expect(scripts().map(({ length }) => length)).toEqual([1, 6]);
  expect((await rig.space()).pending.toReversed()).toEqual(ids(1_000));
});
