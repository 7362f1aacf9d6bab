import { checkQueues } from "../../features/repair/index.ts";
import { deepSweep as sweep } from "./deep-sweep.ts";

export type { DeepSweepOptions, DeepSweepReport, FaultReport } from "../../features/repair/index.ts";

/** The code of the deep sweep, to turn it on. */
export interface DeepSweep {
  /** For requests of a sweep with `deep: true`. */
  readonly sweep: typeof sweep;
  /** For the diagnostics of a queue. */
  readonly check: typeof checkQueues;
}

/**
 * The deep sweep, for the option `deepSweep` of a deployment or an app. A program calls that of `sluice-queue`.
 * @example createApp({ transport, tokens, deepSweep })
 */
export const deepSweep: DeepSweep = { sweep, check: checkQueues };
