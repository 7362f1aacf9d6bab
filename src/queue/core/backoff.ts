import { invalidArgument } from "../../errors.ts";
import { MAX_DURATION, milliseconds, type Duration } from "./duration.ts";
import { onlyOptions } from "./validation.ts";

/** How long to wait before an attempt: an exponential with full jitter, a list, or a function of one's own. */
export type Backoff =
  | {
      /** The most before the second attempt. @default "1s" */
      readonly base?: Duration | undefined;
      /** What each further attempt multiplies it by, 1 to 100. @default 2 */
      readonly factor?: number | undefined;
      /** The most before any attempt. @default "15m" */
      readonly most?: Duration | undefined;
    }
  /** One for each attempt, the last for all further ones; exact, without jitter. */
  | readonly Duration[]
  | ((attempt: number) => Duration);

/**
 * How long to wait after an attempt that failed, ms. By default anything from 0 to the exponential's value, so that
 * tasks that failed together do not come back together ("full jitter", as AWS's architects measured it).
 * @param attempt which delivery failed, from 1
 * @param backoff true: the default
 * @param random 0 to 1. @default Math.random
 * @param path what errors call the backoff
 * @throws {SluiceError} `invalid_argument`
 */
export function delayAfter(
  attempt: number,
  backoff: Backoff | true = true,
  random: () => number = Math.random,
  path = "backoff",
): number {
  if (typeof backoff === "function") return milliseconds(backoff(attempt), path);
  if (Array.isArray(backoff)) {
    const delay: unknown = backoff[Math.min(attempt, backoff.length) - 1];
    if (delay === undefined) {
      throw invalidArgument(path, "must have at least one delay");
    }
    return milliseconds(delay as Duration, path);
  }
  const options = (backoff === true ? {} : backoff) as Exclude<
    Backoff,
    readonly Duration[] | ((attempt: number) => Duration)
  >;
  onlyOptions(options, ["base", "factor", "most"], `${path}.`);
  const { base = "1s", factor = 2, most = "15m" } = options;
  if (typeof factor !== "number" || !(factor >= 1 && factor <= 100)) {
    throw invalidArgument(`${path}.factor`, "must be a number from 1 to 100");
  }
  const highest = Math.min(milliseconds(most, `${path}.most`), MAX_DURATION);
  return Math.round(
    random() * Math.min(highest, milliseconds(base, `${path}.base`) * factor ** (attempt - 1)),
  );
}

/**
 * Checks a backoff before anything has failed: all of it, but for what a function will say.
 * @throws {SluiceError} `invalid_argument`
 */
export function checkBackoff(backoff: Backoff | true): void {
  if (typeof backoff === "function") return;
  delayAfter(1, backoff);
  if (!Array.isArray(backoff)) return;
  for (const [i, delay] of backoff.entries()) milliseconds(delay as Duration, `backoff[${i}]`);
}
