import { expect, test } from "vitest";
import { sweep, type LeasedTask } from "../../../src/index.ts";
import { dice } from "../../support/dice.ts";
import { numbered } from "../../support/new-tasks.ts";
import { useRig } from "../../support/rig.ts";

const rig = useRig();
const LEASE = 1_000;

test("with producers, slow and dying consumers, and sweeps at once, every task is completed by exactly one caller", async () => {
  const tasks = 600;
  const completions = new Map<string, number>();
  let deliveries = 0;
  const open = () => rig.queue({ lease: LEASE, maxAttempts: 0 });
  const isDone = () => completions.size >= tasks;

  async function produce(letter: string): Promise<void> {
    const queue = open();
    const all = numbered(tasks / 3, {}, letter).map((task, i) => ({ ...task, delay: (i % 4) * 300 }));
    for (let i = 0; i < all.length; i += 5) await queue.enqueueMany(all.slice(i, i + 5));
  }

  async function work(queue: ReturnType<typeof open>, task: LeasedTask, roll: number): Promise<void> {
    deliveries++;
    if (roll < 0.15) return; // dies
    if (roll < 0.3) {
      // Works past its lease, in which others get the task.
      const expired = rig.now + LEASE;
      while (rig.now <= expired && !isDone()) await queue.counts();
    } else if (roll < 0.4) await task.extend();
    const outcome = roll > 0.85 ? ("requeue" as const) : ("complete" as const);
    const [settled] = await queue.settle([{ receipt: task.receipt, outcome }]);
    if (settled?.ok && settled.state === "completed")
      completions.set(task.id, (completions.get(task.id) ?? 0) + 1);
  }

  async function consume(seed: number): Promise<void> {
    const queue = open();
    const roll = dice(seed);
    while (!isDone()) {
      const batch = await queue.dequeue({ max: 1 + Math.floor(roll() * 12) });
      await Promise.all(batch.map((task) => work(queue, task, roll())));
    }
  }

  /** Time goes on with each sweep, so that leases expire however fast the machine is. */
  async function sweepOften(): Promise<void> {
    while (!isDone()) {
      rig.now += 40;
      await sweep(rig.transport, { limit: 7, now: () => rig.now });
    }
  }

  await Promise.all([
    ...["a", "b", "c"].map(produce),
    ...[11, 12, 13, 14, 15, 16].map(consume),
    sweepOften(),
    sweepOften(),
  ]);

  expect([...completions.values()].filter((count) => count !== 1)).toEqual([]);
  expect(completions.size).toBe(tasks);
  expect(deliveries).toBeGreaterThan(tasks);
  expect(await open().counts()).toMatchObject({ pending: 0, delayed: 0, working: 0, rejected: 0, broken: 0 });
});
