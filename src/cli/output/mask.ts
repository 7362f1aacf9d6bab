/** A value with the same structure and names, whose texts, numbers and truths are hidden. */
export function masked(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(masked);
  if (typeof value === "object" && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, masked(inner)]));
  }
  return value === null || value === undefined ? value : "•••";
}
