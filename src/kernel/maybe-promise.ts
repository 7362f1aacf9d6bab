/** A value, or a promise of it. */
export type MaybePromise<T> = T | Promise<T>;

/**
 * Applies a function to each item, as `Promise.all`, but returns the results themselves if none is a promise.
 * @throws what the function throws; first, what those before it reject with
 */
export function all<T, R>(
  items: readonly T[],
  apply: (item: T, index: number) => MaybePromise<R>,
): MaybePromise<readonly R[]> {
  const results: MaybePromise<R>[] = [];
  try {
    for (const item of items) results.push(apply(item, results.length));
  } catch (error) {
    if (!results.some(isPromise)) throw error;
    // A process ends if a promise rejects for which no call waits.
    return Promise.all(results).then(() => {
      throw error;
    });
  }
  return results.some(isPromise) ? Promise.all(results) : (results as readonly R[]);
}

/** Applies a function to a value at once, or when a promise of it resolves. */
export const andThen = <T, R>(
  value: MaybePromise<T>,
  apply: (value: T) => MaybePromise<R>,
): MaybePromise<R> => (isPromise(value) ? value.then(apply) : apply(value));

/** Whether a value is a promise, also of another realm, which `instanceof` does not recognise. */
export function isPromise(value: unknown): value is Promise<unknown> {
  return typeof (value as { then?: unknown } | undefined)?.then === "function";
}
