/** What operators do: cancel, remove, redrive, purge, configure, delete. */
import { follow, leaveStopped } from "./lines.ts";
import type { GroupSetting } from "./operations.ts";
import { type ModelPause, pauseAt, pausedBy, RUNNING } from "./pauses.ts";
import type { Cancelled, RedriveReport, RejectReason, Removed, Skipped } from "../../../src/index.ts";
import { dropGhost } from "./dequeue.ts";
import { erase, finish, newEnds, putInLine, waitAgain } from "./transitions.ts";
import { recount } from "./limits.ts";
import {
  inOrder,
  isGrouped,
  QueueState,
  report,
  transition,
  type ModelGroup,
  type ModelTask,
  type QueueLimits,
} from "./state.ts";
import { groupOf } from "./delivery-order.ts";

/** Cancels a task: at once, or by a flag if it is leased. */
export function cancel(queue: QueueState, now: number, id: string, lease?: number): Cancelled {
  const task = queue.tasks.get(id);
  if (!task || task.state === "ghost" || task.state === "removed") return { ok: false, code: "not_found" };
  if (lease !== undefined && task.lease !== lease) return { ok: false, code: "lease_lost" };
  if (task.state === "completed" || (task.state === "rejected" && task.reason !== "cancelled")) {
    return { ok: false, code: "already_ended" };
  }
  if (task.state === "rejected") return { ok: true, state: "rejected" };
  const state = cancelAlive(queue, now, task);
  follow(queue);
  return { ok: true, state };
}

/** Cancels a task that has not ended. */
export function cancelAlive(queue: QueueState, now: number, task: ModelTask): "working" | "rejected" {
  if (task.state === "working") {
    if (!task.flagged) {
      task.flagged = true;
      transition(task, "cancelRequested", now);
      report(queue, "cancelRequested", now);
    }
    return "working";
  }
  // Its entry in the list stays, because finding it would take time.
  if (task.state === "pending" && !isGrouped(task)) task.ghosts++;
  end(queue, now, task);
  return "rejected";
}

/** Ends a waiting task as cancelled. */
function end(queue: QueueState, now: number, task: ModelTask): void {
  queue.delayed.delete(task.id);
  queue.blocked.delete(task.id);
  queue.grouped = queue.grouped.filter((id) => id !== task.id);
  finish(queue, task, { now, state: "rejected", reason: "cancelled" });
}

/** Deletes an ended task's record. */
export function remove(queue: QueueState, now: number, id: string): Removed {
  const task = queue.tasks.get(id);
  if (!task || task.state === "ghost") return { ok: false, code: "not_found" };
  if (task.state === "removed") {
    return task.endedAt === undefined ? { ok: false, code: "not_found" } : { ok: true };
  }
  if (task.state !== "completed" && task.state !== "rejected") return { ok: false, code: "alive" };
  erase(queue, task, now);
  follow(queue);
  return { ok: true };
}

/** Lets the group of a dead letter go on. */
export function skip(queue: QueueState, id: string): Skipped {
  const task = queue.tasks.get(id);
  if (!task || task.state === "ghost" || task.state === "removed") return { ok: false, code: "not_found" };
  if (task.state !== "rejected" || !task.kept) return { ok: false, code: "not_dead_letter" };
  leaveStopped(queue, task);
  follow(queue);
  return { ok: true };
}

export interface ModelFilter {
  readonly group?: string | undefined;
  readonly reason?: RejectReason | readonly RejectReason[] | undefined;
  readonly endedSince?: number | undefined;
  readonly endedUntil?: number | undefined;
}

export function fits(task: ModelTask, filter: ModelFilter): boolean {
  const { group, reason, endedSince, endedUntil } = filter;
  const ended = task.endedAt;
  return (
    (group === undefined || task.group === group) &&
    (reason === undefined || [reason].flat().some((one) => one === task.reason)) &&
    (endedSince === undefined || (ended !== undefined && ended >= endedSince)) &&
    (endedUntil === undefined || (ended !== undefined && ended < endedUntil))
  );
}

/** What fell with a task that failed is blocked again with that one. */
const isRedrivable = ({ reason }: ModelTask) => reason !== "dependency_failed";

/** Redrives one dead letter. */
function redriveOne(
  queue: QueueState,
  now: number,
  task: ModelTask,
  ends: ReturnType<typeof newEnds>,
  due: number,
): void {
  queue.dead.delete(task.id);
  queue.expiry.delete(task.id);
  task.charged = 0;
  task.reason = undefined;
  task.endedAt = undefined;
  waitAgain(queue, task, ends, { now, place: "back", due: due > now ? due : undefined });
  report(queue, "redriven", now);
  if (task.node) queue.flows?.noteOpen(task, now);
}

/** Makes the dead letters that match a filter pending again. */
export function redrive(
  queue: QueueState,
  now: number,
  call: ModelFilter & {
    readonly dryRun?: boolean;
    readonly rate?: number | undefined;
    readonly limit?: number | undefined;
  },
): number {
  const meant = inOrder(queue.dead)
    .filter((id) => (queue.dead.get(id) as number) <= now)
    .map((id) => queue.task(id))
    .filter((task) => fits(task, call) && (call.reason !== undefined || task.reason !== "rejected"))
    .filter(isRedrivable)
    .slice(0, call.limit);
  if (call.dryRun) return meant.length;
  const ends = newEnds();
  const interval = call.rate === undefined ? 0 : Number((1_000 / call.rate).toFixed(6));
  for (const [i, task] of meant.entries()) redriveOne(queue, now, task, ends, Math.floor(now + i * interval));
  putInLine(queue, ends);
  follow(queue);
  return meant.length;
}

/** As {@link redrive}, by id. */
export function redriveByIds(
  queue: QueueState,
  now: number,
  ids: readonly { readonly id: string; readonly lease?: number | undefined }[],
): Pick<RedriveReport, "redriven" | "refused"> {
  const leases = new Map(ids.map(({ id, lease }) => [id, lease]));
  const refused: RedriveReport["refused"][number][] = [];
  const ends = newEnds();
  for (const [id, lease] of leases) {
    const task = queue.tasks.get(id);
    const refuse = (code: RedriveReport["refused"][number]["code"]) => refused.push({ id, code });
    if (!task || task.state === "ghost" || task.state === "removed") refuse("not_found");
    else if (lease !== undefined && lease !== task.lease) refuse("lease_lost");
    else if (task.state === "rejected" && task.kept && isRedrivable(task))
      redriveOne(queue, now, task, ends, now);
    else if (!wasRedriven(task)) refuse("not_dead_letter");
  }
  putInLine(queue, ends);
  follow(queue);
  return { redriven: leases.size - refused.length, refused };
}

/** Whether it was rejected and waits again, so that an earlier copy has run. */
export function wasRedriven({ state, history }: ModelTask): boolean {
  const [before, last] = history.slice(-2);
  const waits = state === "pending" || state === "delayed";
  return waits && before?.to === "rejected" && (last?.to === "pending" || last?.to === "delayed");
}

/** Ends, or deletes, the tasks in one state that match a filter. */
export function purge(
  queue: QueueState,
  now: number,
  call: ModelFilter & {
    readonly state: "pending" | "delayed" | "blocked" | "completed" | "rejected";
    readonly limit?: number | undefined;
  },
): number {
  const limit = call.limit ?? Number.POSITIVE_INFINITY;
  if (call.state === "pending") return purgePending(queue, now, call.group, limit);
  const place =
    call.state === "delayed" || call.state === "blocked"
      ? queue[call.state]
      : call.state === "completed" || call.reason === "cancelled"
        ? queue.expiry
        : queue.dead;
  const meant = inOrder(place)
    .flatMap((member) => queue.tasks.get(member) ?? [])
    .filter((task) => task.state === call.state && fits(task, call))
    .slice(0, limit);
  for (const task of meant) {
    if (call.state === "delayed" || call.state === "blocked") end(queue, now, task);
    else erase(queue, task, now);
  }
  follow(queue);
  return meant.length;
}

function purgePending(queue: QueueState, now: number, group: string | undefined, limit: number): number {
  const grouped = queue.grouped
    .map((id) => queue.task(id))
    .filter((task) => group === undefined || task.group === group);
  for (const task of grouped) end(queue, now, task);
  follow(queue);
  let count = grouped.length;
  if (group !== undefined) return count;
  while (count < limit && queue.line.length > 0) {
    const task = queue.task(queue.line.shift() as string);
    if (task.ghosts > 0) dropGhost(queue, task);
    else {
      end(queue, now, task);
      count++;
    }
  }
  follow(queue);
  return count;
}

interface PauseChange {
  /** For how long, ms; 0 until it is resumed; null resumes. @default unchanged */
  readonly pause?: number | null | undefined;
}

function changedPause(before: ModelPause, now: number, pause: number | null | undefined): ModelPause {
  if (pause === undefined) return pauseAt(before, now);
  return pause === null ? RUNNING : pausedBy(before, now, pause);
}

/** Changes settings of the queue. */
export function configure(
  queue: QueueState,
  now: number,
  { pause, ...changes }: Partial<Omit<QueueLimits, keyof ModelPause>> & PauseChange,
): QueueLimits {
  const before = { ...queue.settings, ...pauseAt(queue.settings, now) };
  queue.settings = { ...before, ...changes, ...changedPause(before, now, pause) };
  const { pausedUntil } = queue.settings;
  // Consumers that meet the pause end.
  if (pausedUntil !== null && pausedUntil !== before.pausedUntil) queue.wake = undefined;
  const rate = queue.settings.rate;
  queue.used = recount(queue.used, before.rate, rate, now);
  if (before.statistics && !queue.settings.statistics) {
    queue.minutes.clear();
    queue.totals.clear();
    queue.minute = 0;
  }
  return queue.settings;
}

type ModelGroupSettings = Pick<
  ModelGroup,
  "paused" | "pausedUntil" | "weight" | "maxWorking" | "rate" | "order" | "onDead"
>;

export function configureGroup(
  queue: QueueState,
  now: number,
  name: string,
  { paused: pause, ...changes }: GroupSetting,
): ModelGroupSettings {
  const group = groupOf(queue, { group: name } as ModelTask);
  const { rate } = group;
  const length = typeof pause === "object" ? pause.for : pause === undefined ? undefined : pause ? 0 : null;
  Object.assign(group, changes, changedPause(group, now, length));
  group.used = recount(group.used, rate, group.rate, now);
  group.limited ||= group.paused || group.maxWorking !== null || group.rate !== null;
  const { weight, maxWorking, order, onDead } = group;
  return { ...pauseAt(group, now), weight, maxWorking, rate: group.rate, order, onDead };
}

/** Deletes the queue. Returns a new one, or the number of leased tasks that prevent it. */
export function drop(queue: QueueState, force: boolean): QueueState | number {
  return force || queue.working.size === 0 ? new QueueState() : queue.working.size;
}
