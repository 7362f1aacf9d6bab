const DAY = 86_400_000;

/**
 * A function from a time on the clocks of a zone, given as epoch ms of the same time in UTC, to its instant: the
 * first at which the clocks show this time or a later one. So a time that comes twice is the first of them, and
 * one that is skipped is the first instant after the gap.
 * @param timeZone IANA name
 */
export function wallClock(timeZone: string): (wall: number) => number {
  const format = new Intl.DateTimeFormat("en", {
    timeZone,
    hourCycle: "h23",
    year: "numeric",
    month: "numeric",
    day: "numeric",
    hour: "numeric",
    minute: "numeric",
    second: "numeric",
  });
  /** What the clocks show at an instant. */
  const shown = (instant: number) => {
    const [month = 1, day, year = 0, ...time] = (format.format(instant).match(/\d+/g) ?? []).map(Number);
    return Date.UTC(year, month - 1, day, ...time);
  };
  return (wall) => {
    const offsets = [wall - DAY, wall + DAY].map((near) => shown(near) - near);
    let before = wall - Math.max(...offsets);
    let after = wall - Math.min(...offsets);
    for (const instant of [before, after]) if (shown(instant) === wall) return instant;
    // In a gap. Clocks are changed at whole seconds.
    while (after - before > 1_000) {
      const middle = before + Math.floor((after - before) / 2_000) * 1_000;
      if (shown(middle) < wall) before = middle;
      else after = middle;
    }
    return after;
  };
}
