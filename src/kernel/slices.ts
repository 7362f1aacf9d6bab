/** Cuts a list into lists of one size; the last one may be shorter. */
export function slicesOf<T>(items: readonly T[], size: number): T[][] {
  const found: T[][] = [];
  for (let first = 0; first < items.length; first += size) found.push(items.slice(first, first + size));
  return found;
}

/** The items of each key, in order. */
export function groupedBy<K, T>(items: readonly T[], keyOf: (item: T) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>();
  for (const item of items) {
    const group = groups.get(keyOf(item));
    if (group) group.push(item);
    else groups.set(keyOf(item), [item]);
  }
  return groups;
}
