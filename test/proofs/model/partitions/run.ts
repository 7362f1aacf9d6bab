/** Runs of the model of partitions beside the real queue. */
import { asyncModelRun, commands } from "fast-check";
import { partitionsOf } from "../../../../src/features/partitions/map.ts";
import { dice } from "../../../support/dice.ts";
import { type Bounds, runSequences } from "../sequences.ts";
import type { PartitionedOperation } from "./operations.ts";
import type { RealPartitions } from "./real.ts";
import { must } from "./state.ts";
import { leftOfLines } from "./strict.ts";
import { steps } from "./steps.ts";
import { PartitionsWorld } from "./world.ts";

/**
 * Replaces the clocks and the randomness of this process, so that a run can be repeated and hours pass at once: the
 * memory of function instances ages with the clock that the scripts get.
 * @param now epoch ms
 * @returns what undoes it
 */
function replaceClock(now: () => number): () => void {
  const original = [Date.now, performance.now, Math.random] as const;
  [Date.now, performance.now, Math.random] = [now, now, dice(1)];
  return () => {
    [Date.now, performance.now, Math.random] = original;
  };
}

const START = 1_700_000_000_000;

/** Most steps of a sequence. */
const LONGEST = 120;

/**
 * Runs until that many calls were made, or until a step differs from the model; see {@link runSequences}.
 * @param isOrdered whether groups are in strict order
 */
export function runPartitionsModel(real: RealPartitions, bounds: Bounds, isOrdered = false): Promise<number> {
  const drawn = commands([steps(isOrdered) as never], { maxCommands: LONGEST, size: "max" });
  return runSequences(
    drawn,
    () => real.calls,
    bounds,
    async (sequence) => {
      const restore = replaceClock(() => real.now);
      try {
        await real.reset(START, isOrdered);
        const world = new PartitionsWorld(START, isOrdered);
        await asyncModelRun(() => ({ model: world, real }), sequence);
        await finish(world, real);
      } finally {
        restore();
      }
    },
  );
}

/**
 * Completes all tasks, and lets hours pass. In the end each task has ended once, nothing is left of any, and no
 * former partition is in the map, unless sweeps visit the queue no more.
 */
async function finish(world: PartitionsWorld, real: RealPartitions): Promise<void> {
  const { state } = world;
  const call = (operation: PartitionedOperation) => {
    return world.call(real, { operation, by: 0, mishap: "none", nth: 1 });
  };
  real.renew(0);
  await call({ does: "sweep", lone: false });
  for (let round = 0; state.live().length > 0; round++) {
    must(
      round < 300,
      `not all tasks were delivered: ${state
        .live()
        .map(({ id }) => id)
        .join(", ")}`,
    );
    // A second later the instance reads the registry again.
    world.pass(real, 1_000);
    const tasks = (await call({ does: "dequeue", pull: { max: 20 } })) as { receipt: string }[];
    if (tasks.length > 0) {
      await call({
        does: "settle",
        items: tasks.map(({ receipt }) => ({ receipt, outcome: "complete" as const })),
      });
    } else if (state.live().length > 0) {
      // The dequeue itself may have ended the last tasks, those with an exhausted lease.
      const next = Math.min(...state.live().map((task) => state.until(task)));
      if (next > state.now) world.pass(real, next - state.now);
      // An instance reads the map once a minute, and a sweep adds partitions that are in use to it.
      else world.pass(real, 60_000);
      await call({ does: "sweep", lone: false });
    }
  }
  const isVisited = () => [...real.space.scores.keys()].some((name) => name.startsWith("emails"));
  const former = () => (isVisited() ? real.space.map.former : []);
  const lines = () => (state.isOrdered && isVisited() ? leftOfLines(real.space) : []);
  const isLeft = () => state.tasks.size + former().length + lines().length > 0;
  for (let rounds = 0; isLeft() || rounds < 1; rounds++) {
    const partitions = former().map((partition) => `former partition ${partition}`);
    const left = [...state.tasks.keys(), ...partitions, ...lines()];
    must(rounds < 60, `after ${rounds} sweeps of 10 minutes are left: ${left.join(", ")}`);
    world.pass(real, 600_000);
    await call({ does: "sweep", lone: false });
  }
  must(partitionsOf(real.space.map).length > 0, "no partition is left");
}
