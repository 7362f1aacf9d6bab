import * as v from "valibot";
import { durationRule, MAX_DURATION } from "../../queue/core/duration.ts";

/** Longest that a request for a task may take, ms: what every platform allows. */
export const longestWatch = 60_000;

/** Longest that a stream of a queue's events may take, ms. */
export const longestEvents = 300_000;

/** Longest that a request may go on with a sweep, a purge or a redrive, ms. */
export const longestBudget = 60_000;

/** Patterns for durations as text, by the least duration in ms. A pattern cannot check the longest. */
const durationTexts = {
  0: /^\d{1,12}(?:ms|s|m|h|d)$/,
  1: /^(?=0*[1-9])\d{1,12}(?:ms|s|m|h|d)$/,
  1_000: /^(?:(?=0*[1-9]\d{3})\d{1,12}ms|(?=0*[1-9])\d{1,12}(?:s|m|h|d))$/,
} as const;

/** Milliseconds, or a text such as `"30s"`. A text that is too long a duration is refused later, by the queue. */
const durationOf = (min: keyof typeof durationTexts, max: number, message = durationRule(min, max)) =>
  v.union(
    [
      v.pipe(v.number(), v.integer(message), v.minValue(min, message), v.maxValue(max, message)),
      v.pipe(v.string(), v.regex(durationTexts[min], message)),
    ],
    message,
  );

/** A delay, or how long something is kept. */
export const duration = durationOf(
  0,
  MAX_DURATION,
  'must be a duration: whole milliseconds, or a text such as "250ms", "30s", "5m", "2h", "7d"',
);

/** A lease, a window or a period. */
export const positiveDuration = durationOf(1, MAX_DURATION);

/** The time between occurrences of a schedule. */
export const interval = durationOf(1_000, MAX_DURATION);

/** How long a request may wait for something. */
export const wait = durationOf(0, longestWatch);

/** How long a stream of a queue's events may last. */
export const eventsWait = durationOf(0, longestEvents);

/** How long a sweep, purge or redrive may go on within one request. */
export const budget = durationOf(1, longestBudget);
