// Patterns: code with wildcards, which is compared with the text of each node of a syntax tree, of each run of
// statements, and of each part of a chain of `and` or `or`.
//   _         any code                      _1 … _9   the same, for use in what replaces it
//   …         any number of statements, arguments or properties
// Spaces, comments, the kind of quotes and a last comma do not matter.

import type { Source } from "./languages.ts";
import { continues, operandsOf, spanOf, type SyntaxNode, type Visited } from "./node.ts";

/** A place in a source that a pattern describes. */
export interface Match {
  readonly from: number;
  readonly to: number;
  /** What `_1` to `_9` and `…` are, by their name. */
  readonly captured: ReadonlyMap<string, string>;
  /** Its first node, and what that is a part of. */
  readonly node: SyntaxNode;
  readonly parent: SyntaxNode | undefined;
}

const GAP = String.raw`(?:\s|--[^\n]*|//[^\n]*)*`;

/** The names and words in a pattern, by which a file that cannot have it is skipped. */
export const wordsOf = (pattern: string): string[] => pattern.match(/\b[A-Za-z]\w*/g) ?? [];

function expressionOf(pattern: string): RegExp {
  const tokens = pattern.match(/\w+|[^\s\w]/g) ?? [];
  return new RegExp(`^${tokens.map(partOf).join(GAP)}$`);
}

function partOf(token: string): string {
  if (token === "_") return "[^]+?";
  if (/^_\d$/.test(token)) return `(?<${token}>[^]+?)`;
  if (token === "…") return "(?<rest>[^]*?)";
  if (/^\w/.test(token)) return `\\b${token}\\b`;
  if (/["']/.test(token)) return `["']`;
  return /[)\]}]/.test(token) ? `,?${GAP}\\${token}` : `\\${token}`;
}

/** The places in a source, within the functions or classes of these names. */
export function matchesIn({ text, nodes }: Source, pattern: string, within: readonly string[]): Match[] {
  const expression = expressionOf(pattern);
  /** By where they begin, the shortest ones. */
  const found = new Map<number, Match>();
  for (const visited of nodes) {
    if (!isSubsequence(within, visited.names)) continue;
    for (const [first, last] of runsAt(visited)) {
      // The clause of an `if` in Lua is without its `end`.
      if (first.type.endsWith("Clause")) continue;
      const [from, to] = [spanOf(first)[0], spanOf(last)[1]];
      const groups = expression.exec(text.slice(from, to));
      // A statement comes before the expression of which it consists.
      if (!groups || to >= (found.get(from)?.to ?? Infinity)) continue;
      const captured = new Map(Object.entries(groups.groups ?? {}));
      const parent = first === visited.node ? visited.parent : visited.node;
      found.set(from, { from, to, captured, node: first, parent });
    }
  }
  return [...found.values()];
}

/** A node, each run of nodes in one of its lists, and each part of a chain. */
function* runsAt({
  node,
  parent,
  lists,
}: Visited): Generator<readonly [first: SyntaxNode, last: SyntaxNode]> {
  yield [node, node];
  const chain = continues(node, parent) ? [] : operandsOf(node);
  for (const list of [...lists, chain]) {
    for (const [i, first] of list.entries()) for (const last of list.slice(i + 1)) yield [first, last];
  }
}

/** Whether the names occur in this order. */
function isSubsequence(wanted: readonly string[], names: readonly string[]): boolean {
  let next = 0;
  for (const name of names) if (name === wanted[next]) next += 1;
  return next === wanted.length;
}
