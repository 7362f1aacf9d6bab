import { expect, test } from "vitest";
import type { DeepSweepReport, LeasedTask } from "../../../src/index.ts";
import { parts } from "../../../src/kernel/names/keys.ts";
import { deepTools } from "../../support/deep.ts";
import { violations } from "../../support/invariants.ts";
import { says } from "../../support/key-space.ts";
import { key, useRig } from "../../support/rig.ts";
import { dice } from "../../support/dice.ts";

// A promoted replica may have each key as of a different moment.
const rig = useRig();
const { runDeepSweep } = deepTools(rig);

const STEPS = 60;
const kinds = [
  {},
  {},
  { group: "a" },
  { group: "capped" },
  { group: "slow", priority: 2 },
  { delay: 300 },
  { delay: 300, group: "a" },
];

/** Some traffic, chosen at random; after each step every key is copied. */
async function traffic(roll: () => number): Promise<void> {
  const queue = rig.queue();
  const below = (count: number) => Math.floor(roll() * count);
  const open: LeasedTask[] = [];
  await rig.operator().configureGroup("capped", { maxWorking: 2 });
  await rig.operator().configureGroup("slow", { rate: { most: 3, per: "1s" } });
  for (let step = 0; step < STEPS; step++) {
    const blow = below(10);
    const task = open.splice(below(open.length), 1)[0];
    if (blow < 3) {
      const tasks = Array.from({ length: 1 + below(6) }, (_, i) => ({
        id: `t${step}-${i}`,
        payload: i,
        ...kinds[below(kinds.length)],
      }));
      await queue.enqueueMany(tasks);
    } else if (blow < 6) {
      const worker = roll() < 0.5 ? { name: `w${below(2)}`, silentAfter: 2_000 } : undefined;
      open.push(...(await queue.dequeue({ max: 1 + below(5), lease: 500, worker })));
    } else if (blow === 6) await queue.cancel(`t${below(step + 1)}-${below(3)}`);
    else if (blow === 7) rig.now += 200;
    else if (blow === 8) await rig.sweepOnce(5);
    else await task?.requeue({ delay: below(2) * 100 });
    if (task && blow < 3) await task.complete("done");
    else if (task && blow === 8) await task.reject("no");
    else if (task && blow < 9) open.push(task);
    await Promise.all(parts.map((part) => rig.command("COPY", key(part), `old:${step}:${part}`)));
  }
}

test.each([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])(
  "after a failover that leaves each key as of another moment, a deep sweep makes one queue of them again (seed %i)",
  async (seed) => {
    const roll = dice(seed * 7_919);
    await traffic(roll);
    for (const part of parts) {
      const step = STEPS - 1 - Math.floor(roll() * roll() * 30);
      await rig.command("DEL", key(part));
      await rig.command("COPY", `old:${step}:${part}`, key(part));
    }
    const { tasks } = await rig.space();
    // Working tasks with a cancel request end as cancelled.
    const live = [...tasks.keys()].filter(
      (field) =>
        field.startsWith("t") && tasks.get(field) !== "" && says(tasks.get(`.${field}`))["f"] === undefined,
    );

    // Two at once, as two cron triggers may run them.
    let reports: DeepSweepReport[];
    let looks = 0;
    do {
      reports = await Promise.all([runDeepSweep(), runDeepSweep()]);
    } while (reports.some(({ faults }) => faults.length > 0) && ++looks < 4);
    expect(reports.flatMap(({ faults, failed }) => [...faults, ...failed])).toEqual([]);
    expect(violations(await rig.space())).toEqual([]);

    const completed: string[] = [];
    for (let left = 1; left > 0; rig.now += 300) {
      await rig.sweepOnce();
      const batch = await rig.queue().dequeue({ max: 50, lease: 500 });
      for (const task of batch) if ((await task.complete()).ok) completed.push(task.id);
      const { pending, delayed, working, broken } = await rig.queue().counts();
      expect(broken).toBe(0);
      left = pending + delayed + working;
    }
    const { dead } = await rig.space();
    expect(completed.toSorted()).toEqual([...new Set(completed)].toSorted());
    expect(live.filter((id) => !completed.includes(id) && !dead.has(id))).toEqual([]);
  },
);
