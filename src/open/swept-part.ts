import type { SweepPart } from "../sweep/part.ts";
import { schedulesMissing } from "./schedules/part.ts";
import { partitionsPart } from "./sweep-parts.ts";

/** A part of a deployment or an app that takes part in its sweeps. */
export interface SweptPart {
  readonly sweepPart: SweepPart;
}

/**
 * The parts of sweeps in their order: schedules add tasks, and partitions are kept after their queues were swept.
 * @param others features that may take part
 */
export const sweepPartsWith = (
  schedules: SweptPart | undefined,
  others: readonly Partial<SweptPart>[],
): readonly SweepPart[] => [
  schedules?.sweepPart ?? schedulesMissing,
  partitionsPart,
  ...others.flatMap(({ sweepPart = [] }) => sweepPart),
];
