/** Runs of the model of partitions beside the real queue. */
import {
  assert,
  asyncModelRun,
  asyncProperty,
  commands as commandsOf,
  PreconditionFailure,
} from "fast-check";
import { machineNow, replaceClock } from "./clock.ts";
import { partitionsOf } from "../../../src/queue/partitions/map.ts";
import type { PartitionedOperation } from "./operations.ts";
import { RealPartitions } from "./real.ts";
import { must } from "./state.ts";
import { steps } from "./steps.ts";
import { PartitionsWorld } from "./world.ts";

const START = 1_700_000_000_000;

/** Most steps of a run. */
const LONGEST = 120;

export interface PartitionsBounds {
  readonly calls: number;
  /** The latest end, by `performance.now()` of the machine. */
  readonly until?: number | undefined;
  readonly seed?: number | undefined;
  readonly path?: string | undefined;
  /** Whether a failing sequence is made shorter, which may take minutes. @default true */
  readonly isShrunk?: boolean | undefined;
  readonly onFailure?: (error: unknown) => void;
}

/**
 * Runs until that many calls were made, or until a step differs from the model.
 * @returns the number of calls made
 * @throws with the seed and the shortest sequence of steps that was found to fail
 */
export async function runPartitionsModel(real: RealPartitions, bounds: PartitionsBounds): Promise<number> {
  const before = real.calls;
  let failed = false;
  const commands = commandsOf([steps as never], { maxCommands: LONGEST, size: "max" });
  const property = asyncProperty(commands, async (drawn) => {
    const enough =
      real.calls - before >= bounds.calls || machineNow() >= (bounds.until ?? Number.POSITIVE_INFINITY);
    if (enough && !failed) throw new PreconditionFailure(true);
    const restore = replaceClock(() => real.now, 1);
    try {
      await real.reset(START);
      const world = new PartitionsWorld(START);
      await asyncModelRun(() => ({ model: world, real }), drawn);
      await finish(world, real);
    } catch (error) {
      if (!failed) bounds.onFailure?.(error);
      failed = true;
      throw error;
    } finally {
      restore();
    }
  });
  await assert(property, {
    numRuns: bounds.calls,
    ...(bounds.seed !== undefined && { seed: bounds.seed }),
    ...(bounds.path !== undefined && { path: bounds.path }),
    endOnFailure: bounds.path !== undefined || bounds.isShrunk === false,
  });
  return real.calls - before;
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
      const next = Math.min(...state.live().map(({ until }) => until));
      if (next > state.now) world.pass(real, next - state.now);
      // An instance reads the map once a minute, and a sweep adds partitions that are in use to it.
      else world.pass(real, 60_000);
      await call({ does: "sweep", lone: false });
    }
  }
  const isVisited = () => [...real.space.scores.keys()].some((name) => name.startsWith("emails"));
  const former = () => (isVisited() ? real.space.map.former : []);
  for (let rounds = 0; state.tasks.size > 0 || former().length > 0 || rounds < 1; rounds++) {
    const left = [...state.tasks.keys(), ...former().map((partition) => `former partition ${partition}`)];
    must(rounds < 60, `after ${rounds} sweeps of 10 minutes are left: ${left.join(", ")}`);
    world.pass(real, 600_000);
    await call({ does: "sweep", lone: false });
  }
  must(partitionsOf(real.space.map).length > 0, "no partition is left");
}
