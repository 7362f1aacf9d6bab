/** How a task changes that no consumer has begun. */
import { leave } from "../lines.ts";
import { isGrouped, scoreWhenDue, type ModelTask, type QueueState } from "../state.ts";
import { makeReady, type Ends } from "../transitions.ts";
import type { ModelKey } from "./key.ts";

/** The task of a key that has not ended, if it is still in the same life. */
export function taskOf(queue: QueueState, { id, enqueuedAt }: ModelKey): ModelTask | undefined {
  const task = queue.tasks.get(id);
  const isThere = task !== undefined && ["pending", "delayed", "working"].includes(task.state);
  return isThere && task.enqueuedAt === enqueuedAt ? task : undefined;
}

export const hasBegun = ({ state, attempt }: ModelTask) => state === "working" || attempt > 0;

/** When a waiting task is due; 0 if it is pending. */
export const dueOfTask = ({ delayed }: QueueState, { id }: ModelTask) => Math.floor(delayed.get(id) ?? 0);

/**
 * A task gets other options, and another place if it needs one: it keeps its place in line unless its group or its
 * priority changes.
 * @returns whether it became ready
 */
export function change(
  queue: QueueState,
  now: number,
  old: ModelTask,
  to: { readonly task: ModelTask; readonly due: number; readonly ends: Ends },
): boolean {
  const { task, due, ends } = to;
  queue.tasks.set(task.id, task);
  const isPending = old.state === "pending";
  const staysInLine =
    isPending && task.group === old.group && (task.priority ?? 0) === (old.priority ?? 0) && due <= now;
  if (staysInLine) return false;
  if (isPending) leavePlace(queue, old, task);
  queue.delayed.delete(task.id);
  if (due > now) {
    task.state = "delayed";
    queue.delayed.set(task.id, scoreWhenDue(task, due));
    return false;
  }
  task.state = "pending";
  // The entry that is left in the line becomes its place.
  if (!isGrouped(task) && task.ghosts > 0) task.ghosts--;
  else makeReady(queue, task, ends, "back");
  return true;
}

function leavePlace(queue: QueueState, old: ModelTask, task: ModelTask): void {
  if (!isGrouped(old)) {
    task.ghosts++;
    return;
  }
  queue.grouped = queue.grouped.filter((id) => id !== old.id);
  leave(queue, old, false);
}
