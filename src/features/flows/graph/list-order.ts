/**
 * Puts items into an order in which each is behind all that it waits for. Items that become free together keep their
 * order.
 * @param before for each item, the places of those that it waits for
 * @returns the places in that order; or, if there is none, the places of a cycle, in the order in which each lets the
 *   next begin, with the first one again at its end
 */
export function inOrder(before: readonly (readonly number[])[]): {
  readonly order: readonly number[];
  readonly cycle?: readonly number[];
} {
  const behind: number[][] = before.map(() => []);
  const open = before.map((places, item) => {
    for (const place of places) (behind[place] as number[]).push(item);
    return places.length;
  });
  const order = [...before.keys()].filter((item) => open[item] === 0);
  // It grows while it is read.
  for (const item of order) {
    for (const next of behind[item] as number[]) {
      open[next] = (open[next] as number) - 1;
      if (open[next] === 0) order.push(next);
    }
  }
  return order.length === before.length ? { order } : { order, cycle: cycleIn(before, new Set(order)) };
}

/** A cycle of the items that could not be put in order. It begins with the first of its items in the list. */
function cycleIn(before: readonly (readonly number[])[], ordered: ReadonlySet<number>): readonly number[] {
  // Each of them waits for another one of them, so a walk from one to the next comes back.
  const isLeft = (item: number) => !ordered.has(item);
  const seen = new Map<number, number>();
  const walk: number[] = [];
  let item = [...before.keys()].find(isLeft) as number;
  while (!seen.has(item)) {
    seen.set(item, walk.length);
    walk.push(item);
    item = (before[item] as readonly number[]).find(isLeft) as number;
  }
  const cycle = walk.slice(seen.get(item)).toReversed();
  const first = cycle.indexOf(cycle.reduce((least, place) => Math.min(least, place)));
  return [...cycle.slice(first), ...cycle.slice(0, first + 1)];
}
