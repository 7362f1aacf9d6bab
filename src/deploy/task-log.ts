import type { TaskFailure } from "../drain/types.ts";
import type { DeadLetter } from "../kernel/record/dead-letter.ts";
import { lineOf } from "../kernel/errors/error-summary.ts";
import { attemptFailed, becameDeadLetter } from "../log/lines.ts";
import type { LogLine } from "../log/logger.ts";

/**
 * The caller of handlers and the frames below it, up to the stack of the cause. Bundlers keep the names of methods; in
 * other engines than V8, a stack may be without it.
 */
const FRAMES_BELOW = /\n +at (?:async )?(?:[\w$]+\.)?callSluiceHandler\b[^]*?(?=\n\[cause\]: |$)/g;

/** A stack without the frames of the library, if these can be distinguished. */
const ownFrames = (stack: string | undefined) => stack?.replaceAll(FRAMES_BELOW, "");

/** The line of a failed task. */
export function failureLine({ queue, id: task, attempt, error, ranFor, next, dueAt }: TaskFailure): LogLine {
  return attemptFailed({
    queue,
    task,
    attempt,
    failed: error ? lineOf(error) : "requeued without an error",
    ranFor,
    next,
    dueAt: dueAt === undefined ? undefined : new Date(dueAt).toISOString(),
    stack: ownFrames(error?.stack),
  });
}

/** The line of a new dead letter. */
export function deadLetterLine({ queue, id: task, reason, attempts, error }: DeadLetter): LogLine {
  return becameDeadLetter({
    queue,
    task,
    reason,
    attempts,
    error: error && lineOf(error),
    stack: ownFrames(error?.stack),
  });
}
