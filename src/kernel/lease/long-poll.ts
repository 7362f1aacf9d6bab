import { milliseconds, type Duration } from "../options/duration.ts";

/** Longest that one call may wait, ms. */
const LONGEST_WAIT = 60_000;

/**
 * How many dequeues in a row may be empty although their `nextDueAt` says that tasks are ready. After these,
 * `nextDueAt` is ignored.
 */
export const MAX_EMPTY_DEQUEUES = 10;

/**
 * How long to wait, ms.
 * @param wait 0 by default
 * @throws {SluiceError} `invalid_argument`
 */
export function waitMilliseconds(wait: Duration | undefined): number {
  return milliseconds(wait ?? 0, "wait", { max: LONGEST_WAIT });
}
