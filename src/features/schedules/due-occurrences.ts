import { calendarOf, type Calendar } from "./calendar.ts";
import { NEVER, orUnsupported, readPlan, type Plan } from "./schedule-record.ts";

/** A schedule that is due. */
export interface DueSchedule {
  readonly name: string;
  /** The first occurrence that was not enqueued, epoch ms. */
  readonly at: number;
  readonly record: string;
  /** The occurrences to enqueue, epoch ms. */
  readonly times: readonly number[];
  /** The occurrence after them, epoch ms. */
  readonly following: number;
}

/**
 * The occurrences of a schedule that are due, and the one after them.
 * @param at the first occurrence that was not enqueued, epoch ms
 * @param now Redis's time, epoch ms
 * @param most how many occurrences to return
 * @throws {SluiceError} `unsupported`, `newer_schema`, or `unexpected_reply` for an invalid record
 */
export function dueOccurrences(
  record: string,
  at: number,
  now: number,
  most: number,
): Pick<DueSchedule, "times" | "following"> {
  const { rhythm, until, missed } = readPlan(record);
  return orUnsupported(() => occurrences(calendarOf(rhythm, until), missed, at, now, most));
}

function occurrences(calendar: Calendar, missed: Plan["missed"], at: number, now: number, most: number) {
  if (missed === "last") {
    const last = Math.max(at, calendar.lastUntil(now) ?? at);
    return { times: [last], following: calendar.firstFrom(now + 1) ?? NEVER };
  }
  const times = [at];
  let next = calendar.firstFrom(at + 1);
  for (; next !== undefined && next <= now && times.length < most; next = calendar.firstFrom(next + 1)) {
    times.push(next);
  }
  return { times, following: next ?? NEVER };
}
