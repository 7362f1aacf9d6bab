const WEEK = 7 * 24 * 3_600_000;

/** What the clocks of a zone show at an instant, as epoch ms of the same time in UTC. */
export type Clock = (instant: number) => number;

export function clockOf(timeZone: string): Clock {
  const format = new Intl.DateTimeFormat("sv", { dateStyle: "short", timeStyle: "medium", timeZone });
  return (instant) => Date.parse(`${format.format(instant).replace(" ", "T")}Z`);
}

/** A change of a clock: the last second before, and the first after. */
export interface Change {
  readonly before: number;
  readonly after: number;
}

/** The changes of a clock between two instants, which are at least a week apart. */
export function changesOf(clock: Clock, from: number, until: number): Change[] {
  const offset = (instant: number) => clock(instant) - instant;
  const changes = [];
  for (let start = from; start < until; start += WEEK) {
    let [before, after] = [start, start + WEEK];
    if (offset(before) === offset(after)) continue;
    while (after - before > 1_000) {
      const middle = before + Math.floor((after - before) / 2_000) * 1_000;
      if (offset(middle) === offset(start)) before = middle;
      else after = middle;
    }
    changes.push({ before, after });
  }
  return changes;
}
