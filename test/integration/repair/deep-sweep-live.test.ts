import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { deepSweep, sweep, type LeasedTask } from "../../../src/index.ts";
import { deepTools } from "../../support/deep.ts";
import { key, useRig } from "../../support/rig.ts";

// Faults of cleaners in other queue systems, which must not happen beside live producers and consumers here.
const rig = useRig();
const { runDeepSweep, enqueue, drained } = deepTools(rig);

test("two deep sweeps at once beside producers, consumers and sweeps find nothing, and each task is completed once", async () => {
  const open = () => rig.queue<number>({ now: undefined, lease: 60, maxAttempts: 0 });
  const operator = rig.operator();
  await operator.configureGroup("capped", { maxWorking: 3 });
  await operator.configureGroup("slow", { rate: { most: 40, per: "100ms" } });
  const kinds = [{}, { group: "a" }, { group: "capped" }, { group: "slow" }, { priority: 3 }, { delay: 20 }];
  const completed = new Map<string, number>();
  const count = 300;
  const run = { over: false, produced: 0 };

  async function produce(from: number): Promise<void> {
    for (let i = from; i < count; i += 15) {
      const ids = Array.from({ length: 5 }, (_, j) => i + j);
      await open().enqueueMany(
        ids.map((n) => ({ id: `t${n}`, payload: n, ...kinds[n % 6], dedup: { key: `k${n}`, window: 50 } })),
      );
      await open().cancel(`t${i}`);
      run.produced += ids.length;
      await sleep(2);
    }
  }

  async function work(task: LeasedTask<number>): Promise<void> {
    const roll = Math.random();
    if (roll < 0.1) return;
    if (roll < 0.2) await task.requeue(roll < 0.15 ? { delay: 10 } : { unstarted: true });
    else if ((await task.complete()).ok) completed.set(task.id, (completed.get(task.id) ?? 0) + 1);
  }

  async function consume(name: string): Promise<void> {
    while (!run.over) {
      const batch = await open().dequeue({ max: 7, worker: { name, silentAfter: 200 } });
      await Promise.all(batch.map(work));
      await sleep(batch.length === 0 ? 5 : 0);
    }
  }

  let looks = 0;
  async function watch(): Promise<void> {
    while (!run.over) {
      const report = await deepSweep(rig.transport);
      expect(report).toMatchObject({ faults: [], failed: [] });
      looks++;
    }
  }

  async function sweepOften(): Promise<void> {
    while (!run.over) {
      await sweep(rig.transport, { limit: 20 });
      const { pending, delayed, working } = await open().counts();
      run.over = run.produced === count && pending + delayed + working === 0;
      await sleep(7);
    }
  }

  const all = [...[0, 5, 10].map(produce), ...["x", "y", "z"].map(consume), watch(), watch(), sweepOften()];
  await Promise.all(
    all.map((running) =>
      running.catch((error: unknown) => {
        run.over = true;
        throw error;
      }),
    ),
  );
  expect([...completed.values()].filter((times) => times !== 1)).toEqual([]);
  for (let i = 0; i < count; i++) {
    const { state, reason } = (await open().get(`t${i}`)) ?? {};
    expect([`t${i}`, state, reason]).toEqual(
      completed.has(`t${i}`) ? [`t${i}`, "completed", undefined] : [`t${i}`, "rejected", "cancelled"],
    );
  }
  expect(looks).toBeGreaterThan(1);
});

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
