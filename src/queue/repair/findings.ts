import type { ExpiredTask } from "../core/dead-letter.ts";
import type { Fault } from "../core/faults.ts";

/** Collects what a deep sweep finds in one queue. */
export interface Findings {
  /** @param entries how many more entries were checked */
  checked(entries: number): void;
  /** @param id of the task, or the name of the group, worker, schedule or control field */
  found(fault: Fault, id: string): void;
}

/** What the scripts report of a repair. */
export interface Repaired {
  readonly faults: readonly { readonly fault: Fault; readonly id: string }[];
  /** Tasks without a lease that had no attempt left. */
  readonly deadLetters?: readonly ExpiredTask[];
}
