import type { QueueCounts } from "../kernel/tasks/counts.ts";
import type { CallCounts } from "./statistics.ts";

/**
 * How many Redis commands a call costs, as Upstash bills them, in a queue with statistics and no other feature.
 * `other` is the cost of cancelling a task.
 */
export const commandsPerCall: Readonly<Record<keyof CallCounts, number>> = {
  enqueue: 5,
  dequeue: 6,
  settle: 6,
  other: 6,
};

/**
 * Estimates how many Redis commands calls cost, as Upstash bills them: each call at the cost of a plain one. It
 * does not have what features add, nor calls that found nothing. A settle that also dequeues counts as one of each,
 * and costs 2 less.
 * @param calls such as `totals.calls` of the statistics
 */
export function estimatedCommands(calls: CallCounts): number {
  const kinds = Object.keys(commandsPerCall) as (keyof CallCounts)[];
  return kinds.reduce((sum, kind) => sum + calls[kind] * commandsPerCall[kind], 0);
}

/**
 * Estimates how many Redis commands the counts of a queue, or of one of its partitions, cost. It does not have
 * what cancelled tasks at the front of the queue add, nor the 1 that tasks with and without a group cost
 * together.
 */
export function countCommands(
  counts: Pick<QueueCounts, "pending" | "delayed" | "working" | "rejected"> & Partial<QueueCounts>,
): number {
  const { pending, delayed, working, rejected, workers = 0 } = counts;
  if (pending + delayed + working + rejected + workers === 0) return 4;
  return 10 + Math.sign(pending) + Math.sign(delayed) + Math.sign(working);
}
