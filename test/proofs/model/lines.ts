/** The lines of groups in strict order: of each group one task at a time is ready, works, or waits for another attempt. */
import { isGrouped, type ModelLine, type ModelTask, type QueueState } from "./state.ts";

/** For how long a dead letter is kept that stops its group, ms. */
const STOPPING_TTL = 315_360_000_000;

const lineOf = (queue: QueueState, group: string): ModelLine => {
  const line = queue.lines.get(group) ?? { head: undefined, stopped: false, waiting: [] };
  queue.lines.set(group, line);
  return line;
};

/** Whether the group of a task has a strict order. */
export function isStrict(queue: QueueState, { group }: Pick<ModelTask, "group">): boolean {
  if (group === undefined) return false;
  return (queue.groups.get(group)?.order ?? queue.settings.order) === "strict";
}

/** Whether a task waits until others of its group have ended. */
export const isInLine = (queue: QueueState, { id, group }: ModelTask): boolean =>
  queue.lines.get(group ?? "")?.waiting.includes(id) ?? false;

/** Whether a group has a task in front of its line. */
function isBusy(queue: QueueState, group: string): boolean {
  if (queue.lines.get(group)?.head !== undefined) return true;
  const isActive = (task: ModelTask) =>
    task.group === group &&
    (task.state === "working" || (queue.grouped.includes(task.id) && !isInLine(queue, task)));
  return [...queue.tasks.values()].some(isActive);
}

/** A task of a group becomes ready: as the head of its line, or behind it. */
export function join(queue: QueueState, task: ModelTask): void {
  if (isStrict(queue, task)) {
    const line = lineOf(queue, task.group as string);
    if (line.head !== task.id && (line.waiting.length > 0 || isBusy(queue, task.group as string)))
      line.waiting.push(task.id);
    else line.head = task.id;
  }
  queue.grouped.push(task.id);
}

/** A task that waits again stays the head. */
export function stay(queue: QueueState, task: ModelTask): void {
  if (!isGrouped(task) || !isStrict(queue, task)) return;
  const line = lineOf(queue, task.group as string);
  if (line.head === task.id) line.stopped = false;
  else if (line.head === undefined && task.state === "working") line.head = task.id;
}

/**
 * A task ends: its group goes on, or is stopped.
 * @returns for how long the task is kept, if it stops its group, ms
 */
export function leave(queue: QueueState, task: ModelTask, isDead: boolean): number | undefined {
  const line = queue.lines.get(task.group ?? "");
  if (!line) return undefined;
  line.waiting = line.waiting.filter((id) => id !== task.id);
  if (line.head !== task.id) return undefined;
  const onDead = queue.groups.get(task.group ?? "")?.onDead ?? queue.settings.onDead;
  if (isDead && onDead === "stop" && isStrict(queue, task)) {
    line.stopped = true;
    return STOPPING_TTL;
  }
  line.head = undefined;
  return undefined;
}

/** A dead letter is deleted, skipped or begins a new life: if it stopped its group, that goes on. */
export function leaveStopped(queue: QueueState, task: ModelTask): void {
  const line = queue.lines.get(task.group ?? "");
  if (!line?.stopped || line.head !== task.id) return;
  line.stopped = false;
  line.head = undefined;
}

/** At the end of each change, nodes follow what they wait for, and the next task if none is in front of a line. */
export function follow(queue: QueueState): void {
  queue.flows?.follow();
  for (const [group, line] of queue.lines) {
    if (isStrict(queue, { group }) && !isBusy(queue, group)) line.head = line.waiting.shift();
  }
}

/** The groups that are stopped, by name, each with the dead letter. */
export const stoppedGroups = (queue: QueueState) =>
  [...queue.lines]
    .flatMap(([group, { stopped, head }]) => (stopped ? [{ group, id: head }] : []))
    .toSorted((one, other) => (one.group < other.group ? -1 : 1));
