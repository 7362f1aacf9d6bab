// npm run test:near: runs the tests that are nearest to what has changed, and says which and why. `--help`
// lists the options.

import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, globSync } from "node:fs";
import { join } from "node:path";
import { runForeground } from "../../tools/setup.mjs";
import { endWrong, flag, optional, readOptions } from "../support/options.ts";
import { everyScript, isTest, nearestTo, root } from "./nearest.ts";

/** The most test files for one that is imported: those that import it by way of the fewest others. */
const MOST = 40;

const program = { script: "test:near", does: "Runs the tests that are nearest to what has changed." };
const { base, list } = readOptions(program, {
  base: optional("REV", "all changes since REV; without it, what is not committed", (given) => given),
  list: flag("only says which tests"),
});

const tests = new Set<string>();
const rows = new Set<string>();
for (const file of changedFiles()) {
  const near = nearTo(file);
  console.log(`${file}: ${near.length > 8 ? `${near.length} test files` : near.join(" ") || "no test"}`);
  for (const test of near) tests.add(test);
}
const vitest = [join(root, "node_modules/vitest/vitest.mjs"), "run"];
if (!list && rows.size > 0) {
  const titles = ["-t", [...rows].join("|")];
  const { status } = spawnSync(process.execPath, [...vitest, everyScript, ...titles], {
    cwd: root,
    stdio: "inherit",
  });
  if (status !== 0) process.exit(1);
}
if (!list && tests.size > 0) runForeground(process.execPath, [...vitest, ...tests]);

function nearTo(file: string): readonly string[] {
  const platform = /^serverless\/([a-z]+)\b/.exec(file)?.[1] ?? "";
  if (existsSync(join(root, "test/platforms", platform || "none")))
    console.log(`npm run test:platforms ${platform} has the tests of ${file}`);
  if (file.endsWith(".md")) return ["test/documents"];
  if (isTest(file)) return globSync(file, { cwd: root });
  if (!/\.(?:lua|[mc]?[jt]sx?)$/.test(file)) return [];
  const near = nearestTo(file);
  if (near.rows !== undefined) rows.add(near.rows);
  const sources = /^(?:lua|src)\//.test(file) ? ["test/contract"] : [];
  return [...(near.rows === undefined ? near.tests.slice(0, MOST) : near.tests), ...sources];
}

/** What differs from the base, or the last commit, and what git does not know yet. */
function changedFiles(): string[] {
  const git = (...args: string[]) =>
    execFileSync("git", args, { cwd: root, encoding: "utf8", stdio: "pipe" });
  try {
    const from = base === undefined ? "HEAD" : git("merge-base", base, "HEAD").trim();
    const names =
      git("diff", "--name-only", "--no-renames", from) + git("ls-files", "-o", "--exclude-standard");
    return [...new Set(names.split("\n").filter(Boolean))].filter((file) => !file.endsWith(".gen.ts"));
  } catch {
    return endWrong(program, `--base ${base ?? "HEAD"}: git does not know this revision`);
  }
}
