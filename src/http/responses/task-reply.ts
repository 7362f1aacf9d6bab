import { toBase64 } from "../../base64.ts";
import type { TaskInfo } from "../../kernel/record/task-info.ts";
import type { ReportedTask } from "../../kernel/tasks/reported-task.ts";
import type * as replies from "../response-schemas/tasks.ts";
import type { ReplyOf } from "../response-schemas/values.ts";

/**
 * A task or schedule without what its producer and its consumer gave it, for a token that hides payloads. Errors
 * stay: they say why a task failed. The reply does not show which of the values there were.
 */
export function hidePayloads<T extends object>(given: T): T & { readonly payloadsHidden: true } {
  const hidden = {
    payload: undefined,
    preview: undefined,
    result: undefined,
    progress: undefined,
    headers: undefined,
  };
  return { ...given, ...hidden, payloadsHidden: true };
}

/** A value as a field, in base64 with an encoding beside it if it is bytes. */
export function fieldOf<Value, Field extends string, Encoding extends string>(
  value: Value,
  field: Field,
  encoding: Encoding,
) {
  const isBytes = value instanceof Uint8Array;
  return {
    [field]: isBytes ? toBase64(value) : value,
    ...(isBytes && { [encoding]: "base64" }),
  } as Record<Field, Exclude<Value, Uint8Array> | string> & Partial<Record<Encoding, "base64">>;
}

/** A task of an event as JSON, with bytes in base64. */
export function reportedReply(task: ReportedTask) {
  return {
    ...task,
    ...fieldOf(task.result, "result", "encoding"),
    ...fieldOf(task.error, "error", "errorEncoding"),
  };
}

/** A task as JSON, with bytes in base64. */
export function taskReply(task: TaskInfo): ReplyOf<typeof replies.task> {
  return {
    ...task,
    ...fieldOf(task.payload, "payload", "payloadEncoding"),
    ...fieldOf(task.result, "result", "encoding"),
    ...fieldOf(task.error, "error", "errorEncoding"),
    errors: task.errors.map((one) => ({ ...one, ...fieldOf(one.error, "error", "encoding") })),
  };
}
