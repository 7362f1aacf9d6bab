// Lints lua/: its format with stylua, and with luacheck each script as it will run, behind what it uses of the
// prelude.

import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { blankUnused, readLua, roomOf } from "./embed-lua.ts";
import { ensureProgram, main, root } from "./setup.mjs";

main(() => {
  ensureProgram("luacheck", "lua-check");
  const { prelude, scripts } = readLua();
  const findings = new Set<string>();
  const unused = new Set(prelude.text.match(/^local .*/gm));
  const folder = mkdtempSync(join(tmpdir(), "sluice-lint-"));

  for (const script of scripts) {
    const used = blankUnused(prelude, script).text;
    for (const line of used.match(/^local .*/gm) ?? []) unused.delete(line);
    const preludeLines = used.split("\n").length - 1;
    const path = join(folder, script.file);
    writeFileSync(path, used + script.text);
    const options = ["--formatter", "plain", "--codes", "--config", join(root, ".luacheckrc")];
    const { stdout, stderr } = spawnSync("luacheck", [...options, path], { encoding: "utf8" });
    for (const finding of (stdout + stderr).split("\n").filter((text) => text !== "")) {
      // Back to the line of the file that it stands in.
      const [, line, rest] = /:(\d+)(:\d+: .*)$/.exec(finding) ?? [];
      if (line === undefined) findings.add(finding);
      else if (Number(line) <= preludeLines) {
        const room = roomOf(Number(line));
        findings.add(`lua/${room.file}:${room.line}${rest}`);
      } else findings.add(`lua/${script.file}:${Number(line) - preludeLines}${rest}`);
    }
  }
  rmSync(folder, { recursive: true });

  for (const line of unused) findings.add(`lua/_*.lua: no script uses: ${line}`);
  for (const finding of findings) console.error(finding);
  const format = spawnSync("stylua", ["--check", "lua"], { cwd: root, stdio: "inherit" });
  if (findings.size > 0 || format.status !== 0) process.exitCode = 1;
});
