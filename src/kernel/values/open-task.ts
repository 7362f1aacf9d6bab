import { errorText } from "../errors/error-text.ts";
import { isEnvelope } from "../record/envelope.ts";
import type { AttemptError, TaskInfo } from "../record/task-info.ts";
import type { Values } from "./values.ts";

/**
 * Opens the values of a task.
 * @param id the id for which the task was requested: an untrusted server may reply with another one
 * @throws {SluiceError} `undecryptable`, `offload_failed`
 */
export async function openTask<T extends TaskInfo>(values: Values, task: T, id: string): Promise<T> {
  const opened: Record<string, unknown> = {};
  for (const kind of ["payload", "result", "error", "progress"] as const) {
    if (task[kind] !== undefined) opened[kind] = await values.open({ kind, id }, task[kind]);
  }
  const errors: AttemptError[] = [];
  for (const one of task.errors) errors.push({ ...one, error: await openErrorText(values, one.error, id) });
  return { ...task, ...opened, errors };
}

/** Opens the error of an attempt. */
export async function openErrorText(
  values: Values,
  error: AttemptError["error"],
  id: string,
): Promise<AttemptError["error"]> {
  if (!(error instanceof Uint8Array)) return error;
  const value = await values.open({ kind: "error", id }, error);
  return isEnvelope(value) ? (value as Uint8Array) : errorText(value);
}
