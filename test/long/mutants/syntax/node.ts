/** A node of a syntax tree: luaparse's for Lua, ESTree for TypeScript. */
export interface SyntaxNode {
  readonly type: string;
  readonly [field: string]: unknown;
}

export const isNode = (value: unknown): value is SyntaxNode =>
  typeof value === "object" && value !== null && "type" in value && typeof value.type === "string";

/** Where a node is in its text. luaparse leaves out the parentheses around an expression. */
export function spanOf(node: SyntaxNode): [from: number, to: number] {
  const { range, start, end } = node as { range?: [number, number]; start?: number; end?: number };
  return range ? [...range] : [Number(start), Number(end)];
}

/** What says nothing about what the code does: places, spelling, types. `start` and `end` may be a loop's. */
const IGNORED = new Set(
  (
    "type range loc raw inParens parent kind directive hashbang decorators definite declare accessibility " +
    "override readonly abstract implements typeAnnotation returnType typeParameters typeArguments superTypeArguments"
  ).split(" "),
);

/** The fields that matter, in the order of the text. */
const fieldsOf = (node: SyntaxNode): [string, unknown][] =>
  Object.entries(node).filter(
    ([field, value]) => !IGNORED.has(field) && (isNode(value) || (field !== "start" && field !== "end")),
  );

/** The expression without the parentheses, casts and assertions around it. */
export function bare(node: SyntaxNode): SyntaxNode {
  const isWrapped = /^(?:ParenthesizedExpression|TS(?:As|Satisfies|NonNull)Expression|ChainExpression)$/.test(
    node.type,
  );
  return isWrapped && isNode(node["expression"]) ? bare(node["expression"]) : node;
}

/** The operands of a chain of one `and`, `or` or `??`; of anything else, itself alone. */
export function operandsOf(node: SyntaxNode): SyntaxNode[] {
  if (node.type !== "LogicalExpression") return [node];
  const { left, right } = node as unknown as Record<"left" | "right", SyntaxNode>;
  return [...(continues(left, node) ? operandsOf(left) : [left]), right];
}

/** Whether a node is the first part of its parent's chain. */
export const continues = (node: SyntaxNode, parent: SyntaxNode | undefined): boolean =>
  node.type === "LogicalExpression" &&
  node === parent?.["left"] &&
  node["operator"] === parent["operator"] &&
  node["inParens"] !== true;

/** A node with the names of the functions, classes and variables around it, the outermost first. */
export interface Visited {
  readonly node: SyntaxNode;
  readonly names: readonly string[];
  readonly parent: SyntaxNode | undefined;
  /** The nodes in each of its fields. */
  readonly lists: readonly (readonly SyntaxNode[])[];
}

/** All nodes, each before those in it. */
export function* visit(
  node: SyntaxNode,
  names: readonly string[] = [],
  parent?: SyntaxNode,
): Generator<Visited> {
  const lists = fieldsOf(node).map(([, value]) => (Array.isArray(value) ? value : [value]).filter(isNode));
  yield { node, names, parent, lists };
  const inner = [...names, ...namesOf(node)];
  for (const child of lists.flat()) yield* visit(child, inner, node);
}

const DECLARES = /^(?:Function|Class|Variable|Method|Property|Local|Assignment)/;

/** What a declaration declares. */
function namesOf(node: SyntaxNode): string[] {
  if (!DECLARES.test(node.type)) return [];
  const declared = ["id", "key", "identifier", "variables"].flatMap((field) => node[field]);
  return declared.filter(isNode).flatMap((one) => {
    const { type, name } = isNode(one["identifier"]) ? one["identifier"] : one;
    return typeof name === "string" ? [type === "PrivateIdentifier" ? `#${name}` : name] : [];
  });
}
