import type { TaskInfo } from "../kernel/record/task-info.ts";
import type { Values } from "../kernel/values/values.ts";
import { onDemand } from "./load.ts";
import type { TaskReply } from "./types.ts";

/**
 * Reads a task that the server wrote.
 * @param id the id for which the task was requested
 * @throws {SluiceError} `undecryptable`
 */
export async function readTask(values: Values, task: TaskReply, id: string): Promise<TaskInfo> {
  // Only bytes, which have an encoding, and progress that is a text may be encrypted.
  const hasBytes = [task, ...task.errors].some((part) => /encoding/i.test(Object.keys(part).join()));
  if (!hasBytes && typeof task.progress !== "string" && !values.areSealed) return task as TaskInfo;
  return (await onDemand()).openTask(values, task, id);
}
