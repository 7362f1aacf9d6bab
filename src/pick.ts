/** The properties of an object that are not undefined. */
export function given<T extends object>(from: T): Partial<T> {
  return Object.fromEntries(Object.entries(from).filter(([, value]) => value !== undefined)) as Partial<T>;
}

/** The named properties of an object, as far as they are not undefined. */
export function pick<T extends object, const Name extends keyof T>(
  from: T,
  names: readonly Name[],
): Partial<Pick<T, Name>> {
  return given(Object.fromEntries(names.map((name) => [name, from[name]]))) as Partial<Pick<T, Name>>;
}
