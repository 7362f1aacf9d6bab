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

/** The folders of layers, in their order: a layer assigns to locals that are declared in front of it. */
const LAYERS = ["order", "flows"];

/**
 * Scripts that have the linked edition alone: those of layers, and of operators and the deep sweep. No bundle that must
 * be small has them.
 */
const ONLY_LINKED = /^(?:order|flows|operate|repair|debounce)\/(?!(?:configure|count)\.lua$)/;

/**
 * Folders of features that came after the others. What they add changes no text and no module of the others, so that
 * bundles without them stay as they are.
 */
const LATER = ["debounce", "topics", "endpoints"];

/** 0 for a file of the first folders, or the place of its folder among the later ones. */
export const placeOf = ({ file }: Pick<LuaFile, "file">): number =>
  LATER.indexOf(file.replace(/\/.*/, "")) + 1;

export interface LuaFiles {
  /** The files with the locals that scripts share. Those of layers are behind all that they may change. */
  readonly shared: readonly LuaFile[];
  readonly scripts: readonly LuaFile[];
}

/** Reads the files below lua/. A script has a contract, which names its keys; all others hold what scripts share. */
function read(): LuaFiles {
  const layerOf = (file: string) => LAYERS.findIndex((layer) => file.startsWith(`${layer}/`));
  const files = globSync("*/*.lua", { cwd: luaFolder }).toSorted();
  const all = files.map((file): LuaFile => {
    const text = readFileSync(luaFolder + file, "utf8");
    return { file, text };
  });
  const isScript = ({ text }: LuaFile) => /^local \w+ = KEYS\[/m.test(text);
  const withLayer = (one: LuaFile, inLayer: boolean) => (inLayer ? { ...one, inLayer } : one);
  const shared = all.filter((file) => !isScript(file)).map((one) => withLayer(one, layerOf(one.file) >= 0));
  const scripts = all.filter(isScript).map((one) => withLayer(one, ONLY_LINKED.test(one.file)));
  const rank = (one: LuaFile) => placeOf(one) * (LAYERS.length + 1) + layerOf(one.file);
  return { shared: shared.toSorted((one, other) => rank(one) - rank(other)), scripts };
}

/** The paths of the scripts below lua/, such as `kernel/enqueue.lua`. */
export const scriptFiles = (): string[] => read().scripts.map(({ file }) => file);

/**
 * Reads what scripts share, and the scripts.
 * @param change makes another text of that of a file
 */
export function readLua(change: (file: string, text: string) => string = (_, text) => text): LuaFiles {
  const { shared, scripts } = read();
  const changed = (one: LuaFile) => ({ ...one, text: change(one.file, one.text) });
  return { shared: shared.map(changed), scripts: scripts.map(changed) };
}
