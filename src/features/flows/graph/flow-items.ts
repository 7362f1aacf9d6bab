import type { EnqueueOptions } from "../../../kernel/options/types.ts";

/**
 * How a task must end for another one to begin: `completed`, or in any way. If a task ends in another way than
 * `completed`, what waits for its completion is rejected at once, with the reason `dependency_failed`.
 */
export type EdgeOn = "completed" | "ended";

/** What a task or an inner flow waits for: an item of its own list. */
export type After = string | { readonly ref: string; readonly on?: EdgeOn | undefined };

interface Named {
  /** The name of the item, unique in its list: 1 to 128 visible ASCII characters without `/`, like an id. */
  readonly ref: string;
  /** Refs of the same list, at most 10,000. @default none: it begins with the flow it is in */
  readonly after?: After | readonly After[] | undefined;
}

/** A task of a flow. Its id derives from that of the flow, so it takes no option that concerns its id. */
export interface FlowTask<Q, T = unknown>
  extends Named, Omit<EnqueueOptions, "id" | "unique" | "again" | "dedup"> {
  /** The graph does not look at it. */
  readonly queue: Q;
  readonly payload: T;
}

/**
 * A flow in a flow. It ends when all of its tasks have ended, and counts as completed if all of them completed. An empty
 * one ends when what it waits for allows it.
 */
export interface InnerFlow<Q> extends Named {
  /** In any order. They name only each other. */
  readonly flow: readonly FlowItem<Q>[];
}

export type FlowItem<Q> = FlowTask<Q> | InnerFlow<Q>;

/** Most tasks of a flow. An inner flow counts as one more. */
export const MAX_FLOW_TASKS = 10_000;

/** Most edges of a flow. An inner flow needs one edge for each of its tasks, and one for each item behind it. */
export const MAX_FLOW_EDGES = 1_000_000;
