import { type DurationCounts, durationBounds } from "./statistics.ts";

type Classes = Pick<DurationCounts, "classes">;

/** The share that the percentiles of this file leave out. */
const BEYOND = 0.05;

/**
 * Within which time 95 of 100 durations were: the upper bound of the class of the longest of them. Above all bounds it
 * is 1 more than the last bound.
 * @returns ms; null if none was counted
 */
export function p95(durations: Classes): number | null {
  return waitP95(durations, { pending: 0, oldestAge: null });
}

/**
 * Within which time 95 of 100 tasks started, of those that were dequeued for the first time in a period and those that
 * wait now. A task that was dequeued counts with the upper bound of its class, as in {@link p95}. The ages of those
 * that wait are taken as evenly spread, from 0 to that of the next one.
 * @param waits the times that tasks waited for their first dequeue
 * @param waiting counts of the queue: pending tasks, and the age of the next one, ms
 * @returns ms; null if there are none
 */
export function waitP95(
  { classes }: Classes,
  { pending, oldestAge }: { readonly pending: number; readonly oldestAge: number | null },
): number | null {
  const started = classes.reduce((sum, count) => sum + count, 0);
  if (started + pending === 0) return null;
  const beyond = BEYOND * (started + pending);
  const age = oldestAge ?? 0;
  /** From when on few enough have waited longer, if so many of those that were dequeued have. */
  const enoughFrom = (longer: number) => (pending === 0 ? 0 : age * (1 - (beyond - longer) / pending));
  let longer = started;
  let from = 0;
  for (const [place, count] of classes.entries()) {
    const bound = durationBounds[place];
    const found = Math.max(from, enoughFrom(longer));
    if (longer <= beyond && (bound === undefined || found < bound)) return Math.round(found);
    longer -= count;
    from = bound ?? from;
  }
  // They are in the class without a bound.
  return Math.round(Math.max(from + 1, enoughFrom(0)));
}
