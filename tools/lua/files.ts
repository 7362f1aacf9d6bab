import { globSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { LuaFile } from "./text.ts";

const luaFolder = fileURLToPath(new URL("../../lua/", import.meta.url));

/** The folder of the modules that embed the scripts. */
export const generatedFolder = fileURLToPath(new URL("../../src/queue/redis/lua/", import.meta.url));

/** The modules that are in that folder, by file name. */
export function readGenerated(): Map<string, string> {
  const files = globSync("**/*.ts", { cwd: generatedFolder });
  return new Map(files.map((file) => [file, readFileSync(generatedFolder + file, "utf8")]));
}

export interface LuaFiles {
  /** The files of lua/lib. */
  readonly lib: readonly LuaFile[];
  /** The scripts, by path. */
  readonly scripts: readonly LuaFile[];
}

const filesIn = (pattern: string) => globSync(pattern, { cwd: luaFolder }).toSorted();

/** The paths of the scripts below lua/, such as `tasks/enqueue.lua`. */
export const scriptFiles = (): string[] => filesIn("*/*.lua").filter((file) => !file.startsWith("lib/"));

/**
 * Reads lua/lib and the scripts.
 * @param change makes another text of that of a file
 */
export function readLua(change: (file: string, text: string) => string = (_, text) => text): LuaFiles {
  const read = (file: string) => ({ file, text: change(file, readFileSync(luaFolder + file, "utf8")) });
  return { lib: filesIn("lib/*.lua").map(read), scripts: scriptFiles().map(read) };
}
