import type { Adds } from "../kernel/store.ts";
import type { Values } from "../kernel/values/values.ts";

/** A queue, for its operators. */
export interface OperatedQueue {
  readonly store: Adds;
  readonly values: Values;
}
