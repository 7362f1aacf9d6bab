import { beforeEach, describe, expect, test } from "vitest";
import type { LeasedTask, Queue, Worker, WorkerName } from "../../../src/index.ts";
import { START, useRig } from "../../support/rig.ts";
import { idsOf } from "../../support/leasing.ts";
import { named, numbered } from "../../support/new-tasks.ts";

const rig = useRig();
let queue: Queue;
beforeEach(() => void (queue = rig.queue()));
const namesOf = (count: number, letter = "t") => numbered(count, {}, letter).map(({ id }) => id);
const one = { name: "one", incarnation: "a" };
const two = { name: "two", incarnation: "a" };
const fail = (worker: string | WorkerName, limit?: number) => rig.operator().failWorker(worker, { limit });

/** Dequeues one by one: tasks of a failed worker travel in small batches (law 11). */
async function next(count: number, worker?: Worker): Promise<LeasedTask[]> {
  const tasks: LeasedTask[] = [];
  for (let i = 0; i < count; i++) tasks.push(...(await queue.dequeue({ worker })));
  return tasks;
}

async function refill(worker: Worker, count: number): Promise<void> {
  for (let first = 0; first < count; first += 500) {
    await queue.enqueueMany(numbered(count).slice(first, first + 500));
    await queue.dequeue({ max: 500, worker });
  }
}

describe("failing a worker", () => {
  test("returns only its own tasks to the front, in the order in which it took them", async () => {
    await queue.enqueueMany(numbered(8));
    await queue.dequeue({ worker: one });
    const others = await queue.dequeue({ worker: two });
    await queue.dequeue({ max: 2, worker: one });
    const free = await queue.dequeue();
    await queue.dequeue({ worker: one });
    expect(await fail("one")).toEqual({ returned: 4, rejected: 0, more: false });
    const { pending, working, workers } = await rig.space();
    // The next task is the last of the list.
    expect(pending).toEqual(["t7", "t6", "t5", "t3", "t2", "t0"]);
    expect([[...working.keys()].toSorted(), [...workers.keys()]]).toEqual([["t1", "t4"], ["two a"]]);
    for (const task of [...others, ...free]) expect(await task.complete()).toMatchObject({ ok: true });
    expect(idsOf(await next(4))).toEqual(["t0", "t2", "t3", "t5"]);
  });

  test.each([
    ["a", "a!", "a!b", "ab"],
    ["a;1", "a%3B1", "a;", "a%"],
    ["w=1", "w=1;x", "w", "w=12"],
    ["0", "~".replace("~", "0~"), "00", "0!!"],
  ])("touches only one of the names %s %s %s %s", async (...names) => {
    await queue.enqueueMany(numbered(2 * names.length));
    for (const name of names) {
      await queue.dequeue({ worker: { name } });
      await queue.dequeue({ worker: { name, incarnation: name, node: name } });
    }
    for (const [i, name] of names.entries()) {
      const { workers } = await rig.operator().workers();
      const left = names.slice(i);
      const working = workers.filter(({ failedAt }) => failedAt === undefined);
      expect(working.map((worker) => worker.name).toSorted()).toEqual([...left, ...left].toSorted());
      const before = (await rig.space()).working;
      const worker = { name, incarnation: name };
      expect(await queue.heartbeat(worker, { lease: "1h" })).toMatchObject({ leases: 1 });
      const extended = { worker, deadlineAt: START + 3_600_000 };
      expect(await queue.get(`t${2 * i + 1}`)).toMatchObject(extended);
      expect(await fail(name)).toEqual({ returned: 2, rejected: 0, more: false });
      for (const id of [`t${2 * i}`, `t${2 * i + 1}`]) before.delete(id);
      expect((await rig.space()).working).toEqual(before);
    }
    expect(await queue.counts()).toMatchObject({ workers: 0, pending: 2 * names.length });
  });

  test("with 2,500 tasks takes three bounded calls and returns each task once, in order", async () => {
    await refill(one, 2_500);
    await queue.enqueue("later", { id: "later" });
    const answers = [await fail(one), await fail(one), await fail(one)];
    expect(answers).toEqual([
      { returned: 1_000, rejected: 0, more: true },
      { returned: 1_000, rejected: 0, more: true },
      { returned: 500, rejected: 0, more: false },
    ]);
    expect((await rig.space()).pending.toReversed()).toEqual([...namesOf(2_500), "later"]);
  });
});

test("an attempt that an operator took back says so, and that of a silent worker that its lease was lost", async () => {
  const ended = { attempt: 1, at: START, error: null };
  await queue.enqueueMany([...named(["dead"], { maxAttempts: 1 }), ...named(["again"])]);
  await queue.dequeue({ max: 2, worker: one });
  await fail("one");
  const taken = { errors: [{ ...ended, takenBack: true }] };
  expect(await queue.get("dead")).toMatchObject({ state: "rejected", reason: "taken_back", ...taken });
  expect(await queue.get("again")).toMatchObject({ state: "pending", ...taken });
  await queue.dequeue({ worker: { ...two, silentAfter: "1m" } });
  rig.now += 60_000;
  await rig.sweepOnce();
  const lost = { ...ended, attempt: 2, at: rig.now };
  expect((await queue.get("again"))?.errors).toEqual([...taken.errors, lost]);
});

describe("a failed worker", () => {
  test("counts as new after a day, and its record is removed", async () => {
    await queue.enqueue(0, { id: "t0" });
    await queue.dequeue({ worker: one });
    await fail(one);
    const [again] = await queue.dequeue();
    await again?.complete(0, { ttl: 0 });
    rig.now += 86_400_000;
    await rig.sweepOnce();
    const { tasks } = await rig.space();
    expect([...tasks.keys()].filter((field) => /^~[wf]/.test(field))).toEqual([]);
    expect(await queue.heartbeat(one)).toMatchObject({ ok: true, leases: 0 });
  });
});

test("tasks of a failed worker return to the front; grouped and prioritised ones return behind the others of their group", async () => {
  const three = (name: string, options = {}) =>
    named(
      [1, 2, 3].map((i) => `${name}${i}`),
      options,
    );
  const orderOf = async (of: string) => {
    const ids: string[] = [];
    // One by one: tasks that failed once travel in smaller batches.
    for (let tasks = await queue.dequeue(); tasks.length > 0; tasks = await queue.dequeue()) {
      ids.push(...idsOf(tasks));
    }
    return ids.filter((id) => id.startsWith(of));
  };
  for (const [name, options, order] of [
    ["plain", {}, ["plain1", "plain2", "plain3"]],
    ["group", { group: "g" }, ["group3", "group1", "group2"]],
    ["prior", { priority: 5 }, ["prior3", "prior1", "prior2"]],
  ] as const) {
    await queue.enqueueMany(three(name, options));
    await queue.dequeue({ max: 2, worker: one });
    expect(await rig.operator().failWorker("one")).toMatchObject({ returned: 2 });
    expect(await orderOf(name)).toEqual(order);
    await rig.operator().deleteQueue({ force: true });
  }
  // A task handed back unstarted keeps its place.
  await queue.enqueueMany(three("group", { group: "g" }));
  for (const task of await queue.dequeue({ max: 2 })) await task.requeue({ unstarted: true });
  expect(await orderOf("group")).toEqual(["group1", "group2", "group3"]);
});
