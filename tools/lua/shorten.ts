// Short names for the locals of Lua, as a minifier gives them. They save bytes in every bundle.

import type { LuaFiles } from "./files.ts";
import { resolveNames, type Local } from "./scopes.ts";
import { nameOf, parseLua, type LuaFile } from "./text.ts";

const KEYWORDS = new Set(["do", "if", "in", "or"]);
const LETTERS = "abcdefghijklmnopqrstuvwxyz".split("");

/** All names of one or two letters, the short ones first. */
const lowerNames = [
  ...LETTERS,
  ...LETTERS.flatMap((first) => LETTERS.map((second) => first + second)),
].filter((name) => !KEYWORDS.has(name));
/**
 * Names for the shared locals. They differ from all lower-case names, so neither hides the
 * other.
 */
const upperNames = lowerNames.map((name) => name.toUpperCase());

const isTopLevel = ({ owner }: Local) => owner !== undefined && owner.parent === undefined;

/** The same files with short names for all locals. Lines, fields and strings do not change. */
export function shorten({ shared, scripts }: LuaFiles): LuaFiles {
  // One part at a time, because a file may have more locals than Lua allows.
  const resolved = shared.map((file) => parseLua(file).body.map((part) => resolveNames(file.file, [part])));
  const topLevel = resolved.flat().flatMap(({ locals }) => locals.filter(isTopLevel));
  const sharedNames = new Map(topLevel.map(({ name }, i) => [name, shortName(upperNames, i)]));
  return {
    shared: shared.map((file, i) =>
      renamed(file, resolved[i] ?? [], sharedNames, (local) => !isTopLevel(local)),
    ),
    scripts: scripts.map((script) =>
      renamed(script, [resolveNames(script.file, parseLua(script).body)], sharedNames, () => true),
    ),
  };
}

/**
 * @param parts the names in the file
 * @param isOwn whether a local is one of the file's own; the others have names of `sharedNames`
 */
function renamed(
  file: LuaFile,
  parts: readonly ReturnType<typeof resolveNames>[],
  sharedNames: ReadonlyMap<string, string>,
  isOwn: (local: Local) => boolean,
): LuaFile {
  const identifiers = parts.flatMap(({ locals, freeIdentifiers }) => [
    ...freeIdentifiers.map((one) => [one, sharedNames.get(nameOf(one))] as const),
    ...locals.flatMap((local) => {
      // Two locals that are visible together have different numbers.
      const number = local.around.filter((one) => one.owner && isOwn(one)).length;
      const name = isOwn(local) ? shortName(lowerNames, number) : sharedNames.get(local.name);
      return local.identifiers.map((one) => [one, name] as const);
    }),
  ]);
  let text = "";
  let end = 0;
  for (const [{ range }, name] of identifiers.toSorted(([a], [b]) => a.range[0] - b.range[0])) {
    text += file.text.slice(end, range[0]) + (name ?? file.text.slice(...range));
    [, end] = range;
  }
  return { ...file, text: text + file.text.slice(end) };
}

function shortName(names: readonly string[], number: number): string {
  const name = names[number];
  if (name === undefined) throw new Error(`no short name is left for local number ${number}`);
  return name;
}
