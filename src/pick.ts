/** The named properties of an object, as far as they are not undefined. */
export function pick<T extends object, const Name extends keyof T>(
  from: T,
  names: readonly Name[],
): Partial<Pick<T, Name>> {
  const given = names.filter((name) => from[name] !== undefined).map((name) => [name, from[name]]);
  return Object.fromEntries(given) as Partial<Pick<T, Name>>;
}
