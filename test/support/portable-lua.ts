import type { LuaNode } from "luaparse";
import { children, list, parse, source, within } from "./lua-tree.ts";

/** The comment above a loop over a table in no fixed order, with the reason why the order does not matter. */
const ANY_ORDER = /^\s*-- In any order: \S/;

type Breach = (node: LuaNode, what: string) => void;

/**
 * The places at which a Lua file would behave differently in another Lua 5.1 (law 8); empty if there are
 * none.
 * @param others the texts that call its functions, or declare those that it calls
 */
export function portableBreaches(text: string, others: readonly string[] = []): string[] {
  const chunk = parse(text);
  const lines = text.split("\n");
  const breaches: string[] = [];
  const breach: Breach = (node, what) => breaches.push(`line ${node.loc.start.line}: ${what}`);
  const parents = new Map<LuaNode, LuaNode>();
  for (const node of within(chunk)) for (const inner of children(node)) parents.set(inner, node);

  for (const node of within(chunk)) {
    if (node.type === "AssignmentStatement") assignment(node, breach);
    if (node.type === "CallExpression") call(node, parents.get(node), lines, breach);
    if (node.type === "ForGenericStatement" && within(list(node, "iterators")[0]!).some(isPairs)) {
      if (!ANY_ORDER.test(lines[node.loc.start.line - 2] ?? "")) {
        breach(node, "pairs without a line above it that says `-- In any order: why`");
      }
    }
  }
  optionalAtEnd(chunk, breach);
  values(chunk, others.map(parse), breach);
  return breaches;
}

/** GopherLua may write to a local before it has computed all assigned values. And a nil leaves a hole. */
function assignment(node: LuaNode, breach: Breach): void {
  const targets = list(node, "variables");
  const values = list(node, "init");
  const early = targets.some(
    (target, i) =>
      targets.length > 1 &&
      target.type === "Identifier" &&
      values.some((value, j) => {
        const parts = within(value);
        const calls = parts.some(({ type }) => type === "CallExpression");
        return (j > i || (j === i && calls)) && parts.some((part) => source(part) === source(target));
      }),
  );
  if (early) breach(node, "an assignment to several reads what it assigns: make it two");
  // It writes the table over another local, such as an argument.
  const isTable = ({ type }: LuaNode) => type === "TableConstructorExpression";
  const isCall = ({ type }: LuaNode) => type === "CallExpression";
  if (targets.length > 1 && targets.some(({ type }) => type === "Identifier") && values.some(isTable)) {
    breach(node, "an assignment to several has a table: make it two");
  }
  // The same goes for what a call returns, unless it is the last value.
  if (!early && targets.every(({ type }) => type === "Identifier") && values.slice(0, -1).some(isCall)) {
    breach(node, "an assignment to several has a call that is not the last value: make it two");
  }
  targets.forEach((target, i) => {
    const value = values[i];
    if (target.type !== "Identifier" || value?.type !== "LogicalExpression") return;
    if (mayKeepOld(value)) {
      breach(node, "an assignment of `and` or `or` to a local that exists: use `if`, or a local of its own");
    } else if (readsLate(value, source(target))) {
      breach(node, "an assignment reads what it assigns behind `and` or `or`: use another local, or `if`");
    }
  });
  targets.forEach((target, i) => {
    if (isEnd(target) && mayBeNil(values[i])) breach(node, "nil may be put at the end of a list: use append");
  });
}

/**
 * True if `and` or `or` reads a name after GopherLua may have written to it: it writes there the values that
 * it tests and calls, but not those that it compares.
 */
function readsLate(node: LuaNode, name: string): boolean {
  const operands = operandsOf(node);
  return operands.some((operand, i) => {
    if (i === 0 || !within(operand).some((one) => source(one) === name)) return false;
    const kept = operands.slice(0, i).some((one) => !isComparison(one) && source(one) !== name);
    return kept || !(source(operand) === name || isComparison(operand));
  });
}

/** True for `and` and `or` of more than names and comparisons: GopherLua may keep the old value of the local. */
function mayKeepOld(value: LuaNode): boolean {
  return operandsOf(value).some(
    (one) => one.type !== "Identifier" && !(isComparison(one) && one.type === "BinaryExpression"),
  );
}

const operandsOf = (node: LuaNode): LuaNode[] =>
  node.type === "LogicalExpression"
    ? [node["left"], node["right"]].flatMap((operand) => operandsOf(operand as LuaNode))
    : [node];

const isComparison = (node: LuaNode) =>
  (node.type === "BinaryExpression" && /^(?:[<>]=?|[=~]=)$/.test(String(node["operator"]))) ||
  (node.type === "UnaryExpression" && node["operator"] === "not");

function call(node: LuaNode, parent: LuaNode | undefined, lines: readonly string[], breach: Breach): void {
  const args = list(node, "arguments");
  const name = source(node["base"] as LuaNode);
  const last = args.at(-1);
  if (last?.type === "CallExpression" && !inParentheses(last, lines)) {
    const inner = source(last["base"] as LuaNode);
    if (inner === "string.match")
      breach(last, "string.match as an argument, which may return nothing: use parentheses");
  }
  if (name === "string.format") {
    const [form, number] = args;
    const isNumber =
      number?.type === "CallExpression" &&
      source(number["base"] as LuaNode) === "tonumber" &&
      args.length === 2;
    if (!/^%(?:0\d+)?\.0f$/.test(String(form?.["value"])) || !isNumber) {
      breach(node, "string.format must be of '%.0f', or of '%0….0f', and of one tonumber(…)");
    }
  }
  if (name === "next" && !(args.length === 1 && isCondition(node, parent))) {
    breach(node, "next may only test whether a table is empty");
  }
  if (name === "string.byte" && args.length < 3) breach(node, "string.byte needs both positions");
  if (name === "pairs" && parent?.type !== "ForGenericStatement") breach(node, "pairs outside a for");
}

/** A parameter that some call leaves out must not be put at the end of a list without a check for nil. */
function optionalAtEnd(chunk: LuaNode, breach: Breach): void {
  const calls = within(chunk).filter(({ type }) => type === "CallExpression");
  for (const declared of functionsOf(chunk)) {
    const fewest = Math.min(
      ...calls
        .filter((one) => source(one["base"] as LuaNode) === declared.name)
        .filter((one) => !isOpen(list(one, "arguments").at(-1)))
        .map((one) => list(one, "arguments").length),
    );
    const optional = list(declared.node, "parameters").slice(fewest).map(source);
    const guarded = new Set(
      within(declared.node)
        .filter(({ type }) => type === "IfClause")
        .flatMap((clause) => {
          const name = /^(\w+) ~= nil$/.exec(source(clause["condition"] as LuaNode))?.[1];
          return name === undefined ? [] : within(clause).filter((one) => source(one) === name);
        }),
    );
    for (const node of within(declared.node).filter(({ type }) => type === "AssignmentStatement")) {
      list(node, "variables").forEach((target, i) => {
        const value = list(node, "init")[i];
        if (isEnd(target) && value && optional.includes(source(value)) && !guarded.has(value)) {
          breach(node, "nil may be put at the end of a list: use append");
        }
      });
    }
  }
}

/**
 * If a function returns fewer values than its caller takes, GopherLua of 2017 returns leftovers for the rest.
 */
function values(chunk: LuaNode, others: readonly LuaNode[], breach: Breach): void {
  const chunks = [...others, chunk];
  const declared = new Map(chunks.flatMap(functionsOf).map(({ name, node }) => [name, node]));
  const wanted = new Map<string, number>();
  const want = (value: LuaNode | undefined, count: number): void => {
    if (value?.type !== "CallExpression") return;
    const name = source(value["base"] as LuaNode);
    const node = declared.get(name);
    if (!node || count < 2 || count <= (wanted.get(name) ?? 1)) return;
    wanted.set(name, count);
    // If it returns the values of another function, that one must return as many.
    for (const given of returnsOf(node)) want(given.at(-1), count - given.length + 1);
  };
  for (const node of chunks.flatMap(within)) {
    if (node.type !== "LocalStatement" && node.type !== "AssignmentStatement") continue;
    const given = list(node, "init");
    want(given.at(-1), list(node, "variables").length - given.length + 1);
  }
  const own = functionsOf(chunk);
  for (const { name, node } of own) {
    const count = wanted.get(name) ?? 1;
    for (const given of returnsOf(node)) {
      if (given.length > 0 && given.length < count && !isOpen(given.at(-1))) {
        breach(given[0]!, `${name} returns ${given.length} of the ${count} values that are taken from it`);
      }
    }
  }
}

interface Declared {
  readonly name: string;
  readonly node: LuaNode;
}

function functionsOf(chunk: LuaNode): Declared[] {
  return within(chunk).flatMap((node) =>
    node.type === "FunctionDeclaration" && node["identifier"]
      ? [{ name: source(node["identifier"] as LuaNode), node }]
      : [],
  );
}

/** The values of each `return` of a function, without those of functions within it. */
function returnsOf(node: LuaNode): (readonly LuaNode[])[] {
  return children(node).flatMap((inner) => {
    if (inner.type === "FunctionDeclaration") return [];
    return inner.type === "ReturnStatement" ? [list(inner, "arguments")] : returnsOf(inner);
  });
}

/** True for an expression of any number of values. */
function isOpen(node: LuaNode | undefined): boolean {
  return node?.type === "CallExpression" || node?.type === "VarargLiteral";
}

/** True for a call of one value: `(f())`. The parser does not report it. */
function inParentheses(node: LuaNode, lines: readonly string[]): boolean {
  const { line, column } = node.loc.start;
  return /(?:^|[\s(,={])\($/.test((lines[line - 1] ?? "").slice(0, column));
}

const isPairs = (node: LuaNode) => node.type === "Identifier" && node["name"] === "pairs";

/** True for the position after the end of a list: `x[#x + 1]`. */
const isEnd = (node: LuaNode) => /^(.+)\[#\1 \+ 1\]$/.test(source(node));

function mayBeNil(node: LuaNode | undefined): boolean {
  if (!node || node.type === "NilLiteral") return true;
  if (node.type !== "LogicalExpression")
    return isOpen(node) && source(node["base"] as LuaNode) === "string.match";
  return node["operator"] === "and" || mayBeNil(node["right"] as LuaNode);
}

function isCondition(node: LuaNode, parent: LuaNode | undefined): boolean {
  if (!parent) return false;
  if (parent.type === "UnaryExpression") return parent["operator"] === "not";
  if (parent.type === "LogicalExpression") return parent["operator"] === "and" && parent["right"] === node;
  return parent["condition"] === node;
}
