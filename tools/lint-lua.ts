// Lints lua/: the format with stylua, and each script with luacheck, together with the parts of lua/lib that
// it uses.

import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readLua, libFileOf } from "./lua/files.ts";
import { partsOf, programOf } from "./lua/parts.ts";
import { ensureProgram, main, root } from "./setup.mjs";

void main(() => {
  ensureProgram("luacheck", "lua-check");
  const { lib, scripts } = readLua();
  const parts = partsOf(lib);
  const findings = new Set<string>();
  const unused = new Set(parts);
  const folder = mkdtempSync(join(tmpdir(), "sluice-lint-"));

  for (const script of scripts) {
    const needed = new Set<unknown>(programOf(script, parts));
    let used = lib.text;
    // From the last part back, so that the offsets of the earlier ones stay valid.
    for (const part of parts.toReversed()) {
      if (needed.has(part)) unused.delete(part);
      else used = withBlank(used, part.range);
    }
    const libLines = used.split("\n").length - 1;
    const path = join(folder, script.file.replace("/", "-"));
    writeFileSync(path, used + script.text);
    const options = ["--formatter", "plain", "--codes", "--config", join(root, ".luacheckrc")];
    const { stdout, stderr } = spawnSync("luacheck", [...options, path], { encoding: "utf8" });
    for (const finding of (stdout + stderr).split("\n").filter((text) => text !== "")) {
      // Translates the line to that of the original file.
      const [, line, rest] = /:(\d+)(:\d+: .*)$/.exec(finding) ?? [];
      if (line === undefined) findings.add(finding);
      else if (Number(line) <= libLines) {
        const found = libFileOf(Number(line));
        findings.add(`lua/${found.file}:${found.line}${rest}`);
      } else findings.add(`lua/${script.file}:${Number(line) - libLines}${rest}`);
    }
  }
  rmSync(folder, { recursive: true });

  for (const { names } of unused) findings.add(`lua/lib/*.lua: no script uses ${names.join(", ")}`);
  for (const finding of findings) console.error(finding);
  const format = spawnSync("stylua", ["--check", "lua"], { cwd: root, stdio: "inherit" });
  if (findings.size > 0 || format.status !== 0) process.exitCode = 1;
});

/** Replaces a part of the text by blank lines, so that each line keeps its number. */
function withBlank(text: string, [from, to]: readonly [from: number, to: number]): string {
  return text.slice(0, from) + text.slice(from, to).replace(/.+/g, "") + text.slice(to);
}
