import { changeBetween, clockOf, DAY, instantOf } from "./clock.ts";
import type { CronExpression } from "./expression.ts";
import { type Direction, nearestTime } from "./search.ts";

/**
 * A function that finds the occurrence of an expression that is nearest to an instant: at or after it (direction 1),
 * or at or before it (-1). Instants are epoch ms, and whole seconds.
 * @param timeZone IANA name
 * @throws {RangeError} if this runtime does not know the zone
 */
export function occurrencesOf(
  expression: CronExpression,
  timeZone: string,
): (instant: number, direction: Direction) => number | undefined {
  const clock = clockOf(timeZone);
  return expression.isFixedTime ? atFixedTime : wheneverShown;

  /** Occurs once for each time: if it is skipped, right after the gap; if it is repeated, the first time. */
  function atFixedTime(instant: number, direction: Direction): number | undefined {
    const offsets = [clock(instant - DAY), clock(instant)];
    // A clock that was put back on this day has shown later times than now, and one that was put forward has skipped
    // earlier ones.
    let wall: number | undefined = instant + Math[direction > 0 ? "min" : "max"](...offsets);
    for (;;) {
      wall = nearestTime(expression, wall, direction);
      if (wall === undefined) return undefined;
      const found = instantOf(clock, wall);
      if ((found - instant) * direction >= 0) return found;
      wall += direction * 1_000;
    }
  }

  /** Occurs each time that the clock shows it. */
  function wheneverShown(instant: number, direction: Direction): number | undefined {
    let from = instant;
    for (;;) {
      const offset = clock(from);
      const wall = nearestTime(expression, from + offset, direction);
      if (wall === undefined) return undefined;
      const found = wall - offset;
      const distance = Math.abs(found - from);
      const near = from + direction * Math.min(distance, DAY);
      if (clock(near) !== offset) from = changeBetween(clock, from, near);
      else if (near === found) return found;
      // What the clock shows until a day before differs by less than a day, and so is before this time, too.
      else from += direction * Math.max(DAY, distance - DAY);
    }
  }
}
