import { globSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { LuaFile } from "./text.ts";

const luaFolder = fileURLToPath(new URL("../../lua/", import.meta.url));

/** The folder of the modules that embed the scripts. */
export const generatedFolder = fileURLToPath(new URL("../../src/lua/", import.meta.url));

/** The modules that are in that folder, by file name. */
export function readGenerated(): Map<string, string> {
  const files = globSync("**/*.ts", { cwd: generatedFolder });
  return new Map(files.map((file) => [file, readFileSync(generatedFolder + file, "utf8")]));
}

export interface LuaFiles {
  /** The files with the locals that scripts share. */
  readonly shared: readonly LuaFile[];
  readonly scripts: readonly LuaFile[];
}

/** Reads the files below lua/. A script has a contract, which names its keys; all others hold what scripts share. */
function read(): LuaFiles {
  const files = globSync("*/*.lua", { cwd: luaFolder }).toSorted();
  const all = files.map((file) => ({ file, text: readFileSync(luaFolder + file, "utf8") }));
  const isScript = ({ text }: LuaFile) => /^local \w+ = KEYS\[/m.test(text);
  return { shared: all.filter((file) => !isScript(file)), scripts: all.filter(isScript) };
}

/** The paths of the scripts below lua/, such as `kernel/enqueue.lua`. */
export const scriptFiles = (): string[] => read().scripts.map(({ file }) => file);

/**
 * Reads what scripts share, and the scripts.
 * @param change makes another text of that of a file
 */
export function readLua(change: (file: string, text: string) => string = (_, text) => text): LuaFiles {
  const { shared, scripts } = read();
  const changed = ({ file, text }: LuaFile) => ({ file, text: change(file, text) });
  return { shared: shared.map(changed), scripts: scripts.map(changed) };
}
