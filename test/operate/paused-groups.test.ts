import { expect, test } from "vitest";
import { deepSweep } from "../../src/index.ts";
import { named } from "../support/new-tasks.ts";
import { key, useRig } from "../support/rig.ts";

const rig = useRig();

/** Completes what a dequeue delivers. @returns the ids, and when to dequeue again */
async function deliver(max = 100) {
  const tasks = await rig.queue().dequeue({ max });
  for (const task of tasks) await task.complete();
  return { ids: tasks.map(({ id }) => id), nextDueAt: tasks.nextDueAt };
}
const NONE = { ids: [], nextDueAt: null };

test("no task of a paused group is delivered: neither those that wait, nor new or returned ones", async () => {
  const queue = rig.queue();
  await queue.enqueueMany([...named(["a1", "a2"], { group: "a" }), ...named(["b1"], { group: "b" })]);
  const [first] = await queue.dequeue();
  expect(first?.id).toBe("a1");
  expect(await rig.operator().configureGroup("a", { paused: true })).toMatchObject({ paused: true });
  await queue.enqueueMany([...named(["a3"], { group: "a", priority: 9 }), ...named(["c"])]);
  await first?.requeue();
  expect((await deliver()).ids.toSorted()).toEqual(["b1", "c"]);
  // They wait for an operator, so there is no time at which to ask again.
  expect(await deliver()).toEqual(NONE);
  expect(await rig.operator().groupSettings("a")).toMatchObject({ paused: true, limited: 3, working: 0 });
  rig.now += 60_000;
  await rig.sweepOnce();
  expect(await deliver()).toEqual(NONE);
});

test("a resumed group is delivered in its order, also above a hundred tasks", async () => {
  const queue = rig.queue();
  await rig.operator().configureGroup("a", { paused: true, maxWorking: 200 });
  const ids = Array.from({ length: 150 }, (_, i) => `a${i}`);
  await queue.enqueueMany(named(ids, { group: "a" }));
  expect(await deliver()).toEqual(NONE);
  const resumed = await rig.operator().configureGroup("a", { paused: null });
  expect(resumed).toMatchObject({ paused: false, maxWorking: 200 });
  expect([...(await deliver()).ids, ...(await deliver()).ids]).toEqual(ids);
});

test("of a resumed group with a limit, tasks of a higher priority come before those that were never held", async () => {
  const queue = rig.queue();
  await queue.enqueueMany([
    ...named(["a9"], { group: "a", priority: 9 }),
    ...named(["b"], { group: "b", priority: 5 }),
    ...named(["a0", "a00"], { group: "a" }),
  ]);
  await rig.operator().configureGroup("a", { paused: true });
  // It meets a9 only.
  expect((await deliver(1)).ids).toEqual(["b"]);
  expect([...(await rig.space()).limited.keys()]).toEqual(["a9"]);
  await rig.operator().configureGroup("a", { paused: null, maxWorking: 1 });
  for (const id of ["a9", "a0", "a00"]) expect((await deliver(1)).ids).toEqual([id]);
});

test("a group without a limit is again as before once it was paused and resumed", async () => {
  const queue = rig.queue();
  await queue.enqueueMany(named(["a1", "a2"], { group: "a" }));
  await rig.operator().configureGroup("a", { paused: true });
  expect(await deliver()).toEqual(NONE);
  await rig.operator().configureGroup("a", { paused: false });
  expect((await deliver()).ids).toEqual(["a1", "a2"]);
  expect((await rig.space()).tasks.has("~s:a")).toBe(false);
});

test("groups are listed with whether they are paused", async () => {
  await rig.queue().enqueueMany([...named(["a"], { group: "a" }), ...named(["b"], { group: "b" })]);
  await rig.operator().configureGroup("b", { paused: true });
  expect((await rig.operator().groups()).groups).toMatchObject([
    { group: "a", paused: false },
    { group: "b", paused: true },
  ]);
});

test("a deep sweep finds nothing wrong with a paused group, and gives one without its number another", async () => {
  const queue = rig.queue();
  await queue.enqueueMany(named(["a1", "a2"], { group: "a" }));
  await rig.operator().configureGroup("a", { paused: true });
  expect(await deliver()).toEqual(NONE);
  const sweep = async () => (await deepSweep(rig.transport, { now: () => rig.now })).faults;
  expect(await sweep()).toEqual([]);
  await rig.command("HSET", key("tasks"), "~s:a", "1;p=1");
  expect(await sweep()).not.toEqual([]);
  expect(await sweep()).toEqual([]);
  expect(await deliver()).toEqual(NONE);
  await rig.operator().configureGroup("a", { paused: null });
  expect((await deliver()).ids.toSorted()).toEqual(["a1", "a2"]);
});

test("a group with a rate keeps its counts while it is paused", async () => {
  const queue = rig.queue();
  await rig.operator().configureGroup("a", { rate: { most: 2, per: "10s" } });
  await queue.enqueueMany(named(["a1", "a2", "a3"], { group: "a" }));
  expect((await deliver()).ids).toEqual(["a1", "a2"]);
  await rig.operator().configureGroup("a", { paused: true });
  await rig.operator().configureGroup("a", { paused: null });
  expect((await deliver()).ids).toEqual([]);
  rig.now += 11_000;
  expect((await deliver()).ids).toEqual(["a3"]);
});
