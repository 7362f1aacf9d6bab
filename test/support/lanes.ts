import { generatedFile, type LuaFiles, readLua } from "../../tools/lua/files.ts";
import { moduleOf } from "../../tools/lua/module.ts";
import { marked } from "../coverage/blocks.ts";
import { notesFolder } from "../coverage/notes.ts";

/**
 * The module of the scripts as the environment asks for it: without their plain lanes (`SLUICE_LANES=full`), or
 * with marks that say which blocks ran (`npm run test:coverage`).
 * @returns the text of that module for its file; undefined for all others, and for the scripts as they are
 * @throws for any other value of `SLUICE_LANES`
 */
export function scriptsOf(file: string, env: NodeJS.ProcessEnv = process.env): string | undefined {
  const lanes = env["SLUICE_LANES"] ?? "";
  if (lanes !== "" && lanes !== "full") throw new Error("SLUICE_LANES: must be full, or not set");
  const isMarked = notesFolder(env) !== "";
  if (file !== generatedFile || (lanes === "" && !isMarked)) return undefined;
  const scripts = lanes === "" ? readLua() : withoutPlainLanes(readLua());
  return moduleOf(isMarked ? marked(scripts).files : scripts);
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
