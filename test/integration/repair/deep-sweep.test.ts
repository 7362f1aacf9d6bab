import { beforeEach, describe, expect, test } from "vitest";
import { deepSweep, type DeepSweepOptions } from "../../../src/index.ts";
import { deepTools, pageByPage } from "../../support/deep.ts";
import { useRig } from "../../support/rig.ts";

// What a deep sweep does to a queue without faults.
const rig = useRig();
const { runDeepSweep } = deepTools(rig);

/** Checks page by page, even if the quick check finds no fault. */
const thorough = (options: DeepSweepOptions = {}) =>
  deepSweep(pageByPage(rig.transport), { now: () => rig.now, ...options });

/** A queue with tasks in every state and place, settings, workers, keys and ghosts. */
async function busyQueue(): Promise<void> {
  const queue = rig.queue();
  const operator = rig.operator();
  await operator.configure({ statistics: true, events: true, maxWorking: 500, maxPending: 5_000 });
  await operator.configureGroup("capped", { maxWorking: 2, weight: 3 });
  await operator.configureGroup("slow", { rate: { most: 3, per: "10s" } });
  const kinds = [
    {},
    { group: "a" },
    { group: "capped" },
    { group: "slow", priority: 2 },
    { priority: 9 },
    { delay: 60_000 },
    { delay: 60_000, group: "a", headers: { trace: "1" } },
    { delay: 5, group: "slow" },
    { dedup: { key: "weekly", window: "1h" } },
  ] as const;
  const tasks = Array.from({ length: 180 }, (_, i) => ({
    id: `t${i}`,
    payload: { i, text: "x".repeat(i) },
    ...kinds[i % kinds.length],
  }));
  await queue.enqueueMany(tasks);
  for (const id of ["t0", "t1", "t2", "t9", "t18", "t5", "t6", "t27"]) await queue.cancel(id);
  await queue.enqueue("back", { id: "t0", again: true });
  await queue.enqueue("later", { id: "t9", again: true, delay: 1_000 });
  await queue.enqueue("with others", { id: "t18", again: true, group: "a" });
  const worker = { name: "w", incarnation: "1", node: "n;1", pid: 7, silentAfter: 90_000 };
  const held = await queue.dequeue({ max: 12, worker });
  await queue.dequeue({ max: 6, lease: 500, worker: { name: "gone", silentAfter: 400 } });
  await queue.dequeue({ max: 5, lease: 100_000_000 });
  await held[0]?.complete({ done: true });
  await held[1]?.reject(new Error("no"));
  await held[2]?.requeue({ delay: 500, error: "soon" });
  await held[3]?.requeue();
  await held[4]?.requeue({ unstarted: true });
  await held[5]?.extend("1h", { progress: 5 });
  await held[6]?.complete();
  await held[7]?.reject("kept for an hour", { ttl: "1h" });
  await queue.cancel(held[8]?.id ?? "");
  rig.now += 1_000;
  await rig.sweepOnce(20);
  await queue.dequeue({ max: 9, worker: { name: "w", incarnation: "2" } });
  await operator.remove(held[6]?.id ?? "");
  await operator.redrive({ ids: [held[1]?.id ?? ""] });
}

describe("a queue without faults", () => {
  beforeEach(busyQueue);

  test("is left as it is, byte for byte, and nothing is reported", async () => {
    const before = await rig.keySpace();
    const report = await runDeepSweep();
    expect(report).toMatchObject({ queues: 1, faults: [], failed: [], cursor: null });
    expect(report.entries).toBeGreaterThan(300);
    expect(await thorough()).toEqual(report);
    expect(await rig.keySpace()).toEqual(before);
  });

  test("is left as it is hours later, with all deadlines overdue, and after sweeps", async () => {
    rig.now += 7_200_000;
    for (let i = 0; i < 12; i++) {
      const before = await rig.keySpace();
      expect(await runDeepSweep()).toMatchObject({ faults: [], failed: [] });
      expect(await thorough()).toMatchObject({ faults: [], failed: [] });
      expect(await rig.keySpace()).toEqual(before);
      await rig.sweepOnce(25);
      await rig.queue().dequeue({ max: 7, lease: 1_000 });
      rig.now += 700;
    }
  });

  test("is checked over several calls by the budget, each with at least one step", async () => {
    const before = await rig.keySpace();
    const whole = await thorough();
    let calls = 0;
    let entries = 0;
    let cursor: string | undefined;
    do {
      const report = await thorough({ budget: 0, cursor });
      calls++;
      entries += report.entries;
      expect(report.faults).toEqual([]);
      cursor = report.cursor ?? undefined;
    } while (cursor !== undefined);
    expect(calls).toBeGreaterThan(10);
    expect(entries).toBeGreaterThanOrEqual(whole.entries);
    expect(await rig.keySpace()).toEqual(before);
  });
});
