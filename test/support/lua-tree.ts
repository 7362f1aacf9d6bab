import luaparse, { type LuaChunk, type LuaNode } from "luaparse";

const sources = new WeakMap<LuaNode, string>();
const parsed = new Map<string, LuaChunk>();

/** The syntax tree. A text is parsed once: all scripts are checked against that of what they share. */
export function parse(text: string): LuaChunk {
  const known = parsed.get(text);
  if (known) return known;
  const chunk = luaparse.parse(text, {
    luaVersion: "5.1",
    locations: true,
    ranges: true,
    scope: true,
    comments: false,
    encodingMode: "pseudo-latin1",
  });
  for (const node of within(chunk)) sources.set(node, text.slice(...node.range));
  parsed.set(text, chunk);
  return chunk;
}

/** The text of a node. */
export const source = (node: LuaNode): string => sources.get(node) ?? "";

/** The nodes of a field. */
export const list = (node: LuaNode, field: string) => (node[field] ?? []) as readonly LuaNode[];

const isNode = (value: unknown): value is LuaNode =>
  typeof value === "object" && value !== null && "type" in value;

export const children = (node: LuaNode): LuaNode[] =>
  Object.entries(node)
    .flatMap(([field, value]) => (field === "globals" ? [] : value))
    .filter(isNode);

const nodes = new WeakMap<LuaNode, readonly LuaNode[]>();

/** The node and all nodes in it. */
export function within(node: LuaNode): readonly LuaNode[] {
  const known = nodes.get(node) ?? [node, ...children(node).flatMap(within)];
  nodes.set(node, known);
  return known;
}
