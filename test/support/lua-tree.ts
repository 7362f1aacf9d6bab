import luaparse, { type LuaNode } from "luaparse";

export const parse = (text: string) =>
  luaparse.parse(text, {
    luaVersion: "5.1",
    locations: true,
    scope: true,
    comments: false,
    encodingMode: "pseudo-latin1",
  });

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
