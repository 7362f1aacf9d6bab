// Mutants that are made by rule from the scripts and the core of src/, and sampled by a seed.

import { createHash } from "node:crypto";
import { type Edit, mutated } from "./anchor.ts";
import { lua, type Source, sourcesOf, src } from "./syntax/languages.ts";
import { bare, isNode, spanOf, type SyntaxNode, type Visited } from "./syntax/node.ts";

export interface Generated {
  /** What was done, such as "drop a guard". */
  readonly rule: string;
  readonly edit: Edit;
}

const CORE =
  /^(?:lua\/|src\/(?:kernel|features|operate|open|sweep|transports|drain|adapters)\/|src\/retry\.ts)/;

/** What no behaviour follows from: log lines, and the texts of errors. */
const TEXTS = /^(?:console|error|messageOf|invalid|invalidArgument|\w*Error|Problem)$/;

/** Numbers above this are bounds of time and size; one more of them changes nothing that matters. */
const GREATEST = 16;

/** What a clock says is never exactly this. */
const CLOCK = /\b(?:performance|Date)\.now\(\)/;

/** All mutants that the rules make; a few are no valid code. */
export const everyMutant = (): Generated[] =>
  [...sourcesOf(lua), ...sourcesOf(src)].filter(({ file }) => CORE.test(file)).flatMap(mutantsOf);

/** What stays the same if lines come or go elsewhere: the rule, the file, and what is around the place. */
export function nameOf({ rule, edit: { source, from, to } }: Generated): string {
  return `${rule}: ${source.file} ${source.text.slice(Math.max(0, from - 40), to + 40).replace(/\s+/g, " ")}`;
}

/** `count` mutants. The same seed draws the same ones, except where the sources have changed. */
export function generate(count: number, seed: number): Generated[] {
  const placeOf = (one: Generated) =>
    createHash("sha1")
      .update(`${seed} ${nameOf(one)}`)
      .digest("hex");
  const shuffled = everyMutant()
    .map((mutant) => ({ mutant, place: placeOf(mutant) }))
    .toSorted((one, other) => (one.place < other.place ? -1 : 1));
  const chosen: Generated[] = [];
  for (const { mutant } of shuffled) {
    if (chosen.length === count) break;
    if (isValid(mutant.edit)) chosen.push(mutant);
  }
  return chosen;
}

function mutantsOf(source: Source): Generated[] {
  const made: Generated[] = [];
  let skippedTo = 0;
  for (const visited of source.nodes) {
    const [from, to] = spanOf(visited.node);
    if (from < skippedTo) continue;
    if (isText(visited.node)) skippedTo = to;
    else
      for (const [rule, ...edit] of editsAt(source, visited)) made.push({ rule, edit: editOf(source, edit) });
  }
  return made;
}

type Raw = readonly [rule: string, from: number, to: number, text: string];

const editOf = (source: Source, [from, to, text]: readonly [number, number, string]): Edit => ({
  source,
  from,
  to,
  text,
});

function isValid(edit: Edit): boolean {
  try {
    return Boolean(edit.source.language.parse(mutated(edit), edit.source.file));
  } catch {
    return false;
  }
}

/** Whether the node is only for readers, or a type. */
function isText(node: SyntaxNode): boolean {
  if (/^TS|^Import|^Export(?:All|Default)/.test(node.type) && bare(node) === node) return true;
  if (!/^(?:Call|New)Expression$/.test(node.type)) return false;
  let called = node["callee"] ?? node["base"];
  while (isNode(called) && isNode(called["object"])) called = called["object"];
  return isNode(called) && TEXTS.test(String(called["name"]));
}

function* editsAt(source: Source, { node, parent, lists }: Visited): Generator<Raw> {
  const { language, text } = source;
  const [from, to] = spanOf(node);
  const { type, operator, value } = node;
  const condition = node["condition"] ?? node["test"];
  if (/^(?:If|Elseif|Conditional)/.test(type) && isNode(condition)) {
    const span = spanOf(condition);
    yield ["negate a condition", ...span, language.not(text.slice(...span))];
  }
  if (isGuard(node)) yield ["drop a guard", from, to, language.nothing];
  if (type === "NumericLiteral" || typeof value === "number") {
    const isKey =
      parent?.type === "IndexExpression" && /^(?:KEYS|ARGV)\[/.test(text.slice(...spanOf(parent)));
    if (Number(value) <= GREATEST && !isKey) yield ["one more", from, to, String(Number(value) + 1)];
  }
  const { left, right } = node;
  if (isNode(left) && isNode(right) && typeof operator === "string") {
    const other = OTHER[operator];
    const [at, end] = [spanOf(left)[1], spanOf(right)[0]];
    const between = text.slice(at, end);
    if (other && !(/[<>]/.test(operator) && CLOCK.test(text.slice(from, to)))) {
      yield [`${operator} becomes ${other}`, at, end, between.replace(operator, other)];
    }
  }
  for (const list of lists) yield* editsOfStatements(source, list);
}

const OTHER: Readonly<Record<string, string>> = {
  "<": "<=",
  "<=": "<",
  ">": ">=",
  ">=": ">",
  and: "or",
  or: "and",
  "&&": "||",
  "||": "&&",
};

/** An `if` without `else` that only leaves. */
function isGuard(node: SyntaxNode): boolean {
  if (node.type !== "IfStatement" || isNode(node["alternate"])) return false;
  const clauses = node["clauses"];
  if (Array.isArray(clauses) && clauses.length > 1) return false;
  const [body] = Array.isArray(clauses) ? [clauses[0].body] : [node["consequent"]];
  const statements = Array.isArray(body)
    ? body
    : isNode(body) && Array.isArray(body["body"])
      ? body["body"]
      : [body];
  return statements.length <= 2 && /^(?:Return|Throw|Continue|Break)/.test(statements.at(-1)?.type ?? "");
}

function* editsOfStatements({ language, text }: Source, list: readonly SyntaxNode[]): Generator<Raw> {
  for (const [i, node] of list.entries()) {
    const written = writtenBy(node, text);
    if (written === undefined) continue;
    const [from, to] = spanOf(node);
    yield ["drop a write", from, to, language.nothing];
    const next = list[i + 1];
    // The order of writes to different keys shows nowhere.
    if (next && written !== "" && writtenBy(next, text) === written) {
      const [start, end] = spanOf(next);
      yield [
        "swap two writes",
        from,
        end,
        text.slice(start, end) + text.slice(to, start) + text.slice(from, to),
      ];
    }
  }
}

const READING = /^.(?:GET|EXISTS|TIME|[HZSL]?(?:M?GET|LEN|CARD|RANGE|SCORE|MSCORE|SCAN|STRLEN))\b/;

/** The key that a statement writes, as it is written in it; "" if it is unknown, undefined if it writes none. */
function writtenBy(node: SyntaxNode, text: string): string | undefined {
  const call = node["expression"];
  if (!isNode(call)) return undefined;
  if (node.type === "ExpressionStatement") {
    return /^(?:Call|Await|Assignment|Update)Expression$/.test(call.type) && !isText(call) ? "" : undefined;
  }
  if (node.type !== "CallStatement") return undefined;
  const called = isNode(call["base"]) ? text.slice(...spanOf(call["base"])) : "";
  const given = Array.isArray(call["arguments"]) ? call["arguments"] : [];
  const [first, second] = given.filter(isNode).map((one) => text.slice(...spanOf(one)));
  if (called === "plan_write") return second ?? "";
  if (!/^(?:redis\.p?call|write)$/.test(called)) return "";
  return READING.test(first ?? "") ? undefined : (second ?? "");
}
