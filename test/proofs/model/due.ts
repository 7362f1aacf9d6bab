/** What falls due with time. */
import { follow } from "./lines.ts";
import { makeReady, newEnds, putInLine, takeBack } from "./transitions.ts";
import { dueBy, type QueueState } from "./state.ts";
import { failSilent } from "./workers.ts";

/** When the first of them is due, timers included. */
const first = (zset: ReadonlyMap<string, number>, more: readonly number[] = []) =>
  Math.floor(Math.min(...zset.values(), ...more));

const timers = ({ alarm }: QueueState) => (alarm === undefined ? [] : [alarm]);

/** Whether a lease has expired, and whether a delayed task or a timer is due. */
export function dueTasks(queue: QueueState, now: number): { expired: boolean; due: boolean } {
  return { expired: first(queue.working) <= now, due: first(queue.delayed, timers(queue)) <= now };
}

/** When the next task may be ready. The check for silent workers counts only if tasks are leased. */
export function nextDue(queue: QueueState): number | undefined {
  const lookFor = queue.working.size > 0 ? timers(queue) : [];
  const next = Math.min(first(queue.working), first(queue.delayed, lookFor));
  return Number.isFinite(next) ? next : undefined;
}

/** Expired leases: back to the front, or to the dead letters. */
export function reclaim(queue: QueueState, now: number, limit: number): { returned: number; ended: number } {
  return takeBack(queue, dueBy(queue.working, now).slice(0, limit), now);
}

/** Due tasks: to the back, in the order in which they fell due. */
export function promote(
  queue: QueueState,
  now: number,
  limit: number,
): { promoted: number; returned: number; ended: number } {
  const due = dueBy(queue.delayed, now).slice(0, limit);
  const ends = newEnds();
  for (const id of due) {
    queue.delayed.delete(id);
    makeReady(queue, queue.task(id), ends, "back");
  }
  putInLine(queue, ends);
  follow(queue);
  const rings = queue.alarm !== undefined && queue.alarm <= now;
  return { promoted: due.length, ...(rings ? failSilent(queue, now) : { returned: 0, ended: 0 }) };
}
