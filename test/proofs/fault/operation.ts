import type { Caller } from "./starting-point.ts";

/** One call of the library for a script, and its answer if its first copy has run without an answer. */
export interface Operation {
  /** The name of the script that the fault is for. */
  readonly script: string;
  /** What else to say of the call in its title. */
  readonly what?: string;
  readonly call: (by: Caller) => Promise<unknown>;
  /** Which of the requests with that script meets the fault. @default 1 */
  readonly nth?: number;
  /** True if the queue's keys are damaged before. */
  readonly damaged?: boolean;
  /** Makes the answer after an earlier copy has run from the usual one. @default the same (law 5) */
  readonly again?: (answer: never) => unknown;
  /** True if the answer counts what this call did, so that a repeated call counts only the rest. */
  readonly counts?: boolean;
  /** What to do after a call whose first copy ran without an answer, before the keys are the usual ones. */
  readonly afterwards?: (by: Caller) => Promise<unknown>;
}
