/** Runs of the model beside the real queue. */
import { asyncModelRun, commands } from "fast-check";
import type { Operation } from "./operations.ts";
import type { Real } from "./real.ts";
import { type Bounds, runSequences } from "./sequences.ts";
import { allSteps } from "./steps.ts";
import { QUEUES } from "./flows/state.ts";
import { emptyOutboxes, worldOfFlows } from "./flows/world.ts";
import { World } from "./world.ts";

const START = 1_700_000_000_000;

/** Most steps of a sequence. */
const LONGEST = 160;

/** The kinds of queues: plain, with wakes, with groups and priorities, with schedules. */
export const KINDS = [
  { name: "a plain queue", grouped: false, waker: false, scheduled: false },
  { name: "a queue that wakes its consumers", grouped: false, waker: true, scheduled: false },
  { name: "a queue of groups and priorities", grouped: true, waker: false, scheduled: false },
  { name: "a queue with schedules", grouped: false, waker: false, scheduled: true },
  { name: "a queue of flows", grouped: false, waker: false, scheduled: false, flows: true },
  { name: "a queue in strict order", grouped: true, waker: false, scheduled: false, ordered: true },
] as const;

/** What a queue in strict order begins with. One group has no order. */
const IN_ORDER: readonly Operation[] = [
  { does: "configure", key: "order", changes: { order: "strict" } },
  { does: "configureGroup", key: "none", group: "c", changes: { order: "none" } },
];

export type Kind = (typeof KINDS)[number];

/** Runs until that many calls were made, or until a step differs from the model; see {@link runSequences}. */
export function runModel(real: Real, kind: Kind, bounds: Bounds): Promise<number> {
  const drawn = commands([allSteps(kind) as never], { maxCommands: LONGEST, size: "max" });
  return runSequences(
    drawn,
    () => real.calls,
    bounds,
    async (steps) => {
      const isOrdered = "ordered" in kind;
      const hasFlows = "flows" in kind;
      await real.reset(START, isOrdered || hasFlows, hasFlows ? QUEUES : undefined);
      const world = hasFlows ? worldOfFlows(START) : new World(START);
      for (const operation of isOrdered ? IN_ORDER : []) await world.call(real, operation, 0, "none");
      await asyncModelRun(() => ({ model: world, real }), steps);
      // Runs each deep sweep to its end, and compares its report with the model.
      for (const by of real.sweeping()) {
        await world.call(real, { does: "deepSweepOn", requests: Number.POSITIVE_INFINITY }, by, "none");
      }
      await world.call(real, { does: "counts" }, 0, "none");
      if (world.flows) await emptyOutboxes(real, world);
    },
  );
}
