// Lints lua/: the format with stylua, and each script with luacheck, together with the shared parts that
// it uses.

import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readLua } from "./lua/files.ts";
import { type Part, partsOf, programOf } from "./lua/parts.ts";
import type { LuaFile } from "./lua/text.ts";
import { ensureProgram, main, root } from "./setup.mjs";

void main(() => {
  ensureProgram("luacheck", "lua-check");
  const { shared, scripts } = readLua();
  const plain = partsOf(shared);
  const linked = partsOf(shared, "linked");
  const findings = new Set<string>();
  /** The parts that no script uses, by their places. */
  const unused = new Map(linked.map((part) => [placeOf(part), part]));
  const folder = mkdtempSync(join(tmpdir(), "sluice-lint-"));

  const editions = scripts.flatMap((script) => {
    const own = { script, parts: linked };
    return script.inLayer ? [own] : [{ script, parts: plain }, own];
  });
  for (const { script, parts } of editions) {
    const needed = new Set<unknown>(programOf(script, parts));
    const lines: Line[] = [];
    for (const part of parts.filter((one) => needed.has(one))) {
      unused.delete(placeOf(part));
      lines.push(...linesOf(shared.find(({ file }) => file === part.file) as LuaFile, part.range));
    }
    lines.push(...linesOf(script, [0, script.text.length]));
    const path = join(folder, script.file.replace("/", "-"));
    writeFileSync(path, lines.map(({ text }) => `${text}\n`).join(""));
    const options = ["--formatter", "plain", "--codes", "--config", join(root, ".luacheckrc")];
    const { stdout, stderr } = spawnSync("luacheck", [...options, path], { encoding: "utf8" });
    for (const finding of (stdout + stderr).split("\n").filter((text) => text !== "")) {
      const [, number, rest] = /:(\d+)(:\d+: .*)$/.exec(finding) ?? [];
      const at = lines[Number(number) - 1];
      findings.add(at ? `lua/${at.file}:${at.number}${rest}` : finding);
    }
  }
  rmSync(folder, { recursive: true });

  for (const { file, names } of unused.values())
    findings.add(`lua/${file}: no script uses ${names.join(", ")}`);
  for (const finding of findings) console.error(finding);
  const format = spawnSync("stylua", ["--check", "lua"], { cwd: root, stdio: "inherit" });
  if (findings.size > 0 || format.status !== 0) process.exitCode = 1;
});

function placeOf({ file, range }: Part): string {
  return `${file} ${range[0]}`;
}

interface Line {
  readonly file: string;
  readonly number: number;
  readonly text: string;
}

/** Lines of a file that begins a line at `from`. */
function linesOf({ file, text }: LuaFile, [from, to]: readonly [from: number, to: number]): Line[] {
  const first = text.slice(0, from).split("\n").length;
  const lines = text.slice(from, to).replace(/\n$/, "").split("\n");
  return lines.map((line, i) => ({ file, number: first + i, text: line }));
}
