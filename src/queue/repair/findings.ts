import type { Fault } from "../core/faults.ts";

/** Collects what a deep sweep finds in one queue. */
export interface Findings {
  /** @param entries how many more entries were checked */
  checked(entries: number): void;
  /** @param id of the task, or the name of the group, worker, schedule or control field */
  found(fault: Fault, id: string): void;
}

/** Faults as the scripts report them. */
export type ReportedFaults = readonly { readonly fault: Fault; readonly id: string }[];
