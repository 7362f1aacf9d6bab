import { alerting } from "./alerting.ts";
import { attempts } from "./attempts.ts";
import { clusters } from "./clusters.ts";
import { commanding } from "./commanding.ts";
import { consuming } from "./consuming.ts";
import { declaring } from "./declaring.ts";
import { embedded } from "./embedded.ts";
import { interfaces } from "./interfaces.ts";
import { lanes } from "./lanes.ts";
import { library } from "./library.ts";
import { lifeCycle } from "./life-cycle.ts";
import type { Mutant } from "./mutant.ts";
import { offloading } from "./offloading.ts";
import { operating } from "./operating.ts";
import { partitioning } from "./partitioning.ts";
import { pulling } from "./pulling.ts";
import { repairing } from "./repairing.ts";
import { reporting } from "./reporting.ts";
import { rooms } from "./rooms.ts";
import { scheduling } from "./scheduling.ts";
import { sharing } from "./sharing.ts";
import { sweeping } from "./sweeping.ts";
import { tracing } from "./tracing.ts";
import { uniqueIds } from "./unique-ids.ts";
import { waiting } from "./waiting.ts";
import { waking } from "./waking.ts";

/** All mutants by area. Those of the first release were chosen without knowledge of the tests. */
export const mutants: Readonly<Record<string, readonly Mutant[]>> = {
  "life cycle": lifeCycle,
  sweeping,
  operating,
  scheduling,
  partitioning,
  repairing,
  rooms,
  pulling,
  waiting,
  waking,
  lanes,
  library,
  attempts,
  "unique ids": uniqueIds,
  consuming,
  declaring,
  alerting,
  tracing,
  offloading,
  embedded,
  reporting,
  clusters,
  interfaces,
  commanding,
  sharing,
};
