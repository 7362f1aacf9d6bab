import { queueEvents, type QueueEvent } from "../tasks/events.ts";
import { readLetters } from "../core/record.ts";

/** How many tasks each event befell. */
export type EventCounts = Readonly<Record<QueueEvent, number>>;

export interface MinuteCounts extends EventCounts {
  /** Epoch ms. */
  readonly startsAt: number;
}

export interface QueueStatistics {
  readonly queue: string;
  /** False where the queue does not keep statistics: all counts are then 0. */
  readonly on: boolean;
  /** The last 60 minutes, oldest first; the last one is not over yet. */
  readonly minutes: readonly MinuteCounts[];
  /** Tasks a minute, the mean of the last five minutes that are over: what to scale by. */
  readonly perMinute: EventCounts;
}

const MINUTE = 60_000;

const KEPT = 60;

/** Over how many minutes rates are taken. */
const RATED = 5;

function countsOf(count: (event: QueueEvent) => number): EventCounts {
  return Object.fromEntries(queueEvents.map((event) => [event, count(event)])) as Record<QueueEvent, number>;
}

/** @param records of minutes, in any order: `1;<minute>;<event>=<count>…` */
export function readStatistics(
  queue: string,
  { now, on, records }: { now: number; on: boolean; records: readonly string[] },
): QueueStatistics {
  const current = Math.floor(now / MINUTE);
  const counted = new Map(records.map((record) => [Number(record.split(";")[1]), readLetters(record)]));
  const minutes = Array.from({ length: KEPT }, (_, i) => {
    const minute = current - KEPT + 1 + i;
    const counts = countsOf((event) => Number(counted.get(minute)?.get(event) ?? 0));
    return { startsAt: minute * MINUTE, ...counts };
  });
  const rated = minutes.slice(-RATED - 1, -1);
  const perMinute = countsOf((event) => rated.reduce((sum, minute) => sum + minute[event], 0) / RATED);
  return { queue, on, minutes, perMinute };
}
