// Lua as text: parsed, and compacted without losing its lines and names.

import luaparse, { type LuaChunk, type LuaNode } from "luaparse";

export interface LuaFile {
  /** Such as `enqueue.lua`. */
  readonly file: string;
  readonly text: string;
  /** Whether only the linked edition of the scripts has it. @default false */
  readonly inLayer?: boolean | undefined;
}

/**
 * The syntax tree.
 * @throws for anything that is not Lua 5.1, and for strings and comments in long brackets or over several
 *   lines: programs that read lua/ line by line, also in other languages, would mistake them for code
 */
export function parseLua({ file, text }: LuaFile): LuaChunk {
  const refuse = (what: string) => new Error(`${file}: cannot be embedded: ${what}`);
  const long = /\[=*\[|\\\n/.exec(text)?.[0];
  if (long !== undefined) throw refuse(JSON.stringify(long));
  try {
    return luaparse.parse(text, {
      luaVersion: "5.1",
      locations: true,
      ranges: true,
      comments: false,
      encodingMode: "pseudo-latin1",
    });
  } catch (error) {
    if (error instanceof SyntaxError) throw refuse(error.message);
    throw error;
  }
}

/**
 * The code without comments, blank lines and unneeded spaces. Each line stays a line of its own, so that the
 * line of an error says where it is.
 */
export function compact(text: string): string {
  const lexer = luaparse.parse(text, { wait: true, luaVersion: "5.1", comments: false });
  let code = "";
  let end = 0;
  for (let token; (token = lexer.lex()).type !== luaparse.tokenTypes.EOF;) {
    const [from, to] = token.range;
    const word = text.slice(from, to);
    const gap = text.slice(end, from).includes("\n") ? "\n" : needsSpace(code, word) ? " " : "";
    code += (code && gap) + word;
    end = to;
  }
  return code && `${code}\n`;
}

/** Whether two tokens would be read as other tokens without a space between them. */
const needsSpace = (one: string, other: string) =>
  /^(?:\w\w|--|\.[.\d]|\d\.)$/.test(one.slice(-1) + other[0]);

export const nameOf = (node: LuaNode): string => String(node["name"]);

/** The nodes in these fields of a node, one or many in each. */
export function nodesIn(node: LuaNode, ...fields: readonly string[]): LuaNode[] {
  const nodes: LuaNode[] = [];
  for (const field of fields) {
    const value = node[field];
    if (typeof value !== "object" || value === null) continue;
    for (const one of Array.isArray(value) ? value : [value]) if (isNode(one)) nodes.push(one);
  }
  return nodes;
}

const isNode = (one: unknown): one is LuaNode => typeof one === "object" && one !== null && "type" in one;
