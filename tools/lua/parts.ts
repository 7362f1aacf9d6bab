// The parts of lua/lib and their place in a script. Lua creates a function when it runs its definition. So
// each part is placed before the first statement that needs it, in the branch that needs it, and a plain call
// returns before most of them.

import type { LuaNode } from "luaparse";
import { freeNames } from "./scopes.ts";
import { compact, type LuaFile, nameOf, nodesIn, parseLua } from "./text.ts";

/** A statement at the top level of lua/lib. */
export interface Part {
  /** The locals that it declares. */
  readonly names: readonly string[];
  /** The names that it uses and does not declare. */
  readonly uses: ReadonlySet<string>;
  /** Its offsets in lua/lib, including the text up to the next part. */
  readonly range: readonly [from: number, to: number];
  /** The embedded text. */
  readonly text: string;
}

/**
 * The locals at the top level of lua/lib, in order.
 * @throws if there is anything but locals, a name is declared twice, or a local is used before its
 *   declaration
 */
export function partsOf(lib: LuaFile): Part[] {
  const refuse = (why: string) => new Error(`${lib.file}: ${why}`);
  const { body } = parseLua(lib);
  const parts = body.map((node, i): Part => {
    const range = [node.range[0], body[i + 1]?.range[0] ?? lib.text.length] as const;
    const text = compact(lib.text.slice(...range));
    return { names: declaredBy(node), uses: freeNames(lib.file, [node]), range, text };
  });
  const other = parts.find(({ names }) => names.length === 0);
  if (other) {
    const [line] = lib.text.slice(...other.range).split("\n", 1);
    throw refuse(`the top level may have only locals: ${line}`);
  }
  const all = parts.flatMap(({ names }) => names);
  const twice = all.find((name, i) => all.indexOf(name) < i);
  if (twice !== undefined) throw refuse(`${twice} is declared twice at the top level`);
  const undeclared = new Set(all);
  for (const { names, uses } of parts) {
    for (const name of names) undeclared.delete(name);
    const late = [...uses].find((name) => undeclared.has(name));
    if (late !== undefined) throw refuse(`${names.join(", ")} uses ${late} before its declaration`);
  }
  return parts;
}

/**
 * A script's text with the parts that it needs. Each part is placed before the first statement that needs it,
 * directly or by another part, at the top level or in a branch of an `if` there. Parts at one place are in
 * the order of lua/lib. Several branches may have the same part.
 * @throws if such a statement declares a local with a name that these parts declare or use
 */
export function programOf(script: LuaFile, parts: readonly Part[]): (Part | string)[] {
  const program: (Part | string)[] = [];
  const own = new Set<string>();
  let end = 0;
  visit(parseLua(script).body, new Set());
  program.push(compact(script.text.slice(end)));

  const taken = program.flatMap((one) => (typeof one === "string" ? [] : [...one.names, ...one.uses]));
  const clash = taken.find((name) => own.has(name));
  if (clash !== undefined)
    throw new Error(
      `${script.file}: rename its local ${clash}: parts of lua/lib in this script declare or use that name`,
    );
  return program;

  function visit(body: readonly LuaNode[], around: ReadonlySet<string>): void {
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
      for (const branch of branches) visit(nodesIn(branch, "body"), seen);
      for (const name of declaredBy(node)) {
        seen.add(name);
        own.add(name);
      }
    }
  }

  /**
   * The parts that these names need, in order.
   * @param seen the names that are already declared
   */
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
