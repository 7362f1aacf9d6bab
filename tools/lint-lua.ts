// Lints lua/: its format with stylua, and with luacheck each script as it will run, behind what it uses of the
// prelude.

import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readLua, libFileOf } from "./lua/files.ts";
import { partsOf, programOf } from "./lua/parts.ts";
import { ensureProgram, main, root } from "./setup.mjs";

main(() => {
  ensureProgram("luacheck", "lua-check");
  const { prelude, scripts } = readLua();
  const parts = partsOf(prelude);
  const findings = new Set<string>();
  const unused = new Set(parts);
  const folder = mkdtempSync(join(tmpdir(), "sluice-lint-"));

  for (const script of scripts) {
    const needed = new Set<unknown>(programOf(script, parts));
    let used = prelude.text;
    // From the last one back, so that what stands before one stays where it is.
    for (const part of parts.toReversed()) {
      if (needed.has(part)) unused.delete(part);
      else used = withBlank(used, part.range);
    }
    const preludeLines = used.split("\n").length - 1;
    const path = join(folder, script.file.replace("/", "-"));
    writeFileSync(path, used + script.text);
    const options = ["--formatter", "plain", "--codes", "--config", join(root, ".luacheckrc")];
    const { stdout, stderr } = spawnSync("luacheck", [...options, path], { encoding: "utf8" });
    for (const finding of (stdout + stderr).split("\n").filter((text) => text !== "")) {
      // Back to the line of the file that it stands in.
      const [, line, rest] = /:(\d+)(:\d+: .*)$/.exec(finding) ?? [];
      if (line === undefined) findings.add(finding);
      else if (Number(line) <= preludeLines) {
        const found = libFileOf(Number(line));
        findings.add(`lua/${found.file}:${found.line}${rest}`);
      } else findings.add(`lua/${script.file}:${Number(line) - preludeLines}${rest}`);
    }
  }
  rmSync(folder, { recursive: true });

  for (const { names } of unused) findings.add(`lua/lib/*.lua: no script uses ${names.join(", ")}`);
  for (const finding of findings) console.error(finding);
  const format = spawnSync("stylua", ["--check", "lua"], { cwd: root, stdio: "inherit" });
  if (findings.size > 0 || format.status !== 0) process.exitCode = 1;
});

/** The text with blank lines in the place of a part of it: each line keeps its number. */
function withBlank(text: string, [from, to]: readonly [from: number, to: number]): string {
  return text.slice(0, from) + text.slice(from, to).replace(/.+/g, "") + text.slice(to);
}
