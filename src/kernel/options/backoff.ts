import { invalidArgument } from "../../errors.ts";
import { MAX_DURATION, milliseconds, type Duration } from "./duration.ts";
import { onlyOptions } from "./validation.ts";

/**
 * How long to wait after a failed attempt: an exponential with jitter, a list, or a function. Only attempts that
 * count towards `maxAttempts` are numbered: not those that were handed back or requeued uncounted.
 */
export type Backoff =
  | {
      /** Longest wait before the second attempt. @default "10s" */
      readonly base?: Duration | undefined;
      /** Each further attempt multiplies the longest wait by this, 1 to 100. @default 3 */
      readonly factor?: number | undefined;
      /** Longest wait before any attempt. @default "1h" */
      readonly most?: Duration | undefined;
    }
  /** The wait after each failed attempt, without jitter. The last wait applies to all further attempts. */
  | readonly Duration[]
  /** Returns the wait; fractions are rounded to milliseconds. Takes the number of the failed attempt, from 1. */
  | ((attempt: number) => Duration);

/**
 * How long to wait after a failed attempt, ms. An exponential backoff gives a random time between half of its
 * value and the whole, so that tasks that failed together do not return together, and none returns at once.
 * @param attempt number of the failed attempt, from 1
 * @param backoff true is the default exponential: 10 s, factor 3, up to 1 h
 * @param random returns 0 to 1. @default Math.random
 * @param path of the backoff, for errors
 * @throws {SluiceError} `invalid_argument`
 * @example delayAfter(3, { base: "5s", most: "10m" })
 */
export function delayAfter(
  attempt: number,
  backoff: Backoff | true = true,
  random: () => number = Math.random,
  path = "backoff",
): number {
  if (typeof backoff === "function") return chosenDelay(backoff, attempt, path);
  if (Array.isArray(backoff)) {
    const delay: unknown = backoff[Math.min(attempt, backoff.length) - 1];
    if (delay === undefined) {
      throw invalidArgument(path, "must have at least one delay");
    }
    return milliseconds(delay as Duration, path);
  }
  if (backoff !== true && (typeof backoff !== "object" || backoff === null)) {
    throw invalidArgument(
      path,
      'must be true, { base, factor, most }, such as { base: "5s" }, a list or a function',
    );
  }
  const options = (backoff === true ? {} : backoff) as Exclude<
    Backoff,
    readonly Duration[] | ((attempt: number) => Duration)
  >;
  onlyOptions(options, ["base", "factor", "most"], `${path}.`);
  const { base = "10s", factor = 3, most = "1h" } = options;
  if (typeof factor !== "number" || !(factor >= 1 && factor <= 100)) {
    throw invalidArgument(`${path}.factor`, "must be a number from 1 to 100");
  }
  const highest = Math.min(milliseconds(most, `${path}.most`), MAX_DURATION);
  const longest = Math.min(highest, milliseconds(base, `${path}.base`) * factor ** (attempt - 1));
  return Math.round(longest * (0.5 + random() / 2));
}

/**
 * Checks a backoff before an attempt fails: all of it, except what a function will return.
 * @throws {SluiceError} `invalid_argument`
 */
export function checkBackoff(backoff: Backoff | true): void {
  if (typeof backoff === "function") return;
  delayAfter(1, backoff);
  if (!Array.isArray(backoff)) return;
  for (const [i, delay] of backoff.entries()) milliseconds(delay as Duration, `backoff[${i}]`);
}

/**
 * The delay that a function chooses, in whole milliseconds.
 * @throws {SluiceError} `invalid_argument`
 */
export function chosenDelay(backoff: (attempt: number) => Duration, attempt: number, path: string): number {
  const chosen: unknown = backoff(attempt);
  if (chosen instanceof Promise) {
    chosen.catch(() => {});
    throw invalidArgument(path, "must return a duration, not a promise");
  }
  return milliseconds((typeof chosen === "number" ? Math.round(chosen) : chosen) as Duration, path);
}
