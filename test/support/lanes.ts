import { generatedFile, type LuaFiles, readLua } from "../../tools/lua/files.ts";
import { moduleOf } from "../../tools/lua/module.ts";

/**
 * The module of the scripts without their plain lanes, if `SLUICE_LANES=full` asks for it.
 * @returns the text of that module for its file; undefined for all others
 * @throws for any other value of the variable
 */
export function laneOf(file: string, env: NodeJS.ProcessEnv = process.env): string | undefined {
  const lanes = env["SLUICE_LANES"] ?? "";
  if (lanes === "") return undefined;
  if (lanes !== "full") throw new Error("SLUICE_LANES: must be full, or not set");
  return file === generatedFile ? moduleOf(withoutPlainLanes(readLua())) : undefined;
}

/**
 * The same files with all plain lanes off: scripts read `PLAIN`, a constant of the prelude.
 * @throws if the prelude does not contain `local PLAIN = true`
 */
export function withoutPlainLanes({ lib, scripts }: LuaFiles): LuaFiles {
  const text = lib.text.replace(/^local PLAIN = true$/m, "local PLAIN = false");
  if (text === lib.text)
    throw new Error(`${lib.file}: no lane can be switched off without \`local PLAIN = true\``);
  return { lib: { ...lib, text }, scripts };
}
