/** A value, or a promise of it. */
export type MaybePromise<T> = T | Promise<T>;

/** As `Promise.all`, but returns the values themselves if none is a promise. */
export function all<T>(values: readonly MaybePromise<T>[]): MaybePromise<readonly T[]> {
  return values.some(isPromise) ? Promise.all(values) : (values as readonly T[]);
}

/** Whether a value is a promise, also of another realm, which `instanceof` does not recognise. */
export function isPromise(value: unknown): value is Promise<unknown> {
  return typeof (value as { then?: unknown } | undefined)?.then === "function";
}
