// Scripts that say which of their blocks ran: `npm run test:coverage`.

import type { LuaNode } from "luaparse";
import type { LuaFiles } from "../../tools/lua/files.ts";
import { parseLua, type LuaFile } from "../../tools/lua/text.ts";

/** A run of statements that either all run, or stop with an error. */
export interface Block {
  /** Such as `kernel/enqueue.lua`. */
  readonly file: string;
  /** Its first line. */
  readonly line: number;
  /** The lines of the statements of which it consists. */
  readonly lines: readonly number[];
  /** Whether it is the missing `else` of an `if`. */
  readonly isImplicit: boolean;
}

/** What a script writes into Redis's log when a block first runs in a call, before the number of the block. */
export const MARK = "sluice-block ";

/** The same files, whose scripts log the blocks that run; and the blocks, by number. */
export function marked({ shared, scripts }: LuaFiles): { files: LuaFiles; blocks: Block[] } {
  const blocks: Block[] = [];
  const mark = (file: LuaFile, isShared: boolean): LuaFile => {
    const places: { at: number; text: string }[] = [];
    const add = (at: number, lines: readonly number[], isImplicit = false) => {
      const number = blocks.length;
      blocks.push({ file: file.file, line: lines[0] ?? 0, lines, isImplicit });
      // ARGV is a global and no upvalue, of which a function may have only some. A key that is no number does
      // not change its length.
      const field = `ARGV.b${number}`;
      const log = `if not ${field} then ${field} = 1 redis.log(redis.LOG_WARNING, '${MARK}${number}') end`;
      places.push({ at, text: isImplicit ? `else ${log} ` : `${log} ` });
    };
    const visit = (node: LuaNode, isTop = false): void => {
      for (const value of Object.values(node)) {
        const nodes = (Array.isArray(value) ? value : [value]).filter(isNode);
        const isBody = Array.isArray(value) && node["body"] === value;
        if (isBody && !(isTop && isShared)) markBlocks(nodes, add);
        for (const one of nodes) visit(one);
      }
      if (node.type === "IfStatement") {
        const clauses = node["clauses"] as LuaNode[];
        if (clauses.at(-1)?.type !== "ElseClause")
          add(node.range[1] - "end".length, [node.loc.end.line], true);
      }
    };
    visit(parseLua(file), true);
    let text = "";
    let end = 0;
    for (const { at, text: added } of places.toSorted((a, b) => a.at - b.at)) {
      text += file.text.slice(end, at) + added;
      end = at;
    }
    return { ...file, text: text + file.text.slice(end) };
  };
  const marks = (files: readonly LuaFile[], isShared: boolean) => files.map((file) => mark(file, isShared));
  return { files: { shared: marks(shared, true), scripts: marks(scripts, false) }, blocks };
}

/** A statement with others in it may leave the function or loop, so that a new block begins after it. */
function markBlocks(body: readonly LuaNode[], add: (at: number, lines: number[]) => void): void {
  let block: LuaNode[] = [];
  const end = () => {
    const [first] = block;
    if (first)
      add(
        first.range[0],
        block.map(({ loc }) => loc.start.line),
      );
    block = [];
  };
  for (const node of body) {
    block.push(node);
    if (/^(?:If|While|Do|Repeat|For\w*)Statement$/.test(node.type)) end();
  }
  end();
}

const isNode = (one: unknown): one is LuaNode =>
  typeof one === "object" && one !== null && "type" in one && "range" in one;
