import type { CronExpression } from "./expression.ts";

/** Forwards or backwards in time. */
export type Direction = 1 | -1;

/** The calendar repeats after this many years: an expression that has no time within them has none at all. */
const CYCLE = 400;

/**
 * The time of an expression that is nearest to another one. Times are epoch ms of the same time in UTC.
 * @param wall a whole second
 * @param direction 1: at or after `wall`; -1: at or before it
 */
export function nearestTime(
  { months, daysOf, hours, minutes, seconds }: CronExpression,
  wall: number,
  direction: Direction,
): number | undefined {
  const from = new Date(wall);
  /** Below the year. */
  const levels = [
    { values: () => months, bound: from.getUTCMonth() + 1 },
    { values: daysOf, bound: from.getUTCDate() },
    { values: () => hours, bound: from.getUTCHours() },
    { values: () => minutes, bound: from.getUTCMinutes() },
    { values: () => seconds, bound: from.getUTCSeconds() },
  ];

  /**
   * Goes down the levels. If one has no more values, the level above it goes on to its next value.
   * @param above the year, and the values of the levels above
   * @param isAtBound whether these are the same as in `wall`: the next value must then not be before that in `wall`
   */
  const search = (above: readonly number[], isAtBound: boolean): readonly number[] | undefined => {
    const level = levels[above.length - 1];
    if (!level) return above;
    const [year = 0, month = 0] = above;
    const values = level.values(year, month);
    for (const value of direction > 0 ? values : values.toReversed()) {
      const ahead = (value - level.bound) * direction;
      if (isAtBound && ahead < 0) continue;
      const found = search([...above, value], isAtBound && ahead === 0);
      if (found) return found;
    }
    return undefined;
  };

  for (let years = 0; years <= CYCLE; years++) {
    const found = search([from.getUTCFullYear() + years * direction], years === 0);
    if (!found) continue;
    const [year = 0, month = 1, ...rest] = found;
    return Date.UTC(year, month - 1, ...rest);
  }
  return undefined;
}
