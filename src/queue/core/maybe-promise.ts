/** What is there at once, or has to be waited for. */
export type MaybePromise<T> = T | Promise<T>;

/** As `Promise.all`, but where nothing is to be waited for it is no promise, and costs nothing. */
export function all<T>(values: readonly MaybePromise<T>[]): MaybePromise<readonly T[]> {
  return values.some(isPromise) ? Promise.all(values) : (values as readonly T[]);
}

/** Also one of another realm, which `instanceof` does not know. */
function isPromise(value: unknown): boolean {
  return typeof (value as { then?: unknown } | undefined)?.then === "function";
}
