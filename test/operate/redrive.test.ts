import { describe, expect, test } from "vitest";
import { bury } from "../support/dead-letters.ts";
import { START, useRig } from "../support/rig.ts";
import { named, sortedIds } from "../support/new-tasks.ts";

const rig = useRig();
const redrive = (options: Parameters<ReturnType<typeof rig.operator>["redrive"]>[0] = {}) =>
  rig.operator().redrive(options);

async function dequeued(max = 1_000): Promise<string[]> {
  return (await rig.queue().dequeue({ max })).map(({ id }) => id);
}

describe("a redriven dead letter", () => {
  test.each([
    [{}, ["lost", "spent"]],
    [{ text: "no" }, ["spent"]],
    [{ reason: "rejected" }, ["final"]],
    [{ reason: ["rejected", "taken_back"] }, ["final", "lost"]],
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
