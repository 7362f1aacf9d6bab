import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Script } from "../../src/queue/redis/transport.ts";
import type { LuaFiles } from "../../tools/lua/files.ts";
import { moduleOf } from "../../tools/lua/module.ts";

/** What the generated module of these files exports. */
export async function embeddedScripts(files: LuaFiles): Promise<Readonly<Record<string, Script>>> {
  const folder = await mkdtemp(join(tmpdir(), "sluice-embed-"));
  try {
    const path = join(folder, "lua.gen.ts");
    await writeFile(path, moduleOf(files));
    return { ...((await import(/* @vite-ignore */ path)) as Record<string, Script>) };
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** The script of this text, behind a prelude of this one. */
export async function embedded(prelude: string, text: string, file = "try-this.lua"): Promise<Script> {
  const scripts = await embeddedScripts({
    lib: { file: "_prelude.lua", text: prelude },
    scripts: [{ file, text }],
  });
  const [script, ...others] = Object.values(scripts);
  if (!script || others.length > 0) throw new Error(`exports ${Object.keys(scripts).join(", ")}`);
  return script;
}
