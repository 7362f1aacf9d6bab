/**
 * The order of delivery that groups and priorities allow. Which of several groups is next, by its share, is
 * for the fairness tests. Here a delivery is correct if it passes over no task of a higher priority, no
 * earlier one of its group, and no limit.
 */
import { isPaused, RUNNING } from "./pauses.ts";
import { entriesOf } from "./line.ts";
import { isInLine } from "./lines.ts";
import { left, spend, tenthOf } from "./limits.ts";
import { isGrouped, type ModelGroup, type ModelTask, type QueueState } from "./state.ts";

export interface Passed {
  /** The priority of the last task of the batch. */
  last: number | undefined;
  /** Whether the batch had begun before groups came into use, so that it did not read their tasks. */
  readonly early: boolean;
}

export const groupOf = (queue: QueueState, task: ModelTask): ModelGroup => {
  const name = task.group ?? "";
  const known = queue.groups.get(name) ?? {
    ...RUNNING,
    weight: 1,
    maxWorking: null,
    rate: null,
    order: null,
    onDead: null,
    used: new Map(),
    limited: false,
  };
  queue.groups.set(name, known);
  return known;
};

/** The number of working tasks of a task's group. */
function workingOf(queue: QueueState, { group }: ModelTask): number {
  let count = 0;
  for (const task of queue.tasks.values()) {
    if (task.state === "working" && isGrouped(task) && task.group === group) count++;
  }
  return count;
}

/** Notes which rates of groups have counted ahead of a clock that was set back. */
export function noteSetBack(queue: QueueState, now: number): void {
  for (const group of queue.groups.values()) {
    const { rate, used } = group;
    if (rate === null || [...used.keys()].every((tenth) => tenth <= now / tenthOf(rate))) continue;
    group.used = new Map();
    group.metAhead = -1;
  }
}

/** The groups whose stored counts are ahead of the clock, because no call has read them since it was set back. */
export function groupsAhead(
  queue: QueueState,
  now: number,
  fields: ReadonlyMap<string, string>,
): ReadonlySet<string> {
  const isAhead = ([name, { rate }]: [string, ModelGroup]) => {
    const [, counts = ""] = /;u=([^;]*)/.exec(fields.get(`~g:${name}`) ?? "") ?? [];
    const tenths = Array.from(counts.matchAll(/(\d+):/g), ([, tenth]) => Number(tenth));
    return rate !== null && tenths.some((tenth) => tenth > now / tenthOf(rate));
  };
  return new Set([...queue.groups].filter(isAhead).map(([name]) => name));
}

/**
 * Notes that a pull meets these groups, and the end of their period.
 * @param ahead see {@link groupsAhead}, before the pull
 */
export function noteMet(queue: QueueState, now: number, ahead: ReadonlySet<string>): void {
  for (const [name, group] of queue.groups) {
    if (group.metAhead === undefined) continue;
    if (ahead.has(name) || group.metAhead < 0 || now < group.metAhead) group.metAhead = now;
    const lost = group.rate === null ? 0 : 2 * group.rate.per + 3 * tenthOf(group.rate);
    if (now > group.metAhead + lost) group.metAhead = undefined;
  }
}

/** Whether the model can predict if a task's group may have more. */
const isPredictable = (queue: QueueState, task: ModelTask) =>
  !isGrouped(task) || groupOf(queue, task).metAhead === undefined;

function open(queue: QueueState, now: number, task: ModelTask): boolean {
  if (!isGrouped(task)) return true;
  const group = groupOf(queue, task);
  const { maxWorking, rate, used } = group;
  if (isPaused(group, now)) return false;
  if (maxWorking !== null && workingOf(queue, task) >= maxWorking) return false;
  return rate === null || left(rate, used, now) >= 1;
}

/** Waiting tasks of which the model cannot predict whether a limit holds them. */
export const unpredictable = (queue: QueueState): ModelTask[] =>
  queue.grouped
    .map((id) => queue.task(id))
    .filter((task) => task.state === "pending" && !isInLine(queue, task) && !isPredictable(queue, task));

/** The next task of the line. */
function nextInLine(queue: QueueState): ModelTask | undefined {
  const next = entriesOf(queue).find(({ id, isGhost }) => !isGhost && queue.task(id).state === "pending");
  return next && queue.task(next.id);
}

/** Waiting tasks that no limit holds, the next of each group and of the line. */
export function deliverable(queue: QueueState, now: number): ModelTask[] {
  const next = nextInLine(queue);
  const waiting = queue.grouped
    .map((id) => queue.task(id))
    .filter((task) => task.state === "pending" && !isInLine(queue, task));
  return [...(next ? [next] : []), ...waiting].filter(
    (task) => isPredictable(queue, task) && open(queue, now, task),
  );
}

/** @throws if a task must not be the next of a batch */
export function mayFollow(queue: QueueState, now: number, task: ModelTask, { last, early }: Passed): void {
  const priority = task.priority ?? 0;
  if (isInLine(queue, task)) throw new Error(`${task.id} was given before its turn in line`);
  if (isPredictable(queue, task) && !open(queue, now, task))
    throw new Error(`${task.id} was given past the limit of its group`);
  if (early) return;
  if (last !== undefined && priority > last) throw new Error(`${task.id} came behind a lower priority`);
  const above = deliverable(queue, now).find((other) => (other.priority ?? 0) > priority);
  if (above) throw new Error(`${task.id} was given before ${above.id}, of a higher priority`);
  if (!isGrouped(task)) {
    const first = nextInLine(queue);
    if (first !== task) throw new Error(`${task.id} was given before ${first?.id}, in line before it`);
    return;
  }
  // Tasks behind a limit may come out of order, and a handed-back task may have kept its place.
  if (groupOf(queue, task).limited || task.handedBack) return;
  const first = queue.grouped
    .map((id) => queue.task(id))
    .filter((other) => other.state === "pending" && !other.handedBack && !isInLine(queue, other))
    .find((other) => other.group === task.group && (other.priority ?? 0) === priority);
  if (first?.id !== task.id) throw new Error(`${task.id} was given before ${first?.id}, of its group`);
}

export function notePassed(queue: QueueState, now: number, task: ModelTask, passed: Passed): void {
  passed.last = task.priority ?? 0;
  if (!isGrouped(task)) return;
  const group = groupOf(queue, task);
  if (group.rate !== null) group.used = spend(group.rate, group.used, now, 1);
}
