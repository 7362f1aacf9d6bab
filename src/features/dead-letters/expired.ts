import { type OnDeadLetter, reportExpired } from "../../kernel/record/dead-letter.ts";
import type { Adds } from "../../kernel/store.ts";

/** Reports the tasks that calls find as dead letters. */
export function reportExpiredTasks<S extends Adds>(next: S, onDeadLetter: OnDeadLetter): S {
  const { name } = next.queue;
  return { ...next, expired: (tasks) => reportExpired(onDeadLetter, name, tasks) };
}
