import { promote, reclaim } from "./due.ts";
import { forget } from "./transitions.ts";
import { dueBy, type QueueState } from "./state.ts";
import { wakesOnSweep } from "./wake.ts";

export interface ModelSweep {
  readonly promoted: number;
  readonly reclaimed: number;
  readonly rejected: number;
  readonly expired: number;
  /** Whether a limit was reached. */
  readonly more: boolean;
  readonly wake: boolean;
}

/** Drops records whose time is over, reclaims, promotes: at most `limit` of each. */
export function sweep(queue: QueueState, now: number, limit: number, wake?: number): ModelSweep {
  const expired = expire(queue, now, limit);
  const reclaimed = reclaim(queue, now, limit);
  const promoted = promote(queue, now, limit);
  const more =
    (expired > 0 && expired === limit) ||
    reclaimed.returned + reclaimed.ended === limit ||
    promoted.promoted === limit;
  return {
    promoted: promoted.promoted,
    reclaimed: reclaimed.returned + promoted.returned,
    rejected: reclaimed.ended + promoted.ended,
    expired,
    more,
    wake: wakesOnSweep(queue, now, wake),
  };
}

function expire(queue: QueueState, now: number, limit: number): number {
  const over = dueBy(queue.expiry, now).slice(0, limit);
  for (const member of over) {
    queue.expiry.delete(member);
    if (member.startsWith("~d:")) queue.dedup.delete(member.slice(3));
    else if (member.startsWith("~f:")) queue.lost.delete(member.slice(3));
    else if (queue.keys.has(member)) queue.keys.delete(member);
    else forget(queue, queue.task(member), now);
  }
  return over.length;
}

/** Sweeps until no limit is reached, as the library does. */
export function sweepAll(queue: QueueState, now: number, limit: number, wake?: number): ModelSweep {
  let total = sweep(queue, now, limit, wake);
  let more = total.more;
  while (more) {
    const next = sweep(queue, now, limit, wake);
    more = next.more;
    total = {
      promoted: total.promoted + next.promoted,
      reclaimed: total.reclaimed + next.reclaimed,
      rejected: total.rejected + next.rejected,
      expired: total.expired + next.expired,
      more,
      wake: total.wake || next.wake,
    };
  }
  return total;
}
