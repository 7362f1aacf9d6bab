import { checkedOffload, type Offload, type OrphanReport } from "../features/offload/types.ts";
import { onlyOptions } from "../kernel/options/validation.ts";
import type { PlacesOf } from "../kernel/shard.ts";
import type { Transport } from "../kernel/transport.ts";
import type { SweepPart } from "../sweep/part.ts";
import type { SweptPart } from "./swept-part.ts";
import { plainSweep } from "../sweep/sweep.ts";
import {
  SWEEP_OPTIONS,
  type SweepOptions as PlainSweepOptions,
  type SweepReport as PlainSweepReport,
} from "../sweep/types.ts";

export interface SweepOptions extends PlainSweepOptions {
  /**
   * Also removes objects that no task needs any more: looks at a page of the object store. Ignored if `queue` is given.
   * @default none: such objects stay
   */
  readonly offload?: Offload | undefined;
  /** Parts of features that also take part: `flows` of `sluice-queue/flows`. @default none */
  readonly also?: readonly SweptPart[] | undefined;
}

export interface SweepReport extends PlainSweepReport {
  /** What was done in the object store; only if the sweep has `offload`. */
  readonly objects?: OrphanReport | undefined;
}

/** Loaded when an object may have to be removed. */
export const placesOf: PlacesOf = async (...args) =>
  (await import("../features/partitions/stored-maps.ts")).placesOf(...args);

/**
 * Sweeps with the parts of features, and at the end removes objects that no task needs any more.
 * @throws {SluiceError} `invalid_argument`, or if Redis cannot be reached
 */
export async function sweepWith(
  parts: readonly SweepPart[],
  transport: Transport,
  given: SweepOptions,
): Promise<SweepReport> {
  onlyOptions(given, [...SWEEP_OPTIONS, "offload", "also"]);
  const { offload, also = [], ...options } = given;
  const store = checkedOffload(offload);
  const all = [...parts, ...also.map(({ sweepPart }) => sweepPart)];
  return plainSweep(transport, options, store ? [...all, orphansOf(store)] : all);
}

const orphansOf =
  (store: Offload): SweepPart =>
  ({ transport, options, only, deadline: until }) => {
    if (only !== undefined) return {};
    const { prefix, signal, now } = options;
    return {
      finish: async () => ({
        objects: await store.removeOrphans({ transport, prefix, signal, now, placesOf, until }),
      }),
    };
  };
