import type { SweepPart } from "../sweep/part.ts";
import { sweepParts } from "./sweep-parts.ts";

/** A part of a deployment or an app that takes part in its sweeps. */
export interface SweptPart {
  readonly sweepPart: SweepPart;
}

/** The parts of a sweep that may have optional ones too. */
export const sweepPartsWith = (...optional: readonly (SweptPart | undefined)[]): readonly SweepPart[] => [
  ...sweepParts,
  ...optional.flatMap((part) => part?.sweepPart ?? []),
];
