import { generatedFile, type LuaFiles, readLua } from "../../tools/lua/files.ts";
import { moduleOf } from "../../tools/lua/module.ts";

/**
 * What stands in for the module of the scripts where `SLUICE_LANES=full` asks for them without their plain lanes.
 * @returns the text of a module by its file; undefined for all others
 * @throws for any other value of the variable
 */
export function laneOf(file: string, env: NodeJS.ProcessEnv = process.env): string | undefined {
  const lanes = env["SLUICE_LANES"] ?? "";
  if (lanes === "") return undefined;
  if (lanes !== "full") throw new Error("SLUICE_LANES: must be full, or not set");
  return file === generatedFile ? moduleOf(withoutPlainLanes(readLua())) : undefined;
}

/**
 * The same files with all plain lanes off: scripts ask `PLAIN`, a constant of the prelude.
 * @throws where the prelude does not say `local PLAIN = true`
 */
export function withoutPlainLanes({ lib, scripts }: LuaFiles): LuaFiles {
  const text = lib.text.replace(/^local PLAIN = true$/m, "local PLAIN = false");
  if (text === lib.text)
    throw new Error(`${lib.file}: no lane can be switched off without \`local PLAIN = true\``);
  return { lib: { ...lib, text }, scripts };
}
