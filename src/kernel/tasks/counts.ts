/** How many tasks a queue has in each state. */
export interface QueueCounts {
  readonly queue: string;
  readonly pending: number;
  readonly delayed: number;
  /** Tasks of flows that wait for others. A queue whose transport is not `linked` does not know of them. */
  readonly blocked: number;
  readonly working: number;
  /** Dead letters. */
  readonly rejected: number;
  /**
   * How long ago the next task was enqueued, ms; null if none is pending.
   *
   * Tasks without a group or priority wait in one line, all other tasks in a second one. The age is that of
   * the older of the two first tasks. Tasks that wait for their group's limit count only if no other task
   * waits, because no consumer could take them. Unreadable tasks are skipped; the age is 0 if no other task
   * is pending.
   */
  readonly oldestAge: number | null;
  /** When the next delayed task is due or the next lease expires, epoch ms; null if there is neither. */
  readonly nextDueAt: number | null;
  /** Entries without a usable record that dequeue has set aside; 0 in a valid queue. */
  readonly broken: number;
  /** Workers registered with this queue that are not gone, or still have tasks. */
  readonly workers: number;
  /** True while the queue is paused, so that dequeue returns no task. */
  readonly paused: boolean;
  /** Groups with a strict order that a dead letter has stopped. */
  readonly stoppedGroups: number;
  /** When the pause ends, epoch ms; null if the queue is not paused, or until it is resumed. */
  readonly pausedUntil: number | null;
}

/** What a sweep did. */
export interface SweepCounts {
  /** Delayed tasks that became pending. */
  readonly promoted: number;
  /** Expired leases whose task became pending again. */
  readonly reclaimed: number;
  /** Expired leases whose task had no attempt left. */
  readonly rejected: number;
  /** Expired records that were removed. */
  readonly expired: number;
  /** True if the limit or the budget ended the sweep with work left. */
  readonly more: boolean;
}

/** The counts of a queue, from those of its shards. A worker may be registered with several of them. */
export function sumOfCounts(counts: readonly Omit<QueueCounts, "queue">[]): Omit<QueueCounts, "queue"> {
  const [only] = counts;
  if (only && counts.length === 1) return only;
  const known = (name: Exclude<keyof QueueCounts, "queue" | "paused">) =>
    counts.flatMap((part) => part[name] ?? []);
  const sum = (name: Parameters<typeof known>[0]) => known(name).reduce((total, count) => total + count, 0);
  const best = (of: typeof Math.max, name: "oldestAge" | "nextDueAt") =>
    known(name).length > 0 ? of(...known(name)) : null;
  return {
    pending: sum("pending"),
    delayed: sum("delayed"),
    working: sum("working"),
    rejected: sum("rejected"),
    blocked: sum("blocked"),
    oldestAge: best(Math.max, "oldestAge"),
    nextDueAt: best(Math.min, "nextDueAt"),
    broken: sum("broken"),
    workers: Math.max(...known("workers")),
    paused: counts.some(({ paused }) => paused),
    stoppedGroups: sum("stoppedGroups"),
    // The shards are paused by one call, within the same moment.
    pausedUntil: counts.find(({ paused }) => paused)?.pausedUntil ?? null,
  };
}
