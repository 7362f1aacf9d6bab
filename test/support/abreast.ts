/** Runs for each item, fifty at once: of more, a busy machine answers some too late, and their copies count, too. */
export async function abreast<T>(items: readonly T[], run: (item: T) => Promise<unknown>): Promise<void> {
  for (let first = 0; first < items.length; first += 50) {
    await Promise.all(items.slice(first, first + 50).map(run));
  }
}
