import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { LuaFile } from "./text.ts";

const luaFolder = fileURLToPath(new URL("../../lua/", import.meta.url));

/** The module that embeds them. */
export const generatedFile = fileURLToPath(new URL("../../src/queue/lua.gen.ts", import.meta.url));

/** The rooms of the prelude, in the order in which they build on each other. */
const rooms =
  "prelude writes records limits groups turns plan workers wake due line batch leases calls settling pull plain pages entries mend fields control states".split(
    " ",
  );

export interface LuaFiles {
  /** All its rooms in one. */
  readonly prelude: LuaFile;
  /** By name. */
  readonly scripts: readonly LuaFile[];
}

/** The prelude and the scripts in lua/. */
export function readLua(): LuaFiles {
  const read = (file: string) => ({ file, text: readFileSync(luaFolder + file, "utf8") });
  const files = readdirSync(luaFolder).filter((file) => /^[^_].*\.lua$/.test(file));
  const text = rooms.map((room) => read(`_${room}.lua`).text).join("\n");
  return { prelude: { file: "_prelude.lua", text }, scripts: files.toSorted().map(read) };
}

/** The room that a line of the prelude stands in, and its line there. */
export function roomOf(line: number): { file: string; line: number } {
  let rest = line;
  for (const room of rooms) {
    const file = `_${room}.lua`;
    const length = readFileSync(luaFolder + file, "utf8").split("\n").length;
    if (rest <= length) return { file, line: rest };
    rest -= length;
  }
  return { file: "_prelude.lua", line };
}
