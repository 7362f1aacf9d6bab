// The scopes of Lua code: the names that it takes from outside, and a check of Lua's limits per function.

import type { LuaNode } from "luaparse";
import { nameOf, nodesIn } from "./text.ts";

/** The limits of Lua 5.1. */
const MOST_LOCALS = 200;
const MOST_UPVALUES = 60;

/** The hidden locals of a loop. */
const FOR_LOOP = ["(for 1)", "(for 2)", "(for 3)"];

/** The fields to visit in nodes with a name that is not a variable, or with an unusual order of scopes. */
const FIELDS: Readonly<Record<string, readonly string[]>> = {
  MemberExpression: ["base"],
  TableKeyString: ["value"],
  RepeatStatement: ["body", "condition"],
};

/** A function, or the whole text. */
interface LuaFunction {
  readonly what: string;
  readonly parent: LuaFunction | undefined;
  /** Locals of outer functions that it, or a function in it, uses. */
  readonly upvalues: Set<Local>;
}

/** A local variable or parameter. */
export interface Local {
  readonly name: string;
  readonly owner: LuaFunction | undefined;
  /** The identifiers that declare and use it; none for the hidden locals of Lua. */
  readonly identifiers: LuaNode[];
  /** The locals that are visible where it is declared. */
  readonly around: readonly Local[];
}

type Scope = readonly Local[];

/** The names that statements or expressions use and do not declare; see {@link resolveNames}. */
export function freeNames(file: string, nodes: readonly LuaNode[]): ReadonlySet<string> {
  return resolveNames(file, nodes).free;
}

/**
 * Resolves the names in statements or expressions.
 * @param file for errors
 * @returns the names that they use and do not declare, with the identifiers, and the locals
 * @throws if they, or a function in them, have more locals or upvalues than Lua allows. `redis` counts as an
 *   upvalue, because a wrapper such as the gateway's shim makes it a local
 */
export function resolveNames(
  file: string,
  nodes: readonly LuaNode[],
): { free: ReadonlySet<string>; freeIdentifiers: readonly LuaNode[]; locals: readonly Local[] } {
  const free = new Set<string>();
  const freeIdentifiers: LuaNode[] = [];
  const locals: Local[] = [];
  enter("the text", nodes, [], undefined, [{ name: "redis", owner: undefined, identifiers: [], around: [] }]);
  return { free, freeIdentifiers, locals };

  function enter(
    what: string,
    body: readonly LuaNode[],
    parameters: readonly (LuaNode | string)[],
    parent: LuaFunction | undefined,
    around: Scope,
  ): void {
    const entered = { what, parent, upvalues: new Set<Local>() };
    visitAll(entered, body, declare(entered, around, parameters));
    check(entered, entered.upvalues.size, "upvalues", MOST_UPVALUES);
  }

  function declare(owner: LuaFunction, scope: Scope, names: readonly (LuaNode | string)[]): Scope {
    let wider = scope;
    for (const name of names) {
      const isHidden = typeof name === "string";
      const identifiers = isHidden ? [] : [name];
      const local = { name: isHidden ? name : nameOf(name), owner, identifiers, around: wider };
      locals.push(local);
      wider = [...wider, local];
    }
    check(owner, wider.filter((local) => local.owner === owner).length, "locals", MOST_LOCALS);
    return wider;
  }

  function check({ what }: LuaFunction, count: number, of: string, most: number): void {
    if (count > most)
      throw new Error(`${file}: ${what} has ${count} ${of}, and Lua allows ${most} in one function`);
  }

  /** Visits statements or expressions in order. Returns the scope after them. */
  function visitAll(at: LuaFunction, nodes: readonly LuaNode[], outer: Scope): Scope {
    let scope = outer;
    for (const node of nodes) scope = visit(at, node, scope);
    return scope;
  }

  function visit(at: LuaFunction, node: LuaNode, scope: Scope): Scope {
    const inner = (...fields: readonly string[]) => nodesIn(node, ...fields);
    switch (node.type) {
      case "Identifier":
        use(at, node, scope);
        break;
      case "LocalStatement":
        visitAll(at, inner("init"), scope);
        return declare(at, scope, inner("variables"));
      case "FunctionDeclaration":
        return declared(at, node, scope);
      case "ForNumericStatement":
      case "ForGenericStatement": {
        visitAll(at, inner("start", "end", "step", "iterators"), scope);
        const variables = inner("variable", "variables");
        visitAll(at, inner("body"), declare(at, scope, [...FOR_LOOP, ...variables]));
        break;
      }
      default:
        visitAll(at, inner(...(FIELDS[node.type] ?? Object.keys(node))), scope);
    }
    return scope;
  }

  function use(at: LuaFunction, identifier: LuaNode, scope: Scope): void {
    const name = nameOf(identifier);
    const local = scope.findLast((one) => one.name === name);
    if (!local?.owner) {
      free.add(name);
      freeIdentifiers.push(identifier);
    }
    if (!local) return;
    local.identifiers.push(identifier);
    for (let one: LuaFunction | undefined = at; one && one !== local.owner; one = one.parent)
      one.upvalues.add(local);
  }

  function declared(at: LuaFunction, node: LuaNode, scope: Scope): Scope {
    const target = node["identifier"] as LuaNode | null;
    const name = target?.type === "Identifier" ? nameOf(target) : undefined;
    const isLocal = node["isLocal"] === true;
    if (target && !isLocal) visit(at, target, scope);
    const around = isLocal && target ? declare(at, scope, [target]) : scope;
    const parameters = nodesIn(node, "parameters").map((one) => (one.type === "Identifier" ? one : "arg"));
    const what = name ?? `the function at line ${node.loc.start.line}`;
    const hidden = target?.["indexer"] === ":" ? ["self"] : [];
    enter(what, nodesIn(node, "body"), [...hidden, ...parameters], at, around);
    return around;
  }
}
