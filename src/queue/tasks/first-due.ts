/** When the first of the tasks that a call has delayed is due: the waker arranges a wake for that instant. */
import type { Settled } from "../core/types.ts";
import type { EnqueueItem } from "./encode-tasks.ts";

/**
 * When the first task that an enqueue has created and delayed is due, epoch ms; undefined if none is delayed.
 * @param added the outcome of each item
 * @param now the time of the scripts, epoch ms. Read after the call, so that no instant is too early
 */
export function firstEnqueued(
  items: readonly EnqueueItem[],
  added: readonly object[],
  now: number,
): number | undefined {
  const due = items.flatMap(({ when }, i) => {
    const { created } = added[i] as { readonly created?: boolean };
    if (when === "" || !created) return [];
    return when.startsWith("+") ? now + Number(when) : Number(when);
  });
  return earliest(due.filter((at) => at > now));
}

/** When the first task that a settle has delayed is due, epoch ms; undefined if none is delayed. */
export function firstRequeued(settled: readonly Settled[]): number | undefined {
  return earliest(settled.flatMap((result) => (result.ok ? (result.dueAt ?? []) : [])));
}

function earliest(instants: readonly number[]): number | undefined {
  return instants.length > 0 ? Math.min(...instants) : undefined;
}
