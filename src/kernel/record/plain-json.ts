/** JSON that has neither `null`, nor an empty object, nor bytes has changed nothing that the codec refuses. */
const TRACES = /null|\{\}|\{"0":|\{"type":"Buffer"/;

/** Whether a value consists only of what JSON has, and of properties that are undefined. */
function isPlain(value: unknown): boolean {
  if (typeof value === "number") return Number.isFinite(value);
  if (typeof value !== "object" || value === null) return typeof value !== "function";
  const { constructor } = value;
  return (constructor === Object || constructor === Array) && Object.values(value).every(isPlain);
}

/**
 * The JSON of a value.
 * @param limit in bytes
 * @returns undefined if the codec must look at it: it is not plain JSON, or may be over the limit
 */
export function plainJson(value: unknown, limit = Number.POSITIVE_INFINITY): string | undefined {
  if (value instanceof Uint8Array) return undefined;
  try {
    const json = JSON.stringify(value);
    // A UTF-16 unit has at most three bytes.
    return 3 * json.length > limit || (TRACES.test(json) && !isPlain(value)) ? undefined : json;
  } catch {
    return undefined;
  }
}
