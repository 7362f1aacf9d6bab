import { beforeEach, describe, expect, test } from "vitest";
import { linked } from "../../../src/features/linked/index.ts";
import { type LeasedTask, Operator, Queue, sweep } from "../../../src/index.ts";
import { key, useRig } from "../../support/rig.ts";

const rig = useRig();
let ledger: Queue<number>;
let operator: Operator;
beforeEach(async () => {
  ledger = rig.queue<number>({ transport: linked(rig.transport) });
  operator = rig.operator();
  await operator.configure({ order: "strict" });
});

const ids = (tasks: readonly LeasedTask[]) => tasks.map(({ id }) => id);
const take = async (max = 10) => ids(await ledger.dequeue({ max }));
const add = (group: string, ...names: string[]) =>
  ledger.enqueueMany(names.map((id, i) => ({ payload: i, id, group })));

describe("of a group in strict order", () => {
  test("one task at a time is delivered, the next one when it has completed", async () => {
    await add("a", "a1", "a2", "a3");
    const [first] = await ledger.dequeue({ max: 10 });
    expect(first?.id).toBe("a1");
    expect(await take()).toEqual([]);
    await first?.complete();
    expect(await take()).toEqual(["a2"]);
    expect(await ledger.counts()).toMatchObject({ pending: 1, working: 1 });
  });

  test("groups share the queue fairly, and none waits for another", async () => {
    await add("a", "a1", "a2");
    await add("b", "b1", "b2");
    expect(await take()).toEqual(["a1", "b1"]);
  });

  test("a requeued task keeps its place, with its delay too", async () => {
    await add("a", "a1", "a2");
    const [first] = await ledger.dequeue();
    await first?.requeue({ delay: "1m" });
    expect(await take()).toEqual([]);
    rig.now += 60_000;
    expect(await take()).toEqual(["a1"]);
  });

  test("a task whose lease expired keeps its place", async () => {
    await add("a", "a1", "a2");
    await ledger.dequeue({ lease: "1s" });
    rig.now += 1_001;
    expect(await take()).toEqual(["a1"]);
  });

  test("a task whose worker failed keeps its place", async () => {
    await add("a", "a1", "a2");
    await ledger.dequeue({ worker: { name: "w" } });
    await operator.failWorker("w");
    expect(await take()).toEqual(["a1"]);
  });

  test("a task that is handed back keeps its place", async () => {
    await add("a", "a1", "a2");
    const [first] = await ledger.dequeue();
    await first?.requeue({ count: false });
    expect(await take()).toEqual(["a1"]);
  });

  test("a dead letter lets the group go on", async () => {
    await add("a", "a1", "a2");
    const [first] = await ledger.dequeue();
    await first?.reject({ error: "no" });
    expect(await take()).toEqual(["a2"]);
  });

  test("an exhausted task lets the group go on", async () => {
    await ledger.enqueue(1, { id: "a1", group: "a", maxAttempts: 1 });
    await add("a", "a2");
    await ledger.dequeue({ lease: "1s" });
    rig.now += 1_001;
    expect(await take()).toEqual(["a2"]);
  });

  test("a cancelled task leaves the line, wherever it is", async () => {
    await add("a", "a1", "a2", "a3", "a4");
    expect(await ledger.cancel("a2")).toMatchObject({ ok: true });
    expect(await ledger.cancel("a1")).toMatchObject({ ok: true });
    const [third] = await ledger.dequeue();
    expect(third?.id).toBe("a3");
    await third?.requeue({ delay: "1m" });
    await ledger.cancel("a3");
    expect(await take()).toEqual(["a4"]);
  });

  test("a delayed task takes its place when it is due", async () => {
    await ledger.enqueue(1, { id: "late", group: "a", delay: "1m" });
    await add("a", "a1", "a2");
    const [first] = await ledger.dequeue();
    rig.now += 60_000;
    expect(await take()).toEqual([]);
    await first?.complete();
    const [second] = await ledger.dequeue();
    expect(second?.id).toBe("a2");
    await second?.complete();
    expect(await take()).toEqual(["late"]);
  });

  test("settle and dequeue in one call delivers the next task", async () => {
    await add("a", "a1", "a2");
    const [first] = await ledger.dequeue();
    const receipt = first?.receipt ?? "";
    const { tasks } = await ledger.settleAndDequeue([{ receipt, outcome: "complete" }], { max: 5 });
    expect(ids(tasks)).toEqual(["a2"]);
  });

  test("a priority has no effect", async () => {
    await add("a", "a1", "a2");
    await ledger.enqueue(1, { id: "urgent", group: "a", priority: 9 });
    const order: string[] = [];
    for (let i = 0; i < 3; i++) {
      const [task] = await ledger.dequeue();
      order.push(task?.id ?? "");
      await task?.complete();
    }
    expect(order).toEqual(["a1", "a2", "urgent"]);
  });
});

describe("with onDead: stop", () => {
  beforeEach(async () => void (await operator.configure({ onDead: "stop" })));
  async function stopped() {
    await add("a", "a1", "a2", "a3");
    const [first] = await ledger.dequeue();
    await first?.reject({ error: "no" });
    expect(await take()).toEqual([]);
  }

  test("a dead letter stops its group until it is redriven", async () => {
    await stopped();
    await operator.redrive({ ids: [{ id: "a1" }] });
    expect(await take()).toEqual(["a1"]);
  });

  test("a dead letter stops its group until it is removed", async () => {
    await stopped();
    await operator.remove("a1");
    expect(await take()).toEqual(["a2"]);
  });

  test("a dead letter stops its group until it is purged", async () => {
    await stopped();
    await operator.purge({ state: "rejected", group: "b" });
    expect(await operator.stoppedGroups()).toMatchObject({ total: 1 });
    expect(await operator.purge({ state: "rejected", group: "a" })).toMatchObject({ purged: 1 });
    expect(await operator.stoppedGroups()).toMatchObject({ total: 0 });
    expect(await take()).toEqual(["a2"]);
  });

  test("a dead letter stops its group until it is skipped", async () => {
    await stopped();
    expect(await operator.stoppedGroups()).toEqual({
      total: 1,
      groups: [{ group: "a", id: "a1" }],
      cursor: null,
    });
    expect(await operator.skip("a2")).toEqual({ ok: false, code: "not_dead_letter" });
    expect(await operator.skip("none")).toEqual({ ok: false, code: "not_found" });
    expect(await operator.skip("a1")).toEqual({ ok: true });
    expect(await operator.skip("a1")).toEqual({ ok: true });
    expect(await operator.stoppedGroups()).toEqual({ total: 0, groups: [], cursor: null });
    expect(await take()).toEqual(["a2"]);
  });

  test.each(["a", "b", undefined])(
    "a dead letter that begins a new life in the group %s stops its group no longer",
    async (group) => {
      await stopped();
      await ledger.enqueue(9, { id: "a1", again: true, ...(group && { group }) });
      expect(await operator.stoppedGroups()).toMatchObject({ total: 0 });
      expect((await take()).toSorted()).toEqual(group === "a" ? ["a2"] : ["a1", "a2"]);
    },
  );

  test.each(["a1", ".a1", "~set"])("skip changes nothing if a later release wrote %s", async (field) => {
    await stopped();
    await rig.command("HSET", key("tasks"), field, "9;x\n");
    const before = await rig.keySpace();
    await expect(operator.skip("a1")).rejects.toMatchObject({ code: "newer_schema" });
    expect(await rig.keySpace()).toEqual(before);
    await rig.command("FLUSHALL");
  });

  test("a dead letter that stops its group is kept until then, whatever its deadTtl", async () => {
    await ledger.enqueue(1, { id: "a1", group: "a", deadTtl: "1s" });
    await add("a", "a2");
    await (await ledger.dequeue())[0]?.reject("no");
    rig.now += 3_600_000;
    await sweep(linked(rig.transport), { now: () => rig.now });
    expect(await operator.stoppedGroups()).toMatchObject({ groups: [{ group: "a", id: "a1" }] });
    expect(await ledger.get("a1")).toMatchObject({ state: "rejected" });
    expect(await take()).toEqual([]);
  });

  test("groups that are stopped are listed page by page", async () => {
    for (const group of ["a", "b", "c"]) {
      await add(group, `${group}1`);
      await (await ledger.dequeue())[0]?.reject();
    }
    const first = await operator.stoppedGroups({ size: 2 });
    expect(first).toMatchObject({ total: 3, cursor: expect.any(String) });
    expect(await operator.stoppedGroups({ size: 2, cursor: first.cursor ?? "" })).toMatchObject({
      total: 3,
      groups: [{ group: "c", id: "c1" }],
      cursor: null,
    });
  });

  test("a cancelled task stops nothing", async () => {
    await add("a", "a1", "a2");
    await ledger.cancel("a1");
    expect(await take()).toEqual(["a2"]);
  });
});

test("one group has an order in a queue without: it stops alone, and another one works side by side", async () => {
  const options = { transport: linked(rig.transport), now: () => rig.now };
  const mixed = new Queue<number>("mixed", options);
  const ofMixed = new Operator("mixed", options);
  await ofMixed.configureGroup("a", { order: "strict", onDead: "stop" });
  for (const id of ["a1", "a2", "b1", "b2", "b3"]) await mixed.enqueue(1, { id, group: id.slice(0, 1) });
  const tasks = await mixed.dequeue({ max: 3 });
  expect(ids(tasks).toSorted()).toEqual(["a1", "b1", "b2"]);
  for (const task of tasks) await task.reject({ error: "no" });
  expect(ids(await mixed.dequeue({ max: 10 }))).toEqual(["b3"]);
  expect(await ofMixed.stoppedGroups()).toMatchObject({ groups: [{ group: "a", id: "a1" }] });
  expect(await ofMixed.settings()).toMatchObject({ order: null, onDead: "continue" });
  await ofMixed.skip("a1");
  expect(ids(await mixed.dequeue({ max: 10 }))).toEqual(["a2"]);
});

test("a queue that gets its order while tasks wait and work puts them in line", async () => {
  await operator.configure({ order: null });
  await add("a", "a1", "a2", "a3", "a4");
  const [first] = await ledger.dequeue();
  await operator.configure({ order: "strict" });
  await add("a", "a5");
  expect(await take()).toEqual([]);
  await first?.complete();
  const order: string[] = [];
  for (let i = 0; i < 4; i++) {
    const tasks = await ledger.dequeue({ max: 3 });
    order.push(ids(tasks).join());
    await tasks[0]?.complete();
  }
  expect(order).toEqual(["a2", "a3", "a4", "a5"]);
});

test("a task that works when its group gets an order keeps its place, if it waits again", async () => {
  await operator.configure({ order: null });
  await add("a", "a1", "a2");
  const [first] = await ledger.dequeue();
  await operator.configure({ order: "strict" });
  await first?.requeue({ delay: "1m" });
  expect(await take()).toEqual([]);
  rig.now += 60_000;
  expect(await take()).toEqual(["a1"]);
});

test("a queue that loses its order delivers the tasks in line", async () => {
  await add("a", "a1", "a2", "a3");
  const [first] = await ledger.dequeue();
  await operator.configure({ order: null });
  await first?.complete();
  expect(await take()).toEqual(["a2", "a3"]);
});

test("a group that loses its order delivers the tasks in line at once, within its limit", async () => {
  await add("a", "a1", "a2", "a3", "a4");
  await take();
  await operator.configureGroup("a", { order: "none", maxWorking: 3 });
  expect(await operator.groupSettings("a")).toMatchObject({ ready: 2, working: 1, limited: 1, inLine: 0 });
  expect(await take()).toEqual(["a2", "a3"]);
  await operator.configureGroup("a", { maxWorking: 4 });
  expect(await take()).toEqual(["a4"]);
});

test("a group that a dead letter has stopped goes on when it loses its order", async () => {
  await operator.configure({ onDead: "stop" });
  await add("a", "a1", "a2", "a3");
  for (const task of await ledger.dequeue()) await task.reject({ error: "no" });
  await operator.configureGroup("a", { order: "none" });
  expect(await take()).toEqual(["a2", "a3"]);
});

test("without the linked edition, no call works on such a queue", async () => {
  await add("a", "a1", "a2");
  const plain = rig.queue();
  const before = await rig.keySpace();
  await expect(plain.dequeue()).rejects.toMatchObject({ code: "newer_schema" });
  await expect(plain.enqueue(1, { group: "a" })).rejects.toMatchObject({ code: "newer_schema" });
  await expect(plain.cancel("a1")).rejects.toMatchObject({ code: "newer_schema" });
  expect(await rig.keySpace()).toEqual(before);
});
