import type { ExpiredTask } from "../../kernel/record/dead-letter.ts";
import type { Fault } from "../../kernel/errors/faults.ts";

/** What the scripts report of a repair. */
export interface Repaired {
  readonly faults: readonly { readonly fault: Fault; readonly id: string }[];
  /** Tasks without a lease that had no attempt left. */
  readonly deadLetters?: readonly ExpiredTask[];
}
