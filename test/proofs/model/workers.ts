/** The workers and their tasks. A worker is `<name> <incarnation>`: a restarted process is another one. */
import type { Heartbeat } from "../../../src/index.ts";
import { takeBack } from "./transitions.ts";
import { dueBy, type QueueState } from "./state.ts";

export const FORGOTTEN_AFTER = 3_600_000;
const LOOK_AGAIN_AFTER = 60_000;
const LOST_FOR = 86_400_000;

/** How many silent workers one check handles. */
const WORKERS = 10;

export interface SignOfLife {
  /** `<name> <incarnation>` */
  readonly worker: string;
  readonly silentAfter?: number | undefined;
  readonly goneAfter?: number | undefined;
}

export function noteWorker(
  queue: QueueState,
  { worker, silentAfter, goneAfter }: SignOfLife,
  now: number,
): void {
  const silentAt = now + (silentAfter ?? goneAfter ?? FORGOTTEN_AFTER);
  queue.workers.set(worker, { seenAt: now, silentAt, silentAfter, goneAfter });
  queue.alarm = Math.min(queue.alarm ?? silentAt, silentAt);
}

/** The ids leased by a worker, or by all incarnations of a name, the first lease first. */
export function leasedBy(queue: QueueState, worker: string): string[] {
  const all = [...queue.working.keys()].map((id) => queue.task(id));
  const of = all.filter(({ worker: holder }) => holder !== undefined && isOf(holder, worker));
  return of.toSorted((a, b) => a.lease - b.lease).map(({ id }) => id);
}

/** Whether it is that worker, or an incarnation of that name. */
const isOf = (worker: string, named: string) =>
  named.includes(" ") ? worker === named : worker.split(" ")[0] === named;

/** A lease as its receipt proves it. */
export interface LeaseProof {
  readonly id: string;
  readonly lease: number;
  readonly token: string;
}

export function heartbeat(
  queue: QueueState,
  now: number,
  call: SignOfLife & {
    readonly lease?: number | undefined;
    readonly reported?: readonly LeaseProof[] | undefined;
  },
): Heartbeat {
  const registered = queue.workers.get(call.worker);
  if (queue.lost.has(call.worker) && registered?.seenAt === undefined)
    return { ok: false, code: "worker_lost" };
  // A lease of another worker is left alone, and is lost to this one. A lease without a worker belongs to its
  // receipt.
  const isCurrent = ({ id, lease, token }: LeaseProof) => {
    const task = queue.tasks.get(id);
    if (task?.state !== "working" || task.lease !== lease || task.token !== token) return false;
    return task.worker === undefined || task.worker === call.worker;
  };
  const ids = call.reported
    ? call.reported.filter(isCurrent).map(({ id }) => id)
    : leasedBy(queue, call.worker);
  const held = ids.map((id) => queue.task(id));
  const deadlines = held.map((task) => {
    const deadline = now + (call.lease ?? task.leasedFor ?? 0);
    queue.working.set(task.id, Math.max(deadline, queue.working.get(task.id) as number));
    return deadline;
  });
  noteWorker(queue, call, now);
  return {
    ok: true,
    leases: held.length,
    deadlineAt: held.length > 0 ? Math.min(...deadlines) : null,
    cancelRequested: held.filter(({ flagged }) => flagged).map(({ id }) => id),
    ...(call.reported && { lost: call.reported.filter((lease) => !isCurrent(lease)).map(({ id }) => id) }),
  };
}

/** Takes back a worker's tasks. Of several incarnations the last by name come first, up to the limit. */
function takeFrom(queue: QueueState, worker: string, now: number, limit: number, byOperator?: true) {
  const members = leasedBy(queue, worker).map((id) => queue.task(id));
  const holder = (id: string) => queue.task(id).worker as string;
  const byName = members.toSorted((a, b) =>
    holder(a.id) < holder(b.id) ? 1 : holder(a.id) > holder(b.id) ? -1 : b.lease - a.lease,
  );
  const taken = byName.slice(0, limit).toSorted((a, b) => a.lease - b.lease);
  for (const task of taken) {
    queue.lost.set(task.worker as string, now);
    queue.expiry.set(`~f:${task.worker}`, now + LOST_FOR);
  }
  const owners = [...new Set(taken.map(({ worker: owner }) => owner as string))].toSorted();
  queue.lastLost = [...new Set([...owners, ...queue.lastLost])].slice(0, 10);
  const { returned, ended } = takeBack(
    queue,
    taken.map(({ id }) => id),
    now,
    byOperator,
  );
  return { returned, ended, more: members.length > taken.length };
}

/** Declares a worker dead. */
export function failWorker(
  queue: QueueState,
  now: number,
  worker: string,
  limit: number,
): { returned: number; rejected: number; more: boolean } {
  const { returned, ended, more } = takeFrom(queue, worker, now, limit, true);
  for (const name of [...queue.workers.keys()].filter((name) => isOf(name, worker))) {
    takeOff(queue, name, more);
  }
  return { returned, rejected: ended, more };
}

/** Takes a worker without tasks off the list. */
export function forgetWorker(
  queue: QueueState,
  worker: string,
): { ok: true } | { ok: false; code: "still_working"; working: number } {
  const working = leasedBy(queue, worker).length;
  if (working > 0) return { ok: false, code: "still_working", working };
  queue.workers.delete(worker);
  forgetFailure(queue, worker);
  return { ok: true };
}

function forgetFailure(queue: QueueState, worker: string): void {
  queue.lost.delete(worker);
  queue.expiry.delete(`~f:${worker}`);
}

function takeOff(queue: QueueState, name: string, beingFailed: boolean): void {
  const known = queue.workers.get(name);
  if (beingFailed && known) known.seenAt = undefined;
  else queue.workers.delete(name);
}

/**
 * Fails silent workers, and removes those that only wanted to be listed and have no tasks. Then checks again
 * when the next one is silent.
 */
export function failSilent(queue: QueueState, now: number): { returned: number; ended: number } {
  const silentAt = new Map(Array.from(queue.workers, ([name, worker]) => [name, worker.silentAt]));
  const counts = { returned: 0, ended: 0 };
  for (const name of dueBy(silentAt, now).slice(0, WORKERS)) {
    const worker = queue.workers.get(name);
    const isRegistered = worker?.seenAt !== undefined;
    const listed = isRegistered && worker.silentAfter === undefined;
    const { returned, ended } = listed ? { returned: 0, ended: 0 } : takeFrom(queue, name, now, 1_000);
    // It had come back.
    if (isRegistered && returned + ended === 0) forgetFailure(queue, name);
    counts.returned += returned;
    counts.ended += ended;
    if (listed && leasedBy(queue, name).length > 0) worker.silentAt = now + LOOK_AGAIN_AFTER;
    else queue.workers.delete(name);
  }
  const next = Math.min(...Array.from(queue.workers.values(), ({ silentAt }) => silentAt));
  queue.alarm = Number.isFinite(next) ? next : undefined;
  return counts;
}

/** Removes the workers that were being failed and have no tasks any more, if they are met. */
export function leaveFailed(queue: QueueState, isMet: (name: string) => boolean = () => true): void {
  for (const [name, { seenAt }] of queue.workers) {
    if (seenAt === undefined && isMet(name) && leasedBy(queue, name).length === 0) queue.workers.delete(name);
  }
}
