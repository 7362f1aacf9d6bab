import * as v from "valibot";
import { LONGEST_STUCK } from "../../operate/health/bounds.ts";
import { durationRule, MAX_DURATION, type Duration } from "../../kernel/options/duration.ts";

/** The longest time that a pull, or a request for one task, may wait, ms. Every platform allows it. */
export const longestWait = 60_000;

/** The longest time that a stream of a queue's events may last, ms. */
export const longestEvents = 300_000;

/** The longest budget of a sweep, purge or redrive over HTTP, ms. */
export const longestBudget = 60_000;

/**
 * Patterns of durations as text, by the shortest duration that they allow, ms. The queue checks the longest, and
 * what decimals make too short or not whole.
 */
const durationTexts = {
  0: /^\d{1,12}(?:\.\d{1,3})?(?:ms|s|m|h|d)$/,
  1: /^(?=[0.]*[1-9])\d{1,12}(?:\.\d{1,3})?(?:ms|s|m|h|d)$/,
  1_000: /^(?:(?=0*[1-9]\d{3})\d{1,12}ms|(?=[0.]*[1-9])\d{1,12}(?:\.\d{1,3})?(?:s|m|h|d))$/,
} as const;

/** Milliseconds, or a text such as `"30s"`. The queue refuses a text for a longer duration than `max`. */
function durationOf(min: keyof typeof durationTexts, max: number, message = durationRule(min, max)) {
  const schema = v.union(
    [
      v.pipe(v.number(), v.integer(message), v.minValue(min, message), v.maxValue(max, message)),
      v.pipe(v.string(), v.regex(durationTexts[min], message)),
    ],
    message,
  );
  return schema as v.GenericSchema<Duration>;
}

/** A delay or a retention time. */
export const duration = durationOf(
  0,
  MAX_DURATION,
  'must be a duration: whole milliseconds, or a text such as "250ms", "30s", "5m", "1.5h", "7d"',
);

/** A duration that is not in milliseconds. */
export const durationAsText = v.pipe(v.string(), v.regex(durationTexts[0])) as v.GenericSchema<
  Duration & string
>;

/** A lease, a window or a period. */
export const positiveDuration = durationOf(1, MAX_DURATION);

/** The interval of a schedule. */
export const interval = durationOf(1_000, MAX_DURATION);

/** How long a request waits. */
export const wait = durationOf(0, longestWait);

/** How long a stream of a queue's events lasts. */
export const eventsWait = durationOf(0, longestEvents);

/** The budget of a sweep, purge or redrive. */
export const budget = durationOf(1, longestBudget);

/** How long a queue may be stuck. */
export const stuck = durationOf(1_000, LONGEST_STUCK);

/** A duration in a query. */
export const durationText = (duration: v.GenericSchema<Duration>) =>
  v.pipe(
    v.string(),
    v.transform((text) => (/^\d{1,16}$/.test(text) ? Number(text) : text)),
    duration,
  );
