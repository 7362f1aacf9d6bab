import { toBase64 } from "../../base64.ts";
import type { TaskInfo } from "../../kernel/record/task-info.ts";
import type * as replies from "../response-schemas/tasks.ts";
import type { ReplyOf } from "../response-schemas/values.ts";

/**
 * A task or schedule without what its producer and its consumer gave it, for a token that hides payloads. Errors
 * stay: they say why a task failed. The reply does not show which of the values there were.
 */
export function hidePayloads<T extends object>(given: T): T & { readonly payloadsHidden: true } {
  const hidden = { payload: undefined, result: undefined, progress: undefined, headers: undefined };
  return { ...given, ...hidden, payloadsHidden: true };
}

/** A task as JSON, with bytes in base64. */
export function taskReply(task: TaskInfo): ReplyOf<typeof replies.task> {
  return {
    ...task,
    ...(task.payload instanceof Uint8Array && {
      payload: toBase64(task.payload),
      payloadEncoding: "base64" as const,
    }),
    ...(task.result instanceof Uint8Array && {
      result: toBase64(task.result),
      encoding: "base64" as const,
    }),
    ...(task.error instanceof Uint8Array && {
      error: toBase64(task.error),
      errorEncoding: "base64" as const,
    }),
    errors: task.errors.map(({ error, ...one }) =>
      error instanceof Uint8Array
        ? { ...one, error: toBase64(error), encoding: "base64" as const }
        : { ...one, error },
    ),
  };
}
