import { describe, expect, test } from "vitest";
import { deepTools } from "../../support/deep.ts";
import { key, useRig } from "../../support/rig.ts";

// Faults of cleaners in other queue systems, which must not happen beside live producers and consumers here.
const rig = useRig();
const { runDeepSweep, enqueue, drained } = deepTools(rig);

describe("the deep sweep has no fault of other queues' cleaners", () => {
  test("no leased task is taken away, also by repeated sweeps or after its deadline", async () => {
    await enqueue("a", { id: "g", group: "g" });
    const tasks = await rig.queue().dequeue({ max: 2, lease: 1_000 });
    rig.now += 1_000;
    await Promise.all([runDeepSweep(), runDeepSweep(), runDeepSweep()]);
    expect((await rig.space()).pending).toEqual([]);
    for (const task of tasks) expect(await task.complete()).toMatchObject({ ok: true });
  });

  test("two at once duplicate nothing, also if there are faults to repair", async () => {
    const ids = Array.from({ length: 120 }, (_, i) => `t${i}`);
    await enqueue(...ids);
    const held = await rig.queue().dequeue({ max: 20 });
    await rig.command("DEL", key("pending"), key("working"));
    const reports = await Promise.all([runDeepSweep(), runDeepSweep()]);
    const repaired = reports.flatMap(({ faults }) => faults).reduce((sum, { count }) => sum + count, 0);
    expect(repaired).toBe(120);
    for (const task of held) expect(await task.complete()).toMatchObject({ code: "lease_lost" });
    expect((await drained()).toSorted()).toEqual(ids.toSorted());
  });

  test("ids without a payload at the front do not make a dequeue return empty", async () => {
    await enqueue("a");
    await rig.command("RPUSH", key("pending"), "ghost", "ghost", "other");
    expect((await rig.queue().dequeue()).map(({ id }) => id)).toEqual(["a"]);
  });
});
