// Runs tests on the embedded store: the redis-server of test/embedded/bin is before any other on the PATH. What only a
// real one can do is listed in test/embedded/not-run.ts.

import { spawnSync } from "node:child_process";
import { delimiter, join } from "node:path";
import { findRuntime, root, runForeground } from "./setup.mjs";

/** @param {readonly string[]} tests what runs if the command line names no file */
export function runOnEmbedded(tests) {
  const runtime = findRuntime();
  process.env["PATH"] = [join(root, "test/embedded/bin"), process.env["PATH"]].join(delimiter);
  process.env["SLUICE_TEST_STORE"] = "embedded";
  reportNotRun(runtime);
  const args = process.argv.slice(2);
  const isNamed = args.some((arg) => arg.startsWith("test/"));
  const vitest = [join(root, "node_modules/vitest/vitest.mjs"), "run"];
  runForeground(runtime, [...vitest, ...(isNamed ? [] : tests), ...args]);
}

/**
 * Reports the files that are not run.
 * @param {string} runtime a Node that runs TypeScript
 */
function reportNotRun(runtime) {
  const list =
    "import('./test/embedded/not-run.ts').then(({ notRun }) => console.log(JSON.stringify(notRun)))";
  const { stdout } = spawnSync(runtime, ["--eval", list], { cwd: root, encoding: "utf8" });
  /** @type {{ file: string; test?: string; reason: string }[]} */
  const all = JSON.parse(stdout);
  for (const { file, test = "all of it", reason } of all) {
    console.log(`not run on the embedded store: ${file}, ${test}: ${reason}`);
  }
}
