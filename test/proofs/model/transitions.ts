/** The transitions that several operations make. */
import { follow, join, leave, leaveStopped, stay } from "./lines.ts";
import { UNTIL_THE_END } from "./flows/state.ts";
import type { RejectReason } from "../../../src/index.ts";
import {
  isGrouped,
  noteError,
  RESEND_WINDOW,
  scoreWhenDue,
  report,
  transition,
  type ModelTask,
  type QueueState,
} from "./state.ts";

/** The ids that a call adds to the ends of the line when it is done. */
export interface Ends {
  /** The first of them ends up foremost. */
  readonly front: string[];
  readonly back: string[];
}

export const newEnds = (): Ends => ({ front: [], back: [] });

export function putInLine(queue: QueueState, { front, back }: Ends): void {
  queue.line = [...front, ...queue.line, ...back];
}

/** Puts a ready task into its place. */
export function makeReady(queue: QueueState, task: ModelTask, ends: Ends, place: keyof Ends): void {
  task.state = "pending";
  if (isGrouped(task)) join(queue, task);
  else ends[place].push(task.id);
}

/** Ends a lease; the caller decides what happens to the task. */
export function endLease(queue: QueueState, task: ModelTask): void {
  queue.working.delete(task.id);
  task.token = undefined;
  task.leasedFor = undefined;
}

export function waitAgain(
  queue: QueueState,
  task: ModelTask,
  ends: Ends,
  { now, place, due }: { now: number; place: keyof Ends; due?: number | undefined },
): void {
  transition(task, due === undefined ? "pending" : "delayed", now);
  stay(queue, task);
  task.handedBack = false;
  if (due === undefined) return makeReady(queue, task, ends, place);
  task.state = "delayed";
  queue.delayed.set(task.id, scoreWhenDue(task, due));
}

/**
 * Ends a task. What is kept, and for how long, was fixed at enqueue or is given. A cancelled task keeps
 * nothing.
 */
export function finish(
  queue: QueueState,
  task: ModelTask,
  end: {
    readonly now: number;
    readonly state: "completed" | "rejected";
    readonly reason?: RejectReason | undefined;
    readonly ttl?: number | undefined;
    readonly text?: unknown;
  },
): void {
  const { now, state, reason } = end;
  const stopping = leave(queue, task, state === "rejected" && reason !== "cancelled");
  const own = end.ttl ?? (state === "completed" ? task.resultTtl : task.deadTtl);
  const ttl = stopping ?? (reason === "cancelled" ? 0 : task.node ? UNTIL_THE_END : own);
  task.state = state;
  transition(task, state, now);
  task.reason = reason;
  task.endedAt = now;
  task.flagged = false;
  task.progress = undefined;
  task.text = ttl > 0 ? end.text : undefined;
  if (ttl === 0) task.errors = [];
  task.kept = state === "rejected" && ttl > 0;
  if (task.kept) queue.dead.set(task.id, now);
  queue.expiry.set(task.id, now + Math.max(ttl, RESEND_WINDOW));
  report(queue, reason === "cancelled" ? reason : state, now);
  if (reason !== "cancelled") report(queue, "attempts", now, task.attempt);
  if (task.node) queue.flows?.noteEnd(task, now, end.ttl);
}

/** Whether one more delivery would exceed the task's attempts. */
export const exhausted = (task: ModelTask) => task.maxAttempts > 0 && task.charged >= task.maxAttempts;

/** Ends the time of a record. Its ghosts are left, and while its id is unique a tombstone. */
export function forget(queue: QueueState, task: ModelTask, now: number): void {
  task.node = undefined;
  queue.dead.delete(task.id);
  queue.expiry.delete(task.id);
  const uniqueUntil = task.enqueuedAt + task.uniqueFor;
  if (task.uniqueFor > 0 && uniqueUntil > now) {
    queue.expiry.set(task.id, uniqueUntil);
    task.state = "removed";
    task.kept = false;
    Object.assign(task, { reason: undefined, endedAt: undefined, settled: undefined, text: undefined });
    Object.assign(task, { attempt: 0, charged: 0, lease: 0, expired: 0, history: [], errors: [] });
  } else if (task.ghosts > 0) {
    task.state = "ghost";
    task.kept = false;
    task.reason = undefined;
    task.settled = undefined;
  } else queue.tasks.delete(task.id);
}

/** Deletes an ended task's record; its id stays known while a late copy of a request may come. */
export function erase(queue: QueueState, task: ModelTask, now: number): void {
  const knownUntil = Math.min(task.endedAt ?? 0, now) + RESEND_WINDOW;
  report(queue, "deleted", now);
  if (task.node) {
    // How it has ended is known for as long as its record would be.
    Object.assign(task, { state: "removed", kept: false, history: [], errors: [], text: undefined });
    task.version++;
    queue.dead.delete(task.id);
    return;
  }
  if (task.state === "rejected") leaveStopped(queue, task);
  if (knownUntil <= now) return forget(queue, task, now);
  task.state = "removed";
  task.kept = false;
  task.version++;
  task.history = [];
  task.errors = [];
  task.reason = undefined;
  task.text = undefined;
  queue.dead.delete(task.id);
  queue.expiry.set(task.id, knownUntil);
}

/** Takes tasks back from their holders: to the front in their order, or to the dead letters. */
export function takeBack(
  queue: QueueState,
  ids: readonly string[],
  now: number,
  byOperator?: true,
): { returned: number; ended: number } {
  const ends = newEnds();
  let ended = 0;
  for (const id of ids) {
    const task = queue.task(id);
    endLease(queue, task);
    task.expired++;
    noteError(task, now, null, byOperator);
    report(queue, "reclaimed", now);
    if (byOperator) report(queue, "takenBack", now);
    if (task.flagged || exhausted(task)) {
      ended++;
      const reason = task.flagged ? "cancelled" : byOperator ? "taken_back" : "lease_expired";
      if (reason !== "cancelled") queue.deadLetters.push({ id, reason, attempts: task.attempt });
      finish(queue, task, { now, state: "rejected", reason, text: task.text });
    } else waitAgain(queue, task, ends, { now, place: "front" });
  }
  putInLine(queue, ends);
  follow(queue);
  return { returned: ids.length - ended, ended };
}
