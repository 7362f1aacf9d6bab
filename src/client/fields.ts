/** Puts further fields, whose values are JSON, in front of those of an object. */
export function withFields(written: Readonly<Record<string, string>>, json: string): string {
  const first = Object.entries(written).map(([name, value]) => `"${name}":${value}`);
  return `{${[...first, json.slice(1, -1)].filter(Boolean).join()}}`;
}
