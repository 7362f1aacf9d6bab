import { describe, expect, test } from "vitest";
import { bury } from "../../support/dead-letters.ts";
import { START, useRig } from "../../support/rig.ts";
import { named, sortedIds } from "../../support/new-tasks.ts";

const rig = useRig();
const redrive = (options: Parameters<ReturnType<typeof rig.operator>["redrive"]>[0] = {}) =>
  rig.operator().redrive(options);

async function dequeued(max = 1_000): Promise<string[]> {
  return (await rig.queue().dequeue({ max })).map(({ id }) => id);
}

describe("a redriven dead letter", () => {
  test("is pending again with its payload: its attempt continues, nothing is charged, its last error stays (I4 I5)", async () => {
    await rig.operator().configure({ statistics: true });
    const queue = rig.queue({ maxAttempts: 2 });
    await queue.enqueue({ to: "a" }, { id: "a", headers: { h: "1" } });
    await (await queue.dequeue())[0]?.requeue({ error: "first" });
    await (await queue.dequeue())[0]?.requeue({ error: "second" });
    const dead = await queue.get("a");
    expect(dead).toMatchObject({ state: "rejected", reason: "attempts_exhausted", attempt: 2, charged: 2 });
    rig.now += 1_000;
    const report = { redriven: 1, refused: [], cursor: null, unreadable: 0 };
    expect(await redrive({ ids: ["a"] })).toEqual(report);
    const { reason: _, endedAt: __, version = 0, transitions = [], ...rest } = dead ?? {};
    expect(await queue.get("a")).toEqual({
      ...rest,
      state: "pending",
      charged: 0,
      version: version + 1,
      transitions: [...transitions, { version: version + 1, to: "pending", at: rig.now }],
      error: "second",
    });
    const space = await rig.space();
    expect([space.pending, space.dead.size, space.expiry.size]).toEqual([["a"], 0, 0]);
    expect(space.tasks.get("~stats")).toContain(";redriven=1");
    const [task] = await queue.dequeue();
    expect(task).toMatchObject({ payload: { to: "a" }, headers: { h: "1" }, attempt: 3 });
    expect(await task?.requeue()).toMatchObject({ state: "pending" });
    expect(await (await queue.dequeue())[0]?.requeue()).toMatchObject({ reason: "attempts_exhausted" });
  });

  test.each([
    [{}, ["lost", "spent"]],
    [{ text: "no" }, ["spent"]],
    [{ reason: "rejected" }, ["final"]],
    [{ reason: ["rejected", "lease_expired"] }, ["final", "lost"]],
    [{ ids: ["final", "lost"] }, ["final", "lost"]],
    [{ reason: "cancelled" }, []],
  ] as const)("is not one that a consumer rejected for good, unless named: %j", async (filter, ids) => {
    const queue = rig.queue();
    await queue.enqueueMany(named(["final", "spent", "lost", "gone"], { maxAttempts: 1 }));
    await queue.cancel("gone");
    const [final, spent] = await queue.dequeue({ max: 3, worker: { name: "w" } });
    await final?.reject("no");
    await spent?.requeue({ error: "no" });
    await rig.operator().failWorker("w");
    expect(await redrive({ dryRun: true, ...filter })).toMatchObject({ redriven: ids.length });
    expect(await redrive(filter)).toMatchObject({ redriven: ids.length, cursor: null });
    const { tasks } = await rig.operator().list({ state: "pending" });
    expect(tasks.map(({ id }) => id).toSorted()).toEqual(ids);
  });

  test("of a group gets a new tag, and waits if the group is at its limit", async () => {
    const queue = rig.queue();
    await bury(queue, named(["a", "b", "c"], { group: "g", priority: 3 }));
    await rig.operator().configureGroup("g", { maxWorking: 1 });
    expect(await redrive({ group: "g" })).toMatchObject({ redriven: 3 });
    const { fair, limited, dead } = await rig.space();
    expect([fair.size, limited.size, dead.size]).toEqual([1, 2, 0]);
    const [first] = await queue.dequeue({ max: 5 });
    expect(first?.id).toBe("a");
    await first?.complete();
    expect(await dequeued()).toEqual(["b"]);
  });

  test("still travels alone if its leases expired (law 11)", async () => {
    const queue = rig.queue({ maxAttempts: 1, lease: 1_000 });
    await queue.enqueue(1, { id: "killer" });
    await queue.dequeue();
    rig.now += 1_000;
    await rig.sweepOnce();
    await redrive();
    await queue.enqueueMany(named(sortedIds(9)));
    expect(await dequeued(10)).toEqual(["killer"]);
  });
});

test("a redrive as a dry run counts tasks and changes nothing, by filter and by id", async () => {
  await bury(rig.queue(), named(sortedIds(500)));
  const before = await rig.keySpace();
  const dry = (options: object) => redrive({ dryRun: true, ...options });
  expect(await dry({})).toMatchObject({ redriven: 500, cursor: null });
  expect(await dry({ text: "t049" })).toMatchObject({ redriven: 10 });
  expect(await dry({ limit: 400 })).toMatchObject({ redriven: 400 });
  const refused = [{ id: "none", code: "not_found" }];
  expect(await dry({ ids: ["t0001", "none"] })).toMatchObject({ redriven: 1, refused });
  expect(await rig.keySpace()).toEqual(before);
});

describe("a redrive at a rate", () => {
  test("continues over several calls, also if they come faster or later than the rate", async () => {
    await bury(rig.queue(), named(sortedIds(9)));
    const first = await redrive({ rate: 3, limit: 4 });
    rig.now += 10;
    const second = await redrive({ rate: 3, limit: 2, cursor: first.cursor ?? "" });
    rig.now += 60_000;
    await redrive({ rate: 3, cursor: second.cursor ?? "" });
    const { pending, delayed } = await rig.space();
    expect(pending).toEqual(["t0006", "t0000"]);
    const late = START + 60_010;
    expect([...delayed.values()]).toEqual(
      [333, 666, 1_000, 1_334, 1_667].map((ms) => START + ms).concat(late + 333, late + 666),
    );
  });

  test("holds for hundreds of tasks in one call, by id, and for tasks of a group", async () => {
    await bury(rig.queue(), named(sortedIds(500)));
    await redrive({ rate: 100 });
    const { delayed } = await rig.space();
    expect([...delayed.values()]).toEqual(sortedIds(499).map((_, i) => START + 10 * (i + 1)));
    await rig.command("FLUSHALL");
    await bury(rig.queue(), named(["a", "b"], { group: "g" }));
    await redrive({ ids: ["a", "b"], rate: 0.1 });
    expect([...(await rig.space()).delayed]).toEqual([["b", START + 10_000.5]]);
    rig.now += 10_000;
    expect(await dequeued()).toEqual(["a", "b"]);
  });
});
