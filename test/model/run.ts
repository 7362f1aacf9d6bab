/** Runs of the model beside the real queue. */
import {
  assert,
  asyncModelRun,
  asyncProperty,
  commands as commandsOf,
  PreconditionFailure,
} from "fast-check";
import { Real } from "./real.ts";
import { allSteps } from "./steps.ts";
import { World } from "./world.ts";

export const START = 1_700_000_000_000;

/** Most steps of a run. */
const LONGEST = 160;

/** The kinds of queues: plain, with wakes, with groups and priorities, with schedules. */
export const KINDS = [
  { name: "a plain queue", grouped: false, waker: false, scheduled: false },
  { name: "a queue that wakes its consumers", grouped: false, waker: true, scheduled: false },
  { name: "a queue of groups and priorities", grouped: true, waker: false, scheduled: false },
  { name: "a queue with schedules", grouped: false, waker: false, scheduled: true },
] as const;

export type Kind = (typeof KINDS)[number];

/**
 * Runs until that many calls were made, or until a step differs from the model.
 * @returns the number of calls made
 * @throws with the seed and the shortest sequence of steps that was found to fail
 */
export async function runModel(
  real: Real,
  kind: Kind,
  bounds: {
    readonly calls: number;
    /** The latest end, by `performance.now()`. */
    readonly until?: number | undefined;
    readonly seed?: number | undefined;
    readonly path?: string | undefined;
    /** Called once after a failure, before the search for a shorter sequence, which may take long. */
    readonly onFailure?: (error: unknown) => void;
  },
): Promise<number> {
  const before = real.calls;
  let failed = false;
  const commands = commandsOf([allSteps(kind) as never], { maxCommands: LONGEST, size: "max" });
  const property = asyncProperty(commands, async (drawn) => {
    // Once enough calls were made the run ends. After a failure the search for the shortest sequence goes on.
    const enough =
      real.calls - before >= bounds.calls || performance.now() >= (bounds.until ?? Number.POSITIVE_INFINITY);
    // Ends the runs: fast-check would go on to draw thousands of unneeded sequences.
    if (enough && !failed) throw new PreconditionFailure(true);
    try {
      await real.reset(START);
      const world = new World(START);
      await asyncModelRun(() => ({ model: world, real }), drawn);
      await endDeepSweeps(world, real);
    } catch (error) {
      if (!failed) bounds.onFailure?.(error);
      failed = true;
      throw error;
    }
  });
  await assert(property, {
    numRuns: bounds.calls,
    ...(bounds.seed !== undefined && { seed: bounds.seed }),
    ...(bounds.path !== undefined && { path: bounds.path, endOnFailure: true }),
  });
  return real.calls - before;
}

/** Runs each to its end, and compares its report with the model. */
async function endDeepSweeps(world: World, real: Real): Promise<void> {
  for (const by of real.sweeping()) {
    await world.call(real, { does: "deepSweepOn", requests: Number.POSITIVE_INFINITY }, by, "none");
  }
  await world.call(real, { does: "counts" }, 0, "none");
}
