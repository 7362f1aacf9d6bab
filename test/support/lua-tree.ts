import luaparse, { type LuaNode } from "luaparse";

const sources = new WeakMap<LuaNode, string>();

export function parse(text: string) {
  const chunk = luaparse.parse(text, {
    luaVersion: "5.1",
    locations: true,
    ranges: true,
    scope: true,
    comments: false,
    encodingMode: "pseudo-latin1",
  });
  for (const node of within(chunk)) sources.set(node, text.slice(...node.range));
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

/** The node and all nodes in it. */
export const within = (node: LuaNode): LuaNode[] => [node, ...children(node).flatMap(within)];
