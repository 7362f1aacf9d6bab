import { counted } from "../../counted.ts";
import { calendarOf } from "./calendar.ts";
import { readPlan, type Plan } from "./schedule-record.ts";

/** Most occurrences of a pause that are counted. */
const MOST_SKIPPED = 100;

/** The occurrences that a pause has skipped. */
export interface Skipped {
  /** At most 100. */
  readonly count: number;
  /** The last one, epoch ms; 0 for none. */
  readonly lastAt: number;
}

/**
 * Counts the occurrences that the pause of a schedule has skipped.
 * @param now Redis's time, epoch ms
 * @throws if this runtime cannot compute them
 */
export function skippedOccurrences({ rhythm, until, lastAt = -1, pausedAt }: Plan, now: number): Skipped {
  const { firstFrom, lastUntil } = calendarOf(rhythm, until);
  let count = 0;
  let next = firstFrom(Math.max(pausedAt ?? now, lastAt + 1));
  for (; next !== undefined && next < now && count < MOST_SKIPPED; next = firstFrom(next + 1)) count++;
  return { count, lastAt: count > 0 ? (lastUntil(now - 1) ?? 0) : 0 };
}

/** The same of a record; none of one that this release or runtime cannot read. */
export function skippedOf(record: string, now: number): Skipped {
  try {
    return skippedOccurrences(readPlan(record), now);
  } catch {
    return { count: 0, lastAt: 0 };
  }
}

/** How many occurrences, in words. */
export const occurrencesCounted = (count: number): string =>
  count < MOST_SKIPPED ? counted(count, "occurrence") : `${MOST_SKIPPED} occurrences or more`;
