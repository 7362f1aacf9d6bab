// Patterns: code with wildcards, which is parsed and compared with the syntax trees of sources.
//   _         any expression or name          _1 … _9   the same, for use in what replaces it
//   …         any number of statements or arguments, or of properties as `..._`
// Spaces, comments, quotes, parentheses and types do not matter. A chain of `and` or `or` is also found
// within a longer chain.

import type { Form, Language, Source } from "./languages.ts";
import {
  bare,
  continues,
  fieldsOf,
  isNode,
  operandsOf,
  spanOf,
  type SyntaxNode,
  visit,
  type Visited,
} from "./node.ts";

export interface Pattern {
  readonly form: Form;
  /** One, or several statements. */
  readonly nodes: readonly SyntaxNode[];
}

/** A place in a source that a pattern describes. */
export interface Match {
  readonly from: number;
  readonly to: number;
  /** Where `_1` to `_9` and `…` are, by their name. */
  readonly captured: Captured;
  /** What it consists of, and what that is a part of. */
  readonly nodes: readonly SyntaxNode[];
  readonly parent: SyntaxNode | undefined;
}

type Captured = Map<string, readonly [from: number, to: number]>;

const REST = "___";

/**
 * @param forms in the order in which they are tried
 * @throws if it is none of them
 */
export function parsePattern(language: Language, text: string, forms: readonly Form[]): Pattern {
  const written = text.replaceAll("…", `${REST}() `);
  for (const form of forms) {
    const [before, after] = language.around[form];
    try {
      const tree = language.parse(`${before}${written}${after}`, "a pattern");
      return { form, nodes: nodesAt(tree, before.length, before.length + written.length, form) };
    } catch {
      // Perhaps it is the next form.
    }
  }
  throw new Error(`cannot be parsed: ${text}`);
}

/** The outermost nodes that lie within the range. */
function nodesAt(tree: SyntaxNode, from: number, to: number, form: Form): SyntaxNode[] {
  const isWithin = (node: SyntaxNode) => spanOf(node)[0] >= from && spanOf(node)[1] <= to;
  const found = Array.from(visit(tree)).filter(
    ({ node, parent }) => isWithin(node) && !(parent && isWithin(parent)),
  );
  const nodes = found.map(({ node }) => node);
  // `name: value` is a statement with a label, too.
  const isLabel = nodes.some(({ type }) => type === "LabeledStatement");
  if (isLabel || nodes.length === 0 || (form !== "statements" && nodes.length > 1))
    throw new Error("not of this form");
  return nodes;
}

/** The places in a source, within the functions or classes of these names. */
export function matchesIn(source: Source, pattern: Pattern, within: readonly string[]): Match[] {
  const found = new Map<string, Match>();
  for (const visited of source.nodes) {
    if (!isSubsequence(within, visited.names)) continue;
    for (const match of matchesAt(source, pattern, visited)) found.set(`${match.from}-${match.to}`, match);
  }
  return [...found.values()];
}

function* matchesAt({ text }: Source, pattern: Pattern, { node, parent, lists }: Visited): Generator<Match> {
  const [first] = pattern.nodes as [SyntaxNode];
  if (pattern.form !== "statements") {
    if (first.type === "LogicalExpression" && node.type === first.type) {
      if (node["operator"] === first["operator"] && !continues(node, parent))
        yield* runs(text, operandsOf(first), operandsOf(node), node);
      return;
    }
    const captured = new Map() as Captured;
    if (node === bare(node) && isSame(first, node, captured)) {
      const [from, to] = spanOf(node);
      yield { from, to, captured, nodes: [node], parent };
    }
    return;
  }
  for (const list of lists) yield* runs(text, pattern.nodes, list, node);
}

/** The places in a list of nodes where some that follow each other are as wanted. */
function* runs(
  text: string,
  wanted: readonly SyntaxNode[],
  nodes: readonly SyntaxNode[],
  parent: SyntaxNode,
): Generator<Match> {
  const most = wanted.some(isRest) ? nodes.length : wanted.length;
  for (let start = 0; start < nodes.length; start++) {
    for (let end = start + 1; end <= Math.min(start + most, nodes.length); end++) {
      const run = nodes.slice(start, end);
      const captured = new Map() as Captured;
      if (!areSame(wanted, run, captured)) continue;
      const [from] = outerSpan(text, run[0] as SyntaxNode);
      const [, to] = outerSpan(text, run.at(-1) as SyntaxNode);
      yield { from, to, captured, nodes: run, parent };
    }
  }
}

/** Where a node is, with the parentheses around it. */
function outerSpan(text: string, node: SyntaxNode): [number, number] {
  const [from, to] = spanOf(node);
  if (node["inParens"] !== true) return [from, to];
  return [text.lastIndexOf("(", from - 1), text.indexOf(")", to) + 1];
}

function areSame(wanted: readonly unknown[], found: readonly unknown[], captured: Captured): boolean {
  if (wanted.length === 0) return found.length === 0;
  const [first, ...others] = wanted;
  if (isRest(first)) {
    const rest = found.findIndex((_, i) => areSame(others, found.slice(i), captured));
    const run = rest < 0 ? found : found.slice(0, rest);
    if (rest < 0 && others.length > 0) return false;
    if (run.length > 0)
      captured.set("…", [spanOf(run[0] as SyntaxNode)[0], spanOf(run.at(-1) as SyntaxNode)[1]]);
    return true;
  }
  return found.length > 0 && isSame(first, found[0], captured) && areSame(others, found.slice(1), captured);
}

function isRest(value: unknown): boolean {
  if (!isNode(value)) return false;
  if (value.type === "SpreadElement") return nameOf(value["argument"]) === "_";
  const call = /^(?:Expression|Call)Statement$/.test(value.type) ? value["expression"] : value;
  return isNode(call) && call.type === "CallExpression" && nameOf(call["callee"] ?? call["base"]) === REST;
}

const nameOf = (value: unknown) =>
  isNode(value) && value.type === "Identifier" ? String(value["name"]) : undefined;

function isSame(wanted: unknown, found: unknown, captured: Captured): boolean {
  if (Array.isArray(wanted)) return Array.isArray(found) && areSame(wanted, found, captured);
  if (!isNode(wanted) || !isNode(found)) {
    if (typeof wanted !== "object" || wanted === null) return wanted === found;
    // Of a regular expression, or a template's text.
    return typeof found === "object" && JSON.stringify(wanted) === JSON.stringify(found);
  }
  const [one, other] = [bare(wanted), bare(found)];
  const name = nameOf(one);
  if (name === "_") return true;
  if (name !== undefined && /^_\d$/.test(name)) {
    captured.set(name, spanOf(other));
    return true;
  }
  // `a = b` in a pattern is also a parameter's default.
  const isDefault = one.type === "AssignmentExpression" && other.type === "AssignmentPattern";
  if (one.type !== other.type && !isDefault) return false;
  if (one.type === "LogicalExpression") {
    return one["operator"] === other["operator"] && areSame(operandsOf(one), operandsOf(other), captured);
  }
  return fieldsOf(one).every(
    ([field, value]) => (isDefault && field === "operator") || isSame(value, other[field], captured),
  );
}

/** Whether the names occur in this order. */
function isSubsequence(wanted: readonly string[], names: readonly string[]): boolean {
  let next = 0;
  for (const name of names) if (name === wanted[next]) next += 1;
  return next === wanted.length;
}
