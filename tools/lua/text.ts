// Lua as text: read, and written as short as it may be without losing its lines and names.

import luaparse, { type LuaChunk, type LuaNode } from "luaparse";

export interface LuaFile {
  /** Such as `enqueue.lua`. */
  readonly file: string;
  readonly text: string;
}

/**
 * The syntax tree.
 * @throws for what is no Lua 5.1, and for strings and comments in long brackets or over several lines: what reads
 *   lua/ line by line, also in other languages, would take them for code
 */
export function parseLua({ file, text }: LuaFile): LuaChunk {
  const refuse = (what: string) => new Error(`${file}: not to be embedded: ${what}`);
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
 * The code without comments, blank lines, and spaces that nothing needs; what stands on one line stays on one, so that
 * an error's line says where it is.
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

/** True where two tokens would be read as others without a space between them. */
const needsSpace = (one: string, other: string) =>
  /^(?:\w\w|--|\.[.\d]|\d\.)$/.test(one.slice(-1) + other[0]);

export const nameOf = (node: LuaNode): string => String(node["name"]);

/** The nodes in these fields of a node, one or many in each. */
export function nodesIn(node: LuaNode, ...fields: readonly string[]): LuaNode[] {
  const isNode = (one: unknown): one is LuaNode => typeof one === "object" && one !== null && "type" in one;
  return fields.flatMap((field) => node[field]).filter(isNode);
}
