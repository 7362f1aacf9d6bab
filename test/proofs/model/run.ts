/** Runs of the model beside the real queue. */
import { asyncModelRun, commands } from "fast-check";
import type { Operation } from "./operations.ts";
import type { Real } from "./real.ts";
import { type Bounds, runSequences } from "./sequences.ts";
import { allSteps } from "./steps.ts";
import { World } from "./world.ts";

const START = 1_700_000_000_000;

/** Most steps of a sequence. */
const LONGEST = 160;

/** With keys, and how many calls of such a queue `npm test` makes. */
const KEYED = { keyed: true, calls: 400 } as const;

/** The kinds of queues, by what their calls make use of. */
export const KINDS = [
  { name: "a plain queue", grouped: false, waker: false, scheduled: false },
  { name: "a queue that wakes its consumers", grouped: false, waker: true, scheduled: false },
  { name: "a queue of groups and priorities", grouped: true, waker: false, scheduled: false },
  { name: "a queue with schedules", grouped: false, waker: false, scheduled: true },
  { name: "a queue in strict order", grouped: true, waker: false, scheduled: false, ordered: true },
  { name: "a queue with keys", grouped: false, waker: true, scheduled: false, ...KEYED },
  { name: "a keyed queue that is fair", grouped: true, waker: false, scheduled: false, ...KEYED },
  {
    name: "a keyed queue with lines",
    grouped: true,
    waker: false,
    scheduled: false,
    ordered: true,
    ...KEYED,
  },
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
      await real.reset(START, isOrdered);
      const world = new World(START);
      for (const operation of isOrdered ? IN_ORDER : []) await world.call(real, operation, 0, "none");
      await asyncModelRun(() => ({ model: world, real }), steps);
      // Runs each deep sweep to its end, and compares its report with the model.
      for (const by of real.sweeping()) {
        await world.call(real, { does: "deepSweepOn", requests: Number.POSITIVE_INFINITY }, by, "none");
      }
      await world.call(real, { does: "counts" }, 0, "none");
    },
  );
}
