import { queueEvents, type QueueEvent } from "../tasks/events.ts";
import { readFields } from "../core/settings-record.ts";

/** How many tasks had each event. */
export type EventCounts = Readonly<Record<QueueEvent, number>>;

export interface MinuteCounts extends EventCounts {
  /** The start of the minute, epoch ms. */
  readonly startsAt: number;
}

export interface QueueStatistics {
  readonly queue: string;
  /** Whether the queue keeps statistics. If not, all counts are 0. */
  readonly on: boolean;
  /** The last 60 minutes, oldest first. The last one is not over yet. */
  readonly minutes: readonly MinuteCounts[];
  /** Tasks a minute, the mean of the last five full minutes: the rates by which to scale consumers. */
  readonly perMinute: EventCounts;
}

const MINUTE = 60_000;

/** Minutes that the queue keeps. */
const KEPT_MINUTES = 60;

/** Minutes over which rates are averaged. */
const RATE_MINUTES = 5;

function countsOf(count: (event: QueueEvent) => number): EventCounts {
  return Object.fromEntries(queueEvents.map((event) => [event, count(event)])) as Record<QueueEvent, number>;
}

/**
 * Statistics from the records of minutes.
 * @param records in any order: `1;<minute>;<event>=<count>…`
 */
export function readStatistics(
  queue: string,
  { now, on, records }: { now: number; on: boolean; records: readonly string[] },
): QueueStatistics {
  const current = Math.floor(now / MINUTE);
  const counted = new Map(records.map((record) => [Number(record.split(";")[1]), readFields(record)]));
  const minutes = Array.from({ length: KEPT_MINUTES }, (_, i) => {
    const minute = current - KEPT_MINUTES + 1 + i;
    const counts = countsOf((event) => Number(counted.get(minute)?.get(event) ?? 0));
    return { startsAt: minute * MINUTE, ...counts };
  });
  const rated = minutes.slice(-RATE_MINUTES - 1, -1);
  const perMinute = countsOf((event) => rated.reduce((sum, minute) => sum + minute[event], 0) / RATE_MINUTES);
  return { queue, on, minutes, perMinute };
}
