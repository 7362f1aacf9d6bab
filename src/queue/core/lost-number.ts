/** An object or list on the path, and how far it has been searched. */
interface Level {
  readonly of: object;
  /** Undefined for a list. */
  readonly names: readonly string[] | undefined;
  readonly size: number;
  next: number;
}

/**
 * Finds the first number that `JSON.stringify` writes as `null`: NaN, or an infinite one, which `JSON.parse`
 * makes of `1e400`. Calls `toJSON` as `JSON.stringify` does. Does not recurse, so depth is not limited.
 * @param value one that `JSON.stringify` accepts
 * @param path of the value
 * @returns the path of the number; undefined if there is none
 */
export function lostNumber(value: unknown, path: string): string | undefined {
  const levels: Level[] = [levelOf([value])];
  for (let level = levels.at(-1); level !== undefined; level = levels.at(-1)) {
    if (level.next === level.size) {
      levels.pop();
      continue;
    }
    const key = level.names?.[level.next] ?? String(level.next);
    level.next++;
    const part = written((level.of as Record<string, unknown>)[key], levels.length === 1 ? "" : key);
    if (typeof part === "object" && part !== null) levels.push(levelOf(part));
    else if (typeof part === "number" && !Number.isFinite(part)) return pathOf(levels, path);
  }
  return undefined;
}

function levelOf(part: object): Level {
  if (Array.isArray(part)) return { of: part, names: undefined, size: part.length, next: 0 };
  const names = Object.keys(part);
  return { of: part, names, size: names.length, next: 0 };
}

/** The value that `JSON.stringify` writes for a part. */
function written(part: unknown, key: string): unknown {
  if ((typeof part !== "object" && typeof part !== "function") || part === null) return part;
  const { toJSON } = part as { toJSON?: unknown };
  const value: unknown = typeof toJSON === "function" ? toJSON.call(part, key) : part;
  return Object.prototype.toString.call(value) === "[object Number]" ? unboxed(value) : value;
}

/** The number in a `Number` object. Any other value, even with that tag, stays as it is. */
function unboxed(value: unknown): unknown {
  try {
    return Number.prototype.valueOf.call(value);
  } catch {
    return value;
  }
}

/** The path to the current part. The first level has the value itself. */
function pathOf(levels: readonly Level[], path: string): string {
  const steps = levels
    .slice(1)
    .map(({ names, next }) => (names ? `.${String(names[next - 1])}` : `[${next - 1}]`));
  return path + steps.join("");
}
