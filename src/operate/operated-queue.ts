import type { Adds } from "../kernel/store.ts";
import type { ValuesQueue } from "../kernel/values/encryption.ts";

/** A queue, for its operators. */
export interface OperatedQueue {
  readonly store: Adds;
  readonly values: ValuesQueue;
}
