/** The parts of features in a sweep. The sweep of a deployment has all of them. */
import { addsOfPartitions, partitionsPart } from "../features/partitions/sweep-part.ts";
import { schedulesPart as schedulesWith } from "../features/schedules/index.ts";
import type { SweepPart } from "../sweep/part.ts";

export const schedulesPart: SweepPart = (sweep) => schedulesWith(sweep, addsOfPartitions);

export { partitionsPart };
