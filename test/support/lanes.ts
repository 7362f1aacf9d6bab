import { generatedFolder, type LuaFiles, readLua } from "../../tools/lua/files.ts";
import { modulesOf } from "../../tools/lua/modules.ts";
import { marked } from "../coverage/blocks.ts";
import { notesFolder } from "../coverage/notes.ts";

/** The modules of scripts other than those of the repository, by `SLUICE_LANES` and whether they are marked. */
const made = new Map<string, ReadonlyMap<string, string>>();

/**
 * The modules of the scripts as the environment asks for them: without their plain lanes (`SLUICE_LANES=full`), or
 * with marks that say which blocks ran (`npm run test:coverage`).
 * @returns the text of a module for its file; undefined for all other files, and for the scripts as they are
 * @throws for any other value of `SLUICE_LANES`
 */
export function scriptsOf(file: string, env: NodeJS.ProcessEnv = process.env): string | undefined {
  const lanes = env["SLUICE_LANES"] ?? "";
  if (lanes !== "" && lanes !== "full") throw new Error("SLUICE_LANES: must be full, or not set");
  const isMarked = notesFolder(env) !== "";
  if (!file.startsWith(generatedFolder) || (lanes === "" && !isMarked)) return undefined;
  const key = `${lanes} ${isMarked}`;
  let modules = made.get(key);
  if (!modules) {
    const scripts = lanes === "" ? readLua() : withoutPlainLanes(readLua());
    modules = modulesOf(isMarked ? marked(scripts).files : scripts);
    made.set(key, modules);
  }
  return modules.get(file.slice(generatedFolder.length));
}

/**
 * The same files with all plain lanes off: scripts read `PLAIN`, a constant that they share.
 * @throws if no file of it contains `local PLAIN = true`
 */
export function withoutPlainLanes({ shared, scripts }: LuaFiles): LuaFiles {
  const full = shared.map(({ text, ...file }) => ({
    ...file,
    text: text.replace(/^local PLAIN = true$/m, "local PLAIN = false"),
  }));
  if (full.every(({ text }, i) => text === shared[i]?.text))
    throw new Error("lua/: no lane can be switched off without `local PLAIN = true`");
  return { shared: full, scripts };
}
