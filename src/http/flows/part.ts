import type { LinkedPart } from "../../open/linked-part.ts";
import type { SweepPart } from "../../sweep/part.ts";
import type { flowSource } from "../../open/flows/flow-source.ts";
import type { AppPart } from "../app-part.ts";

/** The code of flows, to turn them on. */
export interface FlowsPart extends AppPart, LinkedPart {
  readonly sweepPart: SweepPart;
  /** Gives the tasks of a consumer what concerns their flows. */
  readonly flowSource: typeof flowSource;
}
