import type { ExpiredTask } from "../../queue/core/dead-letter.ts";
import type { Fault } from "../../queue/core/faults.ts";

/** What the scripts report of a repair. */
export interface Repaired {
  readonly faults: readonly { readonly fault: Fault; readonly id: string }[];
  /** Tasks without a lease that had no attempt left. */
  readonly deadLetters?: readonly ExpiredTask[];
}
