/** The calls that only read a queue: counts, pages, workers, statistics. */
import type { QueueCounts, TaskInfo, TaskState, WorkerInfo } from "../../../src/index.ts";
import { nextDue } from "./due.ts";
import { entriesOf } from "./line.ts";
import { stoppedGroups } from "./lines.ts";
import { fits, type ModelFilter } from "./operate.ts";
import { pauseAt, RUNNING } from "./pauses.ts";
import type { Of } from "./operations.ts";
import { infoOf, inOrder, type QueueState } from "./state.ts";
import { FORGOTTEN_AFTER, leasedBy } from "./workers.ts";

/** How many tasks are in each state that counts have. */
export function countsByState(queue: QueueState) {
  const inState = (state: TaskState) =>
    [...queue.tasks.values()].filter((task) => task.state === state).length;
  return {
    pending: inState("pending"),
    delayed: inState("delayed"),
    blocked: inState("blocked"),
    working: inState("working"),
    rejected: queue.dead.size,
  };
}

export function counts(queue: QueueState, now: number, name: string): QueueCounts {
  return {
    queue: name,
    ...countsByState(queue),
    oldestAge: nextListedAge(queue, now) ?? null,
    nextDueAt: nextDue(queue) ?? null,
    broken: 0,
    workers: queue.workers.size,
    ...pauseAt(queue.settings, now),
    stoppedGroups: stoppedGroups(queue).length,
  };
}

const ageOf = (queue: QueueState, now: number, id: string) => Math.max(0, now - queue.task(id).enqueuedAt);

/** The age of the first entry of the list that is no ghost. */
function nextListedAge(queue: QueueState, now: number): number | undefined {
  const next = entriesOf(queue).find(({ isGhost }) => !isGhost);
  return next && ageOf(queue, now, next.id);
}

/**
 * Whether the counts may return this age if groups or priorities are in use. The model does not predict which
 * task is next or held by a limit. So the age is that of the list's next task, or of an older one of them; if
 * none is listed, of any of them.
 */
export function mayBeOldest(queue: QueueState, now: number, age: unknown): boolean {
  const listed = nextListedAge(queue, now);
  const ages = queue.grouped.map((id) => Math.max(ageOf(queue, now, id), listed ?? 0));
  if (listed !== undefined) ages.push(listed);
  return ages.length === 0 ? age === null : ages.some((possible) => possible === age);
}

/** The tasks in one state, in the order of their pages. */
export function list(queue: QueueState, name: string, state: TaskState, filter: ModelFilter): TaskInfo[] {
  const places: Record<TaskState, () => string[]> = {
    pending: () => [...queue.line.filter((id) => queue.task(id).state === "pending"), ...queue.grouped],
    delayed: () => inOrder(queue.delayed),
    blocked: () => inOrder(queue.blocked),
    working: () => inOrder(queue.working),
    completed: () => inOrder(queue.expiry),
    rejected: () => inOrder(filter.reason === "cancelled" ? queue.expiry : queue.dead),
  };
  const ids = new Set(places[state]().filter((id) => queue.tasks.get(id)?.state === state));
  return [...ids]
    .filter((id) => fits(queue.task(id), filter))
    .map((id) => infoOf(queue, name, id) as TaskInfo);
}

/** The registered workers, and those that were failed within an hour and have not come back, by name. */
export function workers(queue: QueueState, now: number): WorkerInfo[] {
  const extendedAt = (id: string) =>
    Math.min(now, (queue.working.get(id) as number) - (queue.task(id).leasedFor ?? 0));
  const lost = queue.lastLost.flatMap((key) => {
    const silentAt = (queue.lost.get(key) ?? 0) + FORGOTTEN_AFTER;
    const worker = { seenAt: undefined, silentAt, silentAfter: undefined, goneAfter: undefined };
    return queue.workers.has(key) || silentAt <= now ? [] : [[key, worker] as const];
  });
  return [...queue.workers, ...lost]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, { seenAt: seen, silentAt, silentAfter, goneAfter }]) => {
      const [name = "", incarnation = ""] = key.split(" ");
      const ids = leasedBy(queue, key);
      const seenAt = seen === undefined ? undefined : Math.max(seen, ...ids.slice(0, 5).map(extendedAt));
      const aliveFor = silentAfter ?? goneAfter;
      const isGone = seenAt === undefined || (aliveFor !== undefined && seenAt + aliveFor <= now);
      const living = ids.length > 0 ? "working" : "idle";
      return {
        name,
        ...(incarnation !== "" && { incarnation }),
        ...(seenAt === undefined
          ? { seenAt: null, ...(queue.lost.has(key) && { failedAt: queue.lost.get(key) }) }
          : { seenAt }),
        ...(silentAfter !== undefined && seenAt !== undefined && { silentAfter }),
        ...(goneAfter !== undefined && seenAt !== undefined && { goneAfter }),
        ...((isGone || aliveFor !== undefined) && { state: isGone ? "gone" : living }),
        silentAt,
        working: ids.length,
        tasks: ids,
      };
    });
}

/** A group with waiting tasks. The model does not predict which of them wait for the limits of the group. */
export interface WaitingGroup {
  readonly group: string;
  readonly paused: boolean;
  readonly pausedUntil: number | null;
  readonly weight: number;
  readonly maxWorking: number | null;
  readonly waiting: number;
  readonly working: number;
  readonly inLine: number;
  readonly stoppedBy: string | null;
}

/** The groups with waiting tasks, by name. */
export function groups(queue: QueueState, now: number): WaitingGroup[] {
  const groupsOf = (ids: Iterable<string>) => [...ids].map((id) => queue.task(id).group);
  const waiting = groupsOf(queue.grouped);
  const working = groupsOf(queue.working.keys());
  const names = [...new Set(waiting)].filter((group) => group !== undefined).toSorted();
  const inGroup = (all: typeof waiting, group: string) => all.filter((one) => one === group).length;
  return names.map((group) => ({
    group,
    ...pauseAt(queue.groups.get(group) ?? RUNNING, now),
    weight: queue.groups.get(group)?.weight ?? 1,
    maxWorking: queue.groups.get(group)?.maxWorking ?? null,
    waiting: inGroup(waiting, group),
    working: inGroup(working, group),
    inLine: queue.lines.get(group)?.waiting.length ?? 0,
    stoppedBy: (queue.lines.get(group)?.stopped && queue.lines.get(group)?.head) || null,
  }));
}

/** The counts of the last hour: the events of all tasks, by the start of the minute. */
export function statistics(queue: QueueState, now: number): [startsAt: number, Record<string, number>][] {
  const current = Math.floor(now / 60_000);
  return [...queue.minutes]
    .filter(([minute, counts]) => minute > current - 60 && minute <= current && counts.size > 0)
    .map(([minute, counts]) => [minute * 60_000, Object.fromEntries(counts)]);
}

/** Whether groups or priorities are in use: then the model does not predict which task is next. */
export const usesGroups = (queue: QueueState) => queue.groups.size > 0 || queue.grouped.length > 0;

/** A page shows an id at its first entry, which may be the ghost of an earlier life, and then again. */
export const outOfTurn = (queue: QueueState, { state }: Of<"list">) =>
  state === "pending" && (usesGroups(queue) || queue.ghosts > 0);
