import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Script } from "../../src/kernel/transport.ts";
import type { LuaFiles } from "../../tools/lua/files.ts";
import { modulesOf } from "../../tools/lua/modules.ts";

/** The scripts in the generated modules of these files, by name. */
export async function embeddedScripts(files: LuaFiles): Promise<Readonly<Record<string, Script>>> {
  const folder = await mkdtemp(join(tmpdir(), "sluice-embed-"));
  try {
    await mkdir(join(folder, "parts"));
    const modules = modulesOf(files);
    for (const [file, text] of modules) await writeFile(join(folder, file), text);
    const scripts: Record<string, Script> = {};
    for (const file of modules.keys()) {
      if (file.startsWith("parts/")) continue;
      Object.assign(scripts, await import(/* @vite-ignore */ join(folder, file)));
    }
    return scripts;
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** The script of this text, behind a prelude of this one. */
export async function embedded(prelude: string, text: string, file = "try-this.lua"): Promise<Script> {
  const scripts = await embeddedScripts({
    shared: [{ file: "_prelude.lua", text: prelude }],
    scripts: [{ file, text }],
  });
  const [script, ...others] = Object.values(scripts);
  if (!script || others.length > 0) throw new Error(`exports ${Object.keys(scripts).join(", ")}`);
  return script;
}
