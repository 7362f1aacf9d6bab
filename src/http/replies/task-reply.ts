import type { ListedTask } from "../../queue/operate/task-operator.ts";
import type { TaskInfo } from "../../queue/core/types.ts";
import { toBase64 } from "../request/base64.ts";
import { Problem } from "../problems/problem.ts";
import type * as operated from "./task-operation.ts";
import type * as replies from "./tasks.ts";
import type { ReplyOf } from "./values.ts";
import { idInPath } from "../schemas/tasks.ts";
import { validate } from "../request/validate.ts";

/**
 * The id of the task that a path names.
 * @throws {Problem} invalid_request
 */
export const idOf = (id: string): string => validate(idInPath, { id }).id;

export const noTask = () =>
  new Problem("not_found", {
    detail: "There is no task with that id: it never was, or its record has expired.",
  });

/** A task as JSON: bytes in base64. */
export function taskReply(task: TaskInfo): ReplyOf<typeof replies.task> {
  return {
    ...task,
    ...(task.result instanceof Uint8Array && {
      result: toBase64(task.result),
      encoding: "base64" as const,
    }),
    ...(task.error instanceof Uint8Array && {
      error: toBase64(task.error),
      errorEncoding: "base64" as const,
    }),
  };
}

/** The same of a task in a list, which may have its payload. */
export function listedReply({ payload, ...task }: ListedTask): ReplyOf<typeof operated.listed> {
  if (payload === undefined) return taskReply(task);
  const encoded = payload instanceof Uint8Array;
  return {
    ...taskReply(task),
    payload: encoded ? toBase64(payload) : payload,
    ...(encoded && { payloadEncoding: "base64" as const }),
  };
}
