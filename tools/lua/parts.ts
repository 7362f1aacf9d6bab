// The parts that scripts share, and their place in a script. Lua creates a function when it runs its definition. So
// each part is placed before the first statement that needs it, in the branch that needs it, and a plain call
// returns before most of them.

import type { LuaNode } from "luaparse";
import { freeNames } from "./scopes.ts";
import { compact, type LuaFile, nameOf, nodesIn, parseLua } from "./text.ts";

/** A statement at the top level of a shared file. */
export interface Part {
  readonly file: string;
  /** The locals that it declares. */
  readonly names: readonly string[];
  /** The names that it uses and does not declare. */
  readonly uses: ReadonlySet<string>;
  /** Its offsets in the file, including the text up to the next part. The first one has the head of the file. */
  readonly range: readonly [from: number, to: number];
  /** The embedded text. */
  readonly text: string;
  /** Whether it is an assignment of a layer, which takes the place of what is declared in front of the layer. */
  readonly isLater: boolean;
  /** The number of the assignment among those of its name, from 1; 0 for a local. {@link partsOf} counts. */
  level: number;
}

/** The edition of a script. `linked`: with all layers. */
export type Edition = "plain" | "linked";

/**
 * The locals at the top level of the shared files, each behind those that it uses. Otherwise they are in the order of the
 * files. A layer may assign to a local that is declared in front of it: `name = (function(inner) … end)(name)`. All use
 * the later value then, also what is declared in front of the layer; `inner` is the former one.
 * @throws if there is anything but these, a name is declared twice, or locals use each other
 */
export function partsOf(shared: readonly LuaFile[], edition: Edition = "plain"): Part[] {
  const files = shared.filter(({ inLayer = false }) => edition === "linked" || !inLayer);
  const parts = files.flatMap(partsIn);
  const declaring = new Map<string, Part>();
  /** The same without assignments, which may come later than what calls them. */
  const declared = new Map<string, Part>();
  /** An assignment -> the part whose place it takes. */
  const former = new Map<Part, Part>();
  for (const part of parts)
    for (const name of part.names) {
      const other = declaring.get(name);
      if (part.isLater && !other)
        throw new Error(`${part.file}: ${name} is not declared in front of the layer`);
      if (other && !part.isLater)
        throw new Error(`${part.file}: ${name} is declared at the top level of ${other.file} too`);
      if (other) {
        former.set(part, other);
        part.level = other.level + 1;
      } else declared.set(name, part);
      declaring.set(name, part);
    }

  const ordered = new Set<Part>();
  const begun: Part[] = [];
  const place = (part: Part) => {
    if (ordered.has(part)) return;
    if (begun.includes(part)) {
      const circle = [...begun.slice(begun.indexOf(part)), part].map(({ names: [name] }) => name);
      throw new Error(`${part.file}: locals use each other: ${circle.join(", ")}`);
    }
    begun.push(part);
    const usedAs = (name: string) => (part.names.includes(name) && former.get(part)) || declared.get(name);
    const used = new Set(Array.from(part.uses, usedAs));
    for (const one of parts) if (used.has(one)) place(one);
    begun.pop();
    ordered.add(part);
  };
  for (const part of parts) place(part);
  return [...ordered];
}

function partsIn(file: LuaFile): Part[] {
  const { body } = parseLua(file);
  return body.map((node, i) => {
    const range = [i === 0 ? 0 : node.range[0], body[i + 1]?.range[0] ?? file.text.length] as const;
    const text = file.text.slice(...range);
    const isLater = file.inLayer === true && node.type === "AssignmentStatement";
    const names = isLater ? nodesIn(node, "variables").map(nameOf) : declaredBy(node);
    if (names.length === 0)
      throw new Error(`${file.file}: the top level may have only locals: ${text.split("\n", 1).join("")}`);
    const uses = freeNames(file.file, [node]);
    return { file: file.file, names, uses, range, text: compact(text), isLater, level: 0 };
  });
}

/**
 * A script's text with the parts that it needs. Each part is placed before the first statement that needs it,
 * directly or by another part, at the top level or in a branch of an `if` there. Parts at one place are in
 * the order of {@link partsOf}. Several branches may have the same part.
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
      `${script.file}: rename its local ${clash}: shared parts in this script declare or use that name`,
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
    const found = new Set<Part>();
    // Once more if an assignment of a layer takes the place of what a part in front of it uses.
    for (let before = -1; before < found.size;) {
      before = found.size;
      for (const part of parts.toReversed()) {
        if (!part.names.some((name) => wanted.has(name) && !seen.has(name))) continue;
        for (const name of part.uses) wanted.add(name);
        found.add(part);
      }
    }
    return parts.filter((part) => found.has(part));
  }
}

function declaredBy(node: LuaNode): string[] {
  if (node.type === "LocalStatement") return nodesIn(node, "variables").map(nameOf);
  return node["isLocal"] === true ? [nameOf(node["identifier"] as LuaNode)] : [];
}
