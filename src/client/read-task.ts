import type { AttemptError, TaskInfo } from "../queue/core/task-info.ts";
import { valueOf } from "./body.ts";

/** A task as the server writes it: bytes are in base64, with an encoding beside them. */
export type TaskReply = TaskInfo & {
  readonly encoding?: string;
  readonly errorEncoding?: string;
  readonly payloadEncoding?: string;
};

/** The error of an attempt as the server writes it. */
type ErrorReply = AttemptError & { readonly encoding?: string };

/** Reads a task that the server wrote. Values that the caller encrypted are bytes. */
export function readTask({ encoding, errorEncoding, payloadEncoding, ...rest }: TaskReply): TaskInfo {
  return {
    ...rest,
    ...(payloadEncoding !== undefined && { payload: valueOf(rest.payload, payloadEncoding) }),
    ...(encoding !== undefined && { result: valueOf(rest.result, encoding) }),
    ...(errorEncoding !== undefined && { error: valueOf(rest.error, errorEncoding) }),
    errors: rest.errors.map(({ encoding: each, ...one }: ErrorReply) => ({
      ...one,
      error: valueOf(one.error, each) as AttemptError["error"],
    })),
  } as TaskInfo;
}
