import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { deepSweep, SluiceError, sweep, type LeasedTask, type Queue } from "../../src/index.ts";

import { violations } from "../support/invariants.ts";
import { useRig } from "../support/rig.ts";
import { dice } from "../support/dice.ts";
import { saboteur } from "../support/saboteur.ts";

const rig = useRig({ checkInvariants: false });
const seed = Number(process.env["SABOTAGE_SEED"] ?? Date.now() % 1_000_000_000);

const count = 800;
const blows = 500;
const ids = Array.from({ length: count }, (_, i) => `t${i}`);
const kinds = [
  {},
  {},
  { group: "a" },
  { group: "capped" },
  { group: "slow", priority: 2 },
  { delay: 30 },
  { delay: 30, group: "a" },
  { maxAttempts: 2 },
];

/** A call on damaged keys may fail; it is then tried again. */
async function patiently<T>(run: () => Promise<T>): Promise<T | undefined> {
  try {
    return await run();
  } catch (error) {
    if (!(error instanceof SluiceError)) throw error;
    return undefined;
  }
}

test.each([
  ["and deep sweeps all along", 2],
  ["and deep sweeps only when it is over", 0],
])(
  `entries deleted, duplicated and corrupted at random, everywhere and under load, %s: each task that was not itself destroyed is completed once or a dead letter (SABOTAGE_SEED=${seed})`,
  async (_, deepSweepers) => {
    const open = (): Queue<number> => rig.queue<number>({ now: undefined, lease: 80, maxAttempts: 0 });
    await rig.operator().configureGroup("capped", { maxWorking: 3 });
    await rig.operator().configureGroup("slow", { rate: { most: 30, per: "50ms" } });
    const completed = new Map<string, number>();
    const destroyed = new Set<string>();
    const strike = saboteur(rig, seed, ids, destroyed);
    const run = { over: false, struck: 0 };
    const produced = new Set<number>();

    async function produce(from: number, step: number): Promise<void> {
      for (let i = from; i < count; i += step) {
        const tasks = ids
          .slice(i, i + 10)
          .map((id, j) => ({ id, payload: i + j, ...kinds[(i + j) % kinds.length] }));
        while (!run.over && run.struck / blows < i / count) await sleep(2);
        // If the settings cannot be read, only a deep sweep helps.
        while (!run.over && !produced.has(i)) {
          if (await patiently(() => open().enqueueMany(tasks))) produced.add(i);
          else await sleep(5);
        }
      }
    }

    async function work(task: LeasedTask<number>, roll: number): Promise<void> {
      if (roll < 0.15) return;
      const settled = await patiently(() => {
        if (roll < 0.25) return task.requeue(roll < 0.2 ? { delay: 20 } : {});
        return roll < 0.35 ? task.reject("no") : task.complete();
      });
      if (settled?.ok && settled.state === "completed")
        completed.set(task.id, (completed.get(task.id) ?? 0) + 1);
    }

    async function consume(name: string, number: number): Promise<void> {
      const roll = dice(seed + number);
      while (!run.over) {
        const worker = { name, incarnation: "1", silentAfter: 300 };
        const batch = (await patiently(() => open().dequeue({ max: 6, worker }))) ?? [];
        await Promise.all(batch.map((task) => work(task, roll())));
        await sleep(batch.length === 0 ? 4 : 0);
      }
    }

    async function sweepOften(): Promise<void> {
      while (!run.over) {
        await sweep(rig.transport, { limit: 25 });
        await sleep(5);
      }
    }

    async function sweepDeeply(): Promise<void> {
      while (!run.over) {
        await deepSweep(rig.transport);
        await sleep(50);
      }
    }

    async function sabotage(): Promise<void> {
      for (; run.struck < blows; run.struck++) {
        await strike();
        await sleep(2);
      }
      run.over = true;
    }

    try {
      await Promise.all([
        produce(0, 20),
        produce(10, 20),
        ...["x", "y", "z"].map(consume),
        sweepOften(),
        ...Array.from({ length: deepSweepers }, sweepDeeply),
        sabotage(),
      ]);
    } finally {
      run.over = true;
    }

    // The repairs of one deep sweep can uncover more.
    const reports: unknown[] = [];
    for (let faults = 1; faults > 0 && reports.length < 5;) {
      const report = await deepSweep(rig.transport);
      expect(report).toMatchObject({ failed: [], cursor: null });
      faults = report.faults.length;
      reports.push(
        report.faults.map(({ fault, count: times, ids: some }) => `${times} ${fault}: ${some.join(" ")}`),
      );
    }
    expect(reports.at(-1), JSON.stringify(reports, null, 1)).toEqual([]);
    expect(violations(await rig.space())).toEqual([]);

    run.over = false;
    await produce(0, 10);
    while (true) {
      await sweep(rig.transport);
      const batch = await open().dequeue({ max: 50 });
      for (const task of batch) {
        const settled = await task.complete();
        if (settled.ok) completed.set(task.id, (completed.get(task.id) ?? 0) + 1);
      }
      const { pending, delayed, working } = await open().counts();
      if (pending + delayed + working === 0) break;
      if (batch.length === 0) await sleep(20);
    }
    expect(violations(await rig.space())).toEqual([]);

    const { dead } = await rig.space();
    expect([...completed].filter(([, times]) => times !== 1)).toEqual([]);
    const lost = ids.filter((id) => !destroyed.has(id) && !completed.has(id) && !dead.has(id));
    const both = ids.filter((id) => completed.has(id) && dead.has(id));
    expect({ lost, both }).toEqual({ lost: [], both: [] });
    expect(destroyed.size).toBeGreaterThan(0);
  },
);
