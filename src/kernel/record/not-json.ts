import { typeOf } from "../options/type-of.ts";

/** An object or list on the path, and how far it has been searched. */
interface Level {
  readonly of: object;
  readonly names: readonly string[];
  next: number;
}

/** A part of a value that JSON cannot express, or would silently change. */
export interface NotJson {
  /** Such as `payload.items[3].price`. */
  readonly path: string;
  /** What it is, and what is allowed. */
  readonly problem: string;
}

/**
 * Finds the first part of a value that JSON cannot express (a bigint, a cycle), or that `JSON.stringify` writes
 * as `null`: NaN and infinite numbers, which `JSON.parse` makes of `1e400`. Calls `toJSON` as `JSON.stringify`
 * does. Does not recurse, so it searches deeper than `JSON.stringify` writes.
 * @param path of the value
 * @param all whether to find also objects that `JSON.stringify` writes as `{}`, such as a Promise or a Map, invalid
 *   Dates, and bytes
 * @returns undefined if there is none
 */
export function notJson(value: unknown, path: string, all = false): NotJson | undefined {
  // The first level has the value itself, as `JSON.stringify` begins.
  const levels: Level[] = [{ of: { "": value }, names: [""], next: 0 }];
  const open = new Set<unknown>();
  for (let level = levels.at(-1); level !== undefined; level = levels.at(-1)) {
    const name = level.names[level.next++];
    if (name === undefined) {
      open.delete(level.of);
      levels.pop();
      continue;
    }
    const given = (level.of as Record<string, unknown>)[name];
    const part = written(given, name);
    let problem = problemOf(part) ?? (all ? (problemOfGiven(given) ?? problemOfObject(part)) : undefined);
    // A `toJSON` or a getter may make a new part each time.
    if (levels.length > MAX_DEPTH) problem = TOO_DEEP;
    if (open.has(part)) problem = CYCLE;
    if (problem !== undefined) return { path: pathOf(levels, path), problem };
    if (typeof part === "object" && part !== null) {
      open.add(part);
      levels.push({ of: part, names: Object.keys(Array.isArray(part) ? [...part] : part), next: 0 });
    }
  }
  return undefined;
}

const CYCLE = "contains itself, which JSON cannot express";

/** Most levels of objects and lists in each other. */
const MAX_DEPTH = 100_000;
const TOO_DEEP = `is more than ${MAX_DEPTH} levels deep in the value, or the value has no end`;

function problemOf(part: unknown): string | undefined {
  if (typeof part === "bigint") return "is a bigint, which JSON cannot express; use a number or a text";
  if (typeof part === "number" && !Number.isFinite(part)) {
    return "must be a finite number, at most about 1.8e308 either way";
  }
  return undefined;
}

function problemOfGiven(part: unknown): string | undefined {
  if (typeOf(part) === "Date" && Number.isNaN(Number(part)))
    return "is an invalid Date, which JSON writes as null";
  if (!ArrayBuffer.isView(part)) return undefined;
  const name = part.constructor.name;
  return `is a ${name}, which JSON writes as an object; use a text, such as base64, or a Uint8Array as the whole value`;
}

function problemOfObject(part: unknown): string | undefined {
  if (typeof part !== "object" || part === null || Array.isArray(part)) return undefined;
  // Such as `[object Map]`. Objects of an application's own classes have `[object Object]`.
  const name = typeOf(part);
  if (WRITTEN_WHOLE.has(name) || Object.keys(part).length > 0) return undefined;
  return name === "Promise"
    ? "is a Promise; await it first"
    : `has the type ${name}, which JSON writes as {}; use a plain object, an array or a text`;
}

/** Types of objects that JSON writes whole, although they may have no properties. */
const WRITTEN_WHOLE: ReadonlySet<string> = new Set(["Object", "Number", "String", "Boolean"]);

/** The value that `JSON.stringify` writes for a part. */
function written(part: unknown, key: string): unknown {
  if (part === null || !["object", "function", "bigint"].includes(typeof part)) return part;
  const { toJSON } = part as { toJSON?: unknown };
  const value: unknown = typeof toJSON === "function" ? toJSON.call(part, key) : part;
  return typeOf(value) === "Number" ? unboxed(value) : value;
}

/** The number in a `Number` object. Any other value, even with that tag, stays as it is. */
function unboxed(value: unknown): unknown {
  try {
    return Number.prototype.valueOf.call(value);
  } catch {
    return value;
  }
}

/** The path to the current part. Behind a path that is empty there is no dot. */
function pathOf(levels: readonly Level[], path: string): string {
  const steps = levels.slice(1).map(({ of, names, next }) => {
    const name = String(names[next - 1]);
    return Array.isArray(of) ? `[${name}]` : `.${name}`;
  });
  return (path + steps.join("")).replace(/^\./, "");
}
