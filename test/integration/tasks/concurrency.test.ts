import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { sweep, type LeasedTask } from "../../../src/index.ts";
import { useRig } from "../../support/rig.ts";

const rig = useRig();

/** Random numbers from 0 to 1, the same in each run of one seed. */
function dice(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

test("with producers, slow and dying consumers, and sweeps at once, every task is completed by exactly one caller", async () => {
  const tasks = 600;
  const completions = new Map<string, number>();
  const deliveries = new Map<string, number>();
  // These leases expire by Redis's own clock.
  const open = () => rig.queue<number>({ now: undefined, lease: 40, maxAttempts: 0 });

  async function produce(producer: number): Promise<void> {
    const queue = open();
    for (let i = 0; i < tasks / 3; i += 5) {
      await queue.enqueueMany(
        Array.from({ length: 5 }, (_, j) => ({
          id: `p${producer}-${i + j}`,
          payload: i + j,
          delay: ((i + j) % 4) * 15,
        })),
      );
    }
  }

  async function work(queue: ReturnType<typeof open>, task: LeasedTask<number>, roll: number): Promise<void> {
    deliveries.set(task.id, (deliveries.get(task.id) ?? 0) + 1);
    if (roll < 0.15) return; // dies
    if (roll < 0.3) await sleep(60); // works past its lease
    else if (roll < 0.4) await task.extend();
    const outcome = roll > 0.85 ? ("requeue" as const) : ("complete" as const);
    const [settled] = await queue.settle([{ receipt: task.receipt, outcome }]);
    if (settled?.ok && settled.state === "completed")
      completions.set(task.id, (completions.get(task.id) ?? 0) + 1);
  }

  async function consume(seed: number): Promise<void> {
    const queue = open();
    const roll = dice(seed);
    while (completions.size < tasks) {
      const batch = await queue.dequeue({ max: 1 + Math.floor(roll() * 12) });
      await Promise.all(batch.map((task) => work(queue, task, roll())));
      if (batch.length === 0) await sleep(5);
    }
  }

  async function sweepOften(): Promise<void> {
    while (completions.size < tasks) {
      await sweep(rig.transport, { limit: 7 });
      await sleep(3);
    }
  }

  await Promise.all([
    ...[1, 2, 3].map(produce),
    ...[11, 12, 13, 14, 15, 16].map(consume),
    sweepOften(),
    sweepOften(),
  ]);

  expect([...completions.values()].filter((count) => count !== 1)).toEqual([]);
  expect(completions.size).toBe(tasks);
  expect([...deliveries.values()].reduce((sum, count) => sum + count, 0)).toBeGreaterThan(tasks);
  expect(await open().counts()).toMatchObject({ pending: 0, delayed: 0, working: 0, rejected: 0, broken: 0 });
});
