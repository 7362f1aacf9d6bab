/** Cuts a list into lists of that size; the last one may be shorter. */
export function slicesOf<T>(items: readonly T[], size: number): T[][] {
  const found: T[][] = [];
  for (let first = 0; first < items.length; first += size) found.push(items.slice(first, first + size));
  return found;
}
