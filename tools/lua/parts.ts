// The parts that scripts share, and where they stand in a script. Lua creates a function when it comes to its definition:
// so each stands in front of the first statement that needs it, in the branch that needs it, and a plain call returns
// before it comes to most.

import type { LuaNode } from "luaparse";
import { freeNames } from "./scopes.ts";
import { compact, type LuaFile, nameOf, nodesIn, parseLua } from "./text.ts";

/** A statement at the prelude's top level. */
export interface Part {
  /** The locals that it declares. */
  readonly names: readonly string[];
  /** The names that it uses and does not declare. */
  readonly uses: ReadonlySet<string>;
  /** Where it stands in the prelude, with what follows up to the next one: offsets. */
  readonly range: readonly [from: number, to: number];
  /** The text as it is embedded. */
  readonly text: string;
}

/**
 * The locals at the prelude's top level, in their order.
 * @throws where something else stands there, a name stands twice, or one uses another that stands behind it
 */
export function partsOf(prelude: LuaFile): Part[] {
  const refuse = (why: string) => new Error(`${prelude.file}: ${why}`);
  const { body } = parseLua(prelude);
  const parts = body.map((node, i): Part => {
    const range = [node.range[0], body[i + 1]?.range[0] ?? prelude.text.length] as const;
    const text = compact(prelude.text.slice(...range));
    return { names: declaredBy(node), uses: freeNames(prelude.file, [node]), range, text };
  });
  const stray = parts.find(({ names }) => names.length === 0);
  if (stray) {
    const [line] = prelude.text.slice(...stray.range).split("\n", 1);
    throw refuse(`only locals may stand at the top level: ${line}`);
  }
  const all = parts.flatMap(({ names }) => names);
  const twice = all.find((name, i) => all.indexOf(name) < i);
  if (twice !== undefined) throw refuse(`${twice} stands twice at the top level`);
  const behind = new Set(all);
  for (const { names, uses } of parts) {
    for (const name of names) behind.delete(name);
    const late = [...uses].find((name) => behind.has(name));
    if (late !== undefined) throw refuse(`${names.join(", ")} uses ${late}, which stands behind it`);
  }
  return parts;
}

/**
 * A script's text, cut where parts stand in it: each in front of the first statement that needs it, or needs another
 * part that does, be it at the top level or in a branch of an `if` there. Parts that stand together are in the order of
 * the prelude; several branches may have the same.
 * @throws where such a statement declares a local with a name that these parts declare or use
 */
export function programOf(script: LuaFile, parts: readonly Part[]): (Part | string)[] {
  const program: (Part | string)[] = [];
  const own = new Set<string>();
  let end = 0;
  goThrough(parseLua(script).body, new Set());
  program.push(compact(script.text.slice(end)));

  const taken = program.flatMap((one) => (typeof one === "string" ? [] : [...one.names, ...one.uses]));
  const clash = taken.find((name) => own.has(name));
  if (clash !== undefined)
    throw new Error(
      `${script.file}: its local ${clash} has a name that parts in it declare or use: rename it`,
    );
  return program;

  function goThrough(body: readonly LuaNode[], around: ReadonlySet<string>): void {
    const seen = new Set(around);
    for (const node of body) {
      const isIf = node.type === "IfStatement";
      const branches = isIf ? nodesIn(node, "clauses") : [];
      const first = isIf ? branches.flatMap((branch) => nodesIn(branch, "condition")) : [node];
      const needed = partsFor(freeNames(script.file, first), seen);
      if (needed.length > 0) {
        program.push(compact(script.text.slice(end, node.range[0])), ...needed);
        end = node.range[0];
      }
      for (const name of needed.flatMap(({ names }) => names)) seen.add(name);
      for (const branch of branches) goThrough(nodesIn(branch, "body"), seen);
      for (const name of declaredBy(node)) {
        seen.add(name);
        own.add(name);
      }
    }
  }

  /** What these names bring, in order. seen: the names that stand already. */
  function partsFor(names: Iterable<string>, seen: ReadonlySet<string>): Part[] {
    const wanted = new Set(names);
    const found = parts.toReversed().filter((part) => {
      if (!part.names.some((name) => wanted.has(name) && !seen.has(name))) return false;
      for (const name of part.uses) wanted.add(name);
      return true;
    });
    return found.toReversed();
  }
}

function declaredBy(node: LuaNode): string[] {
  if (node.type === "LocalStatement") return nodesIn(node, "variables").map(nameOf);
  return node["isLocal"] === true ? [nameOf(node["identifier"] as LuaNode)] : [];
}
