import { expect, test } from "vitest";
import { deepSweep, SluiceError, sweep, type LeasedTask } from "../../../src/index.ts";
import { violations } from "../../support/invariants.ts";
import { useRig } from "../../support/rig.ts";
import { dice } from "../../support/dice.ts";
import { saboteur } from "../../support/saboteur.ts";

const rig = useRig({ checkInvariants: false });
const seed = Number(process.env["SABOTAGE_SEED"] ?? Date.now() % 1_000_000_000);

const batches = 60;
const blows = 8 * batches;
const ids = Array.from({ length: 10 * batches }, (_, i) => `t${i}`);
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
const tasks = ids.map((id, i) => ({ id, payload: i, ...kinds[i % kinds.length] }));
const now = () => rig.now;

/** A call on damaged keys may fail; it is then tried again. */
async function patiently<T>(call: Promise<T>): Promise<T | undefined> {
  try {
    return await call;
  } catch (error) {
    if (!(error instanceof SluiceError)) throw error;
    return undefined;
  }
}

test.each([
  ["and deep sweeps all along", true],
  ["and deep sweeps only when it is over", false],
])(
  `entries deleted, duplicated and corrupted at random, everywhere and under load, %s: each task that was not itself destroyed is completed once or a dead letter (SABOTAGE_SEED=${seed})`,
  async (_, deeply) => {
    // A new one for each call, without the memory of the others.
    const open = () => rig.queue<number>({ lease: 80, maxAttempts: 0 });
    await rig.operator().configureGroup("capped", { maxWorking: 3 });
    await rig.operator().configureGroup("slow", { rate: { most: 30, per: "50ms" } });
    const completed = new Map<string, number>();
    const destroyed = new Set<string>();
    const strike = saboteur(rig, seed, ids, destroyed);
    const roll = dice(seed);
    // If the settings cannot be read, only a deep sweep helps.
    const notProduced = new Set<number>();

    async function produce(batch: number): Promise<void> {
      const produced = await patiently(open().enqueueMany(tasks.slice(10 * batch, 10 * batch + 10)));
      if (!produced) notProduced.add(batch);
    }

    async function complete(task: LeasedTask<number>): Promise<void> {
      const settled = await patiently(task.complete());
      if (settled?.ok) completed.set(task.id, (completed.get(task.id) ?? 0) + 1);
    }

    async function work(task: LeasedTask<number>): Promise<unknown> {
      const fate = roll();
      if (fate < 0.15) return undefined;
      if (fate < 0.25) return patiently(task.requeue(fate < 0.2 ? { delay: 20 } : {}));
      return fate < 0.35 ? patiently(task.reject("no")) : complete(task);
    }

    async function consume(name: string): Promise<void> {
      const worker = { name, incarnation: "1", silentAfter: 300 };
      await Promise.all(((await patiently(open().dequeue({ max: 6, worker }))) ?? []).map(work));
    }

    const deepSweeps: Promise<unknown>[] = [];
    for (let blow = 0; blow < blows; blow++, rig.now += 5) {
      // Two at a time, over some blows.
      if (deeply && blow % 20 < 2) deepSweeps.push(deepSweep(rig.transport, { now }));
      await Promise.all([
        strike(),
        blow % (blows / batches) === 0 && produce((batches * blow) / blows),
        ...["x", "y", "z"].map(consume),
        blow % 2 === 0 && sweep(rig.transport, { limit: 25, now }),
      ]);
    }
    await Promise.all(deepSweeps);

    // The repairs of one deep sweep can uncover more.
    const reports: unknown[] = [];
    for (let faults = 1; faults > 0 && reports.length < 5;) {
      const report = await deepSweep(rig.transport, { now });
      expect(report).toMatchObject({ failed: [], cursor: null });
      faults = report.faults.length;
      reports.push(report.faults.map((fault) => `${fault.count} ${fault.fault}: ${fault.ids.join(" ")}`));
    }
    expect(reports.at(-1), JSON.stringify(reports, null, 1)).toEqual([]);
    expect(violations(await rig.space())).toEqual([]);

    for (const batch of notProduced) await produce(batch);
    for (let left = 1; left > 0; rig.now += 20) {
      await sweep(rig.transport, { now });
      for (const task of await open().dequeue({ max: 50 })) await complete(task);
      const { pending, delayed, working } = await open().counts();
      left = pending + delayed + working;
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
