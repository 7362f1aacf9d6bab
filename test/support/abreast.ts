/**
 * Runs for each item, fifty at a time: with more, a busy machine answers late, and resends would count too.
 */
export async function abreast<T>(items: readonly T[], run: (item: T) => Promise<unknown>): Promise<void> {
  for (let first = 0; first < items.length; first += 50) {
    await Promise.all(items.slice(first, first + 50).map(run));
  }
}
