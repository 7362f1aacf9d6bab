import { invalidArgument } from "../../errors.ts";

const UNITS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/**
 * Whole milliseconds as a number, or a text: a number and a unit, such as `"250ms"`, `"30s"`, `"5m"`, `"1.5h"`,
 * `"7d"`. The number has up to three decimals, and the whole is whole milliseconds.
 */
export type Duration = number | `${number}${keyof typeof UNITS}`;

/** The longest duration that is accepted: 10 years, in ms. */
export const MAX_DURATION = 3_650 * UNITS.d;

export interface DurationBounds {
  /** @default 0 */
  readonly min?: number;
  /** @default MAX_DURATION */
  readonly max?: number;
}

/**
 * A duration in whole milliseconds.
 * @param path of the argument, for errors
 * @param bounds in ms
 * @throws {SluiceError} `invalid_argument` for an invalid duration, or one out of bounds
 */
export function milliseconds(duration: Duration, path: string, bounds: DurationBounds = {}): number {
  const { min = 0, max = MAX_DURATION } = bounds;
  const ms = typeof duration === "number" ? duration : parse(duration);
  if (!Number.isInteger(ms) || ms < min || ms > max) {
    throw invalidArgument(path, durationRule(min, max) + refused(duration));
  }
  return ms;
}

/** The rule for a duration, as errors say it. Both bounds are in ms. */
export function durationRule(min: number, max: number): string {
  return `must be a duration of ${min} to ${max} ms: a whole number of milliseconds, or a text such as "250ms", "30s", "5m", "1.5h", "7d"`;
}

/** Shows a refused duration in an error. A longer text is not shown: it may be a secret at the wrong place. */
function refused(given: unknown): string {
  if (typeof given === "number") return `; ${given} is not`;
  return typeof given === "string" && given.length <= 12 ? `; ${JSON.stringify(given)} is not` : "";
}

/**
 * When a budget is used up, on the clock of `performance.now()`.
 * @param budget "20s" by default
 * @throws {SluiceError} `invalid_argument`
 */
export function deadlineOf(budget: Duration = "20s"): number {
  return performance.now() + milliseconds(budget, "budget");
}

function parse(text: unknown): number {
  const match = typeof text === "string" ? /^(\d{1,12})(?:\.(\d{1,3}))?(ms|s|m|h|d)$/.exec(text) : null;
  if (!match) return Number.NaN;
  const [, whole, decimals = "", unit] = match;
  // Thousandths of the unit first: a product with a fraction would not be exact.
  return (Number(`${whole}${decimals.padEnd(3, "0")}`) * UNITS[unit as keyof typeof UNITS]) / 1_000;
}
