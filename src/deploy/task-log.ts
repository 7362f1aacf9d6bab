import type { TaskFailure } from "../drain/types.ts";
import type { DeadLetter } from "../kernel/record/dead-letter.ts";
import { lineOf } from "../kernel/errors/error-summary.ts";

/** Logs work that was done. */
export function logDone(line: object): void {
  console.log(JSON.stringify(line));
}

/** Logs a failed task, unless it has become a dead letter, which has a line of its own. */
export function logTaskFailure({ queue, id: task, attempt, error, ranFor, next, dueAt }: TaskFailure): void {
  if (next === "dead_letter") return;
  const failed = error ? lineOf(error) : "requeued without an error";
  const again = dueAt === undefined ? {} : { dueAt: new Date(dueAt).toISOString() };
  console.error(
    JSON.stringify({ queue, task, attempt, failed, ranFor, next, ...again, stack: error?.stack }),
  );
}

/** Logs a new dead letter. */
export function logDeadLetter({ queue, id: task, reason, attempts, error }: DeadLetter): void {
  const why = error && { error: lineOf(error), stack: error.stack };
  console.error(JSON.stringify({ queue, task, deadLetter: true, reason, attempts, ...why }));
}
