/**
 * Makes an iteration that can be ended at any time. An async generator does not run its `finally` if it is ended
 * before its first step, and ends only after a pending step.
 * @param items a generator that ends soon after `end` was called
 * @param end called when the iteration is ended, perhaps more than once
 */
export function endable<Item>(items: AsyncGenerator<Item, void>, end: () => void): AsyncIterable<Item> {
  const iterator: AsyncIterator<Item, void> = {
    next: () => items.next(),
    return() {
      end();
      return items.return();
    },
  };
  return { [Symbol.asyncIterator]: () => iterator };
}
