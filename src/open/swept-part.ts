import type { SweepPart } from "../sweep/part.ts";
import { schedulesMissing } from "./schedules/part.ts";
import { partitionsPart } from "./sweep-parts.ts";

/** A part of a deployment or an app that takes part in its sweeps. */
export interface SweptPart {
  readonly sweepPart: SweepPart;
}

/** The optional parts that take part. */
export interface SweptParts {
  readonly schedules?: SweptPart | undefined;
  readonly flows?: SweptPart | undefined;
}

/** In their order: schedules add tasks, and partitions are kept after their queues were swept. */
export const sweepPartsWith = ({ schedules, flows }: SweptParts): readonly SweepPart[] => [
  schedules?.sweepPart ?? schedulesMissing,
  partitionsPart,
  ...(flows ? [flows.sweepPart] : []),
];
