/** The parts of features in a sweep. The sweep of a deployment has all of them. */
import { partitionsPart } from "./queue/partitions/sweep-part.ts";
import { schedulesPart } from "./queue/schedules/schedule-pass.ts";
import type { SweepPart } from "./queue/sweep/part.ts";
import { orphansPart } from "./queue/values/orphans-part.ts";

/** In their order: schedules add tasks, and partitions are kept after their queues were swept. */
export const sweepParts: readonly SweepPart[] = [schedulesPart, partitionsPart, orphansPart];
export { partitionsPart, schedulesPart };
