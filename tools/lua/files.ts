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

/** The files of lua/lib, in the order in which they use each other. */
const libFiles =
  "prelude writes records limits groups fair-order admission events commit transitions workers wake new-tasks due pending selection leases resends operator-calls settle-in-full dequeue-in-full plain-lane pages slots repair-entries repair repair-fields control-fields group-states"
    .split(" ")
    .map((name) => `lib/${name}.lua`);

export interface LuaFiles {
  /** All files of lua/lib, joined. */
  readonly lib: LuaFile;
  /** The scripts, by path. */
  readonly scripts: readonly LuaFile[];
}

const read = (file: string) => ({ file, text: readFileSync(luaFolder + file, "utf8") });

/** The paths of the scripts below lua/, such as `tasks/enqueue.lua`. */
export function scriptFiles(): string[] {
  return globSync("*/*.lua", { cwd: luaFolder })
    .filter((file) => !file.startsWith("lib/"))
    .toSorted();
}

/**
 * Reads lua/lib and the scripts.
 * @param change makes another text of that of a file
 */
export function readLua(change: (file: string, text: string) => string = (_, text) => text): LuaFiles {
  const changed = (file: string) => ({ file, text: change(file, read(file).text) });
  const text = libFiles.map((file) => changed(file).text).join("\n");
  return { lib: { file: "lib", text }, scripts: scriptFiles().map(changed) };
}

/** The file of lua/lib, and the line in it, of a line of the joined files. */
export function libFileOf(line: number): { file: string; line: number } {
  let rest = line;
  for (const file of libFiles) {
    const { length } = read(file).text.split("\n");
    if (rest <= length) return { file, line: rest };
    rest -= length;
  }
  return { file: "lib", line };
}
