// The states in which a queue grows.

import type { EnqueueOptions, TaskState } from "../../src/index.ts";

/** Later than anything that the bench makes due, ms. */
export const FAR = 365 * 86_400_000;

/** How long the records are kept of tasks that go through a round, ms. */
export const KEPT = 600_000;

type Place = "pending" | "delayed" | "working" | "expiry" | "dead";

export interface GrowingState {
  readonly name: string;
  /** The state as `list` names it. */
  readonly state: TaskState;
  /** The keys that have its tasks; the first has them in the order of `list`. */
  readonly keys: readonly [Place, ...Place[]];
  readonly options: EnqueueOptions;
  /** The call that gives a task this state. */
  readonly by: "enqueue" | "dequeue" | "complete" | "reject";
}

const passing = { resultTtl: KEPT };

export const STATES: readonly GrowingState[] = [
  { name: "pending", state: "pending", keys: ["pending"], options: passing, by: "enqueue" },
  { name: "delayed", state: "delayed", keys: ["delayed"], options: passing, by: "enqueue" },
  { name: "working", state: "working", keys: ["working"], options: passing, by: "dequeue" },
  {
    name: "completed",
    state: "completed",
    keys: ["expiry"],
    options: { resultTtl: FAR },
    by: "complete",
  },
  {
    name: "dead letters",
    state: "rejected",
    keys: ["dead", "expiry"],
    options: { deadTtl: FAR },
    by: "reject",
  },
];
