/** How far the clocks of a zone are ahead of UTC at an instant (epoch ms), in ms. */
export type Clock = (instant: number) => number;

/** Longer than what clocks differ from UTC, and than a change of them. Clocks change at most once in two. */
export const DAY = 86_400_000;

/** Making a format takes as long as some 70 uses of it. */
const formats = new Map<string, Intl.DateTimeFormat>();
const MOST_FORMATS = 100;

const SHOWN = {
  hourCycle: "h23",
  year: "numeric",
  month: "numeric",
  day: "numeric",
  hour: "numeric",
  minute: "numeric",
  second: "numeric",
} as const;

/**
 * The clock of a zone.
 * @param timeZone IANA name
 * @throws {RangeError} if this runtime does not know the zone
 */
export function clockOf(timeZone: string): Clock {
  if (timeZone === "UTC") return () => 0;
  const format = formats.get(timeZone) ?? new Intl.DateTimeFormat("en", { timeZone, ...SHOWN });
  if (formats.size >= MOST_FORMATS) formats.clear();
  formats.set(timeZone, format);
  return (instant) => {
    const shown = Array.from(format.format(instant).matchAll(/\d+/g), Number);
    const [month, day, year, ...time] = shown as [number, number, number, ...number[]];
    return Date.UTC(year, month - 1, day, ...time) - Math.floor(instant / 1_000) * 1_000;
  };
}

/**
 * The instant that is nearest to `from`, in steps of a second, at which the clock has another offset.
 * @param to an instant before or after it at which the clock has
 */
export function changeBetween(clock: Clock, from: number, to: number): number {
  const offset = clock(from);
  let [same, other] = [from, to];
  while (Math.abs(other - same) > 1_000) {
    const middle = same + Math.trunc((other - same) / 2_000) * 1_000;
    if (clock(middle) === offset) same = middle;
    else other = middle;
  }
  return other;
}

/**
 * The first instant at which a clock shows a time or a later one. So a time that comes twice is the first of them,
 * and one that is skipped is the first instant after the gap.
 * @param wall the time, as epoch ms of the same time in UTC
 */
export function instantOf(clock: Clock, wall: number): number {
  const [before, after] = [clock(wall - DAY), clock(wall + DAY)];
  const first = wall - Math.max(before, after);
  if (before === after || first + clock(first) === wall) return first;
  const second = wall - Math.min(before, after);
  return second + clock(second) === wall ? second : changeBetween(clock, first, second);
}
