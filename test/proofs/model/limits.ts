/**
 * What limits allow. A rate is counted by tenths of its period; a tenth counts until it has wholly passed.
 * One that lies over a period ahead, because the clock was set back, counts as the current one: so a rate
 * loses one period at most.
 */
import type { QueueState, Rate, Used } from "./state.ts";

/** A tenth of a rate's period, ms. */
export const tenthOf = ({ per }: Rate) => Math.ceil(per / 10);

function counted(rate: Rate, used: Used, now: number): [tenth: number, count: number][] {
  const oldest = Math.floor((now - rate.per) / tenthOf(rate));
  return [...redated(rate, used, now)].filter(([tenth, count]) => tenth >= oldest && count > 0);
}

/** The same counts in order, none of them over a period ahead of now. */
export function redated(rate: Rate, used: Used, now: number): Used {
  const current = Math.floor(now / tenthOf(rate));
  const counts: Used = new Map();
  for (const [tenth, count] of used) {
    const place = tenth > current + 10 ? current : tenth;
    counts.set(place, (counts.get(place) ?? 0) + count);
  }
  return new Map([...counts].toSorted(([one], [other]) => one - other));
}

/** How many more may follow now. */
export function left(rate: Rate, used: Used, now: number): number {
  return counted(rate, used, now).reduce((most, [, count]) => most - count, rate.most);
}

/** When one more may follow; undefined if it may now. */
export function opens(rate: Rate, used: Used, now: number): number | undefined {
  let free = left(rate, used, now);
  let when: number | undefined;
  for (const [i, [tenth, count]] of counted(rate, used, now).entries()) {
    if (i === 0 || free < 1) {
      when = (tenth + 1) * tenthOf(rate) + rate.per;
      free += count;
    }
  }
  return when;
}

export function spend(rate: Rate, used: Used, now: number, count: number): Used {
  const current = Math.floor(now / tenthOf(rate));
  const kept: Used = new Map(counted(rate, used, now));
  if (count > 0) {
    const before = kept.get(current) ?? 0;
    kept.delete(current);
    kept.set(current, before + count);
  }
  return kept;
}

/** The counts under one rate, in tenths of another's period. */
export function recount(used: Used, from: Rate | null, to: Rate | null, now: number): Used {
  if (!from || !to) return new Map();
  const recounted: Used = new Map();
  for (const [tenth, count] of used) {
    const last = Math.min((tenth + 1) * tenthOf(from) - 1, now);
    const place = Math.floor(last / tenthOf(to));
    recounted.set(place, (recounted.get(place) ?? 0) + count);
  }
  return recounted;
}

/** How many of the wanted tasks a queue's limits allow, and when they allow more. */
export function allowed(
  { settings, working, used }: QueueState,
  wish: number,
  now: number,
): { most: number; again: number } {
  let [most, again] = [wish, now];
  if (settings.maxWorking !== null) {
    most = Math.min(most, settings.maxWorking - working.size);
    again = now + 1_000;
  }
  if (settings.rate !== null) {
    const free = left(settings.rate, used, now);
    if (free < most) again = opens(settings.rate, used, now) ?? again;
    most = Math.min(most, free);
  }
  return { most, again };
}

/** How many more tasks may be pending. */
export const placesLeft = ({ settings, line, ghosts, grouped }: QueueState) =>
  (settings.maxPending ?? Number.POSITIVE_INFINITY) - (line.length - ghosts) - grouped.length;
