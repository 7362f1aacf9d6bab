import { describe, expect, test } from "vitest";
import { bury } from "../../support/dead-letters.ts";
import { START, useRig } from "../../support/rig.ts";
import { named, sortedIds } from "../../support/new-tasks.ts";

const rig = useRig();

async function dequeued(max = 1_000): Promise<string[]> {
  return (await rig.queue().dequeue({ max })).map(({ id }) => id);
}

describe("a redriven dead letter", () => {
  test("is pending again with its payload: its attempt continues, nothing is charged, its last error stays (I4 I5)", async () => {
    const queue = rig.queue({ maxAttempts: 2 });
    await queue.enqueue({ to: "a" }, { id: "a", headers: { h: "1" } });
    await (await queue.dequeue())[0]?.requeue({ error: "first" });
    await (await queue.dequeue())[0]?.requeue({ error: "second" });
    const dead = await queue.get("a");
    expect(dead).toMatchObject({ state: "rejected", reason: "attempts_exhausted", attempt: 2, charged: 2 });
    rig.now += 1_000;
    expect(await rig.operator().redrive({ ids: ["a"] })).toEqual({
      redriven: 1,
      refused: [],
      cursor: null,
      unreadable: 0,
    });
    const { reason: _, endedAt: __, ...rest } = dead ?? {};
    expect(await queue.get("a")).toEqual({
      ...rest,
      state: "pending",
      charged: 0,
      version: (dead?.version ?? 0) + 1,
      transitions: [
        ...(dead?.transitions ?? []),
        { version: (dead?.version ?? 0) + 1, to: "pending", at: rig.now },
      ],
      error: "second",
    });
    const space = await rig.space();
    expect([space.pending, space.dead.size, space.expiry.size]).toEqual([["a"], 0, 0]);
    const [task] = await queue.dequeue();
    expect(task).toMatchObject({ payload: { to: "a" }, headers: { h: "1" }, attempt: 3 });
    expect(await task?.requeue()).toMatchObject({ state: "pending" });
    expect(await (await queue.dequeue())[0]?.requeue()).toMatchObject({ reason: "attempts_exhausted" });
  });

  test("goes to the back, oldest dead letter first (I8)", async () => {
    await bury(rig.queue(), named(["c"]));
    rig.now += 1;
    await bury(rig.queue(), named(["b", "a"]));
    await rig.queue().enqueue("p", { id: "pending" });
    expect(await rig.operator().redrive()).toMatchObject({ redriven: 3, cursor: null });
    expect(await dequeued()).toEqual(["pending", "c", "a", "b"]);
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
    const dry = { dryRun: true, ...filter };
    expect(await rig.operator().redrive(dry)).toMatchObject({ redriven: ids.length });
    expect(await rig.operator().redrive(filter)).toMatchObject({ redriven: ids.length, cursor: null });
    const { tasks } = await rig.operator().list({ state: "pending" });
    expect(tasks.map(({ id }) => id).toSorted()).toEqual(ids);
  });

  test("of a group gets a new tag, and waits if the group is at its limit", async () => {
    const queue = rig.queue();
    await bury(queue, named(["a", "b", "c"], { group: "g", priority: 3 }));
    await rig.operator().configureGroup("g", { maxWorking: 1 });
    expect(await rig.operator().redrive({ group: "g" })).toMatchObject({ redriven: 3 });
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
    await rig.operator().redrive();
    await queue.enqueueMany(named(sortedIds(9)));
    expect(await dequeued(10)).toEqual(["killer"]);
  });

  test("is counted in the statistics", async () => {
    await rig.operator().configure({ statistics: true });
    await bury(rig.queue(), named(["a", "b"]));
    await rig.operator().redrive();
    expect((await rig.space()).tasks.get("~stats")).toContain(";redriven=2");
  });
});

describe("a redrive", () => {
  test("can be filtered by error text, group, reason and time", async () => {
    const queue = rig.queue();
    const redrive = async (filter: object) => {
      await rig.command("FLUSHALL");
      rig.now = START;
      await bury(queue, [
        { id: "a", payload: "timeout %d" },
        { id: "b", payload: "declined", group: "g" },
      ]);
      rig.now += 1_000;
      await bury(queue, [{ id: "c", payload: "timeout [1]", group: "g" }]);
      const { redriven } = await rig.operator().redrive(filter);
      const ids = await dequeued();
      expect(ids).toHaveLength(redriven);
      return ids;
    };
    expect(await redrive({ text: "timeout" })).toEqual(["a", "c"]);
    expect(await redrive({ text: "%d" })).toEqual(["a"]);
    expect(await redrive({ text: "[1" })).toEqual(["c"]);
    expect(await redrive({ group: "g" })).toEqual(["b", "c"]);
    expect(await redrive({ group: "g", text: "timeout" })).toEqual(["c"]);
    expect(await redrive({ endedSince: START + 1 })).toEqual(["c"]);
    expect(await redrive({ endedUntil: START + 1_000 })).toEqual(["a", "b"]);
    expect(await redrive({ reason: "attempts_exhausted", enqueuedUntil: START + 1 })).toEqual(["a", "b"]);
    expect(await redrive({ reason: "lease_expired" })).toEqual([]);
    expect(await redrive({ reason: ["lease_expired", "rejected"] })).toEqual([]);
    expect(await redrive({})).toHaveLength(3);
  });

  test("never includes cancelled tasks, in bulk or by id", async () => {
    const queue = rig.queue();
    await queue.enqueue(1, { id: "a" });
    await queue.cancel("a");
    const before = await rig.keySpace();
    expect(await rig.operator().redrive()).toMatchObject({ redriven: 0 });
    expect(await rig.operator().redrive({ reason: "cancelled" })).toMatchObject({ redriven: 0 });
    expect(await rig.operator().redrive({ ids: ["a"] })).toMatchObject({
      redriven: 0,
      refused: [{ id: "a", code: "not_dead_letter" }],
    });
    expect(await rig.keySpace()).toEqual(before);
  });

  test("by id answers for each task, and a refusal changes nothing (I3)", async () => {
    const queue = rig.queue({ deadTtl: 0 });
    await bury(queue, named(["kept-none"]));
    await queue.enqueueMany(named(["completed", "working", "pending", "removed"]));
    const [completed] = await queue.dequeue({ max: 2 });
    await completed?.complete();
    await queue.cancel("removed");
    await rig.operator().remove("removed");
    const before = await rig.keySpace();
    const ids = ["kept-none", "completed", "working", "pending", "removed", "unknown"];
    expect((await rig.operator().redrive({ ids })).refused).toEqual([
      { id: "kept-none", code: "not_dead_letter" },
      { id: "completed", code: "not_dead_letter" },
      { id: "working", code: "not_dead_letter" },
      { id: "pending", code: "not_dead_letter" },
      { id: "removed", code: "not_found" },
      { id: "unknown", code: "not_found" },
    ]);
    expect(await rig.keySpace()).toEqual(before);
  });

  test("of an id that is given twice happens once", async () => {
    await bury(rig.queue(), named(["a"]));
    expect(await rig.operator().redrive({ ids: ["a", "a", { id: "a" }] })).toMatchObject({ redriven: 1 });
    expect((await rig.space()).pending).toEqual(["a"]);
  });

  test("as a dry run counts tasks and changes nothing, by filter and by id", async () => {
    await bury(rig.queue(), named(sortedIds(1_500)));
    const before = await rig.keySpace();
    const dry = { dryRun: true };
    expect(await rig.operator().redrive(dry)).toMatchObject({ redriven: 1_500, cursor: null });
    expect(await rig.operator().redrive({ ...dry, text: "t149" })).toMatchObject({ redriven: 10 });
    expect(await rig.operator().redrive({ ...dry, limit: 1_200 })).toMatchObject({ redriven: 1_200 });
    expect(await rig.operator().redrive({ ...dry, ids: ["t0001", "none"] })).toMatchObject({
      redriven: 1,
      refused: [{ id: "none", code: "not_found" }],
    });
    expect(await rig.keySpace()).toEqual(before);
  });
});

describe("a redrive at a rate", () => {
  test("makes the first task pending at once, and delays each further one by its share of a second", async () => {
    await bury(rig.queue(), named(["a", "b", "c", "d"]));
    expect(await rig.operator().redrive({ rate: 2 })).toMatchObject({ redriven: 4 });
    const { pending, delayed } = await rig.space();
    expect(pending).toEqual(["a"]);
    expect([...delayed]).toEqual([
      ["b", START + 500],
      ["c", START + 1_000],
      ["d", START + 1_500],
    ]);
    expect(await rig.queue().get("b")).toMatchObject({ state: "delayed", dueAt: START + 500, charged: 0 });
    rig.now += 1_000;
    expect(await dequeued()).toEqual(["a", "b", "c"]);
  });

  test("continues over several calls, also if they come faster or later than the rate", async () => {
    await bury(rig.queue(), named(sortedIds(9)));
    const first = await rig.operator().redrive({ rate: 3, limit: 4 });
    rig.now += 10;
    const second = await rig.operator().redrive({ rate: 3, limit: 2, cursor: first.cursor ?? "" });
    rig.now += 60_000;
    await rig.operator().redrive({ rate: 3, cursor: second.cursor ?? "" });
    const { pending, delayed } = await rig.space();
    expect(pending).toEqual(["t0006", "t0000"]);
    const late = START + 60_010;
    expect([...delayed.values()]).toEqual(
      [333, 666, 1_000, 1_334, 1_667].map((ms) => START + ms).concat(late + 333, late + 666),
    );
  });

  test("holds for hundreds of tasks in one call", async () => {
    await bury(rig.queue(), named(sortedIds(700)));
    await rig.operator().redrive({ rate: 100 });
    const { delayed } = await rig.space();
    expect([...delayed.values()]).toEqual(sortedIds(699).map((_, i) => START + 10 * (i + 1)));
  });

  test("also works by id, and for tasks of a group", async () => {
    await bury(rig.queue(), named(["a", "b"], { group: "g" }));
    await rig.operator().redrive({ ids: ["a", "b"], rate: 0.1 });
    expect([...(await rig.space()).delayed]).toEqual([["b", START + 10_000.5]]);
    rig.now += 10_000;
    expect(await dequeued()).toEqual(["a", "b"]);
  });
});
