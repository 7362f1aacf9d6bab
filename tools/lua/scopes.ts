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

interface Local {
  readonly name: string;
  readonly owner: LuaFunction | undefined;
}

type Scope = readonly Local[];

/**
 * The names that statements or expressions use and do not declare.
 * @param file for errors
 * @throws if they, or a function in them, have more locals or upvalues than Lua allows. `redis` counts as an upvalue, because
 *   a wrapper such as the gateway's shim makes it a local
 */
export function freeNames(file: string, nodes: readonly LuaNode[]): ReadonlySet<string> {
  const free = new Set<string>();
  enter("the text", nodes, [], undefined, [{ name: "redis", owner: undefined }]);
  return free;

  function enter(
    what: string,
    body: readonly LuaNode[],
    parameters: readonly string[],
    parent: LuaFunction | undefined,
    around: Scope,
  ): void {
    const entered = { what, parent, upvalues: new Set<Local>() };
    visitAll(entered, body, declare(entered, around, parameters));
    check(entered, entered.upvalues.size, "upvalues", MOST_UPVALUES);
  }

  function declare(owner: LuaFunction, scope: Scope, names: readonly string[]): Scope {
    const wider = [...scope, ...names.map((name) => ({ name, owner }))];
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
        use(at, nameOf(node), scope);
        break;
      case "LocalStatement":
        visitAll(at, inner("init"), scope);
        return declare(at, scope, inner("variables").map(nameOf));
      case "FunctionDeclaration":
        return declared(at, node, scope);
      case "ForNumericStatement":
      case "ForGenericStatement": {
        visitAll(at, inner("start", "end", "step", "iterators"), scope);
        const variables = inner("variable", "variables").map(nameOf);
        visitAll(at, inner("body"), declare(at, scope, [...FOR_LOOP, ...variables]));
        break;
      }
      default:
        visitAll(at, inner(...(FIELDS[node.type] ?? Object.keys(node))), scope);
    }
    return scope;
  }

  function use(at: LuaFunction, name: string, scope: Scope): void {
    const local = scope.findLast((one) => one.name === name);
    if (!local?.owner) free.add(name);
    if (!local) return;
    for (let one: LuaFunction | undefined = at; one && one !== local.owner; one = one.parent)
      one.upvalues.add(local);
  }

  function declared(at: LuaFunction, node: LuaNode, scope: Scope): Scope {
    const target = node["identifier"] as LuaNode | null;
    const name = target?.type === "Identifier" ? nameOf(target) : undefined;
    const isLocal = node["isLocal"] === true;
    if (target && !isLocal) visit(at, target, scope);
    const around = isLocal && name !== undefined ? declare(at, scope, [name]) : scope;
    const parameters = nodesIn(node, "parameters").map((one) =>
      one.type === "Identifier" ? nameOf(one) : "arg",
    );
    const what = name ?? `the function at line ${node.loc.start.line}`;
    const hidden = target?.["indexer"] === ":" ? ["self"] : [];
    enter(what, nodesIn(node, "body"), [...hidden, ...parameters], at, around);
    return around;
  }
}
