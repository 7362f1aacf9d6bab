import type { Traces } from "../../features/tracing/traces.ts";
import type { Delivered, Front, Given } from "../front.ts";

/** What a feature promises, however a user reaches the queue. It knows only the interface of a front. */
export type Feature = (traces: Traces) => {
  readonly given: Given;
  readonly run: (front: Front) => Promise<void>;
  /** Whether a line on the console is what the feature says there. @default none is */
  readonly logs?: (line: object) => boolean;
};

/** A handler that notes the ids of its tasks, and what a feature needs beside it. */
export function noting(given: Partial<Given> = {}) {
  const done: string[] = [];
  const handler = ({ id }: Delivered) => void done.push(id);
  return { done, given: { declaration: {}, concurrency: 5, handler, ...given } };
}

export const tasksOf = (...ids: readonly string[]) => ids.map((id) => ({ payload: id, id }));
export const eight = tasksOf("t0", "t1", "t2", "t3", "t4", "t5", "t6", "t7");
export const empty = { pending: 0, delayed: 0, working: 0, rejected: 0 };
