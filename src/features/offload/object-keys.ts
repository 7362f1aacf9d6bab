import { DEFAULT_PREFIX } from "../../kernel/names/keys.ts";

/** To which task an object belongs, and its own name. */
export interface ObjectOwner {
  readonly queue: string;
  readonly id: string;
  readonly name: string;
}

/** What the keys of all objects in an area begin with: `<prefix>/<area>/`. */
export function objectsOf(prefix: string | undefined, area: string): string {
  return `${escaped(prefix ?? DEFAULT_PREFIX)}/${area}/`;
}

/** The key of an object: `<prefix>/<area>/<queue>/<task id>/<name>`. */
export function objectKey(
  prefix: string | undefined,
  area: string,
  { queue, id, name }: ObjectOwner,
): string {
  return `${objectsOf(prefix, area)}${escaped(queue)}/${escaped(id)}/${name}`;
}

/** The key of the object that says where the next pass over an area goes on. It is outside of the area. */
export function positionKey(prefix: string | undefined, area: string): string {
  return `${escaped(prefix ?? DEFAULT_PREFIX)}/${area}~position`;
}

/** Reads a key; undefined if it is not the key of a payload. */
export function readKey(key: string): ObjectOwner | undefined {
  const [, , queue, id, name, ...more] = key.split("/");
  if (!queue || !id || !name || more.length > 0) return undefined;
  return { queue: unescaped(queue), id: unescaped(id), name };
}

/** Stores and URLs take these characters as they are. */
function escaped(text: string): string {
  return text.replace(/[^A-Za-z0-9_.-]/g, (unit) => `~${unit.charCodeAt(0).toString(16).padStart(2, "0")}`);
}

function unescaped(text: string): string {
  return text.replace(/~([0-9a-f]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}
