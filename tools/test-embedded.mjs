// npm run test:embedded: runs every script under the faults of the network, the model and conformance, or the
// named tests, on the embedded store in place of redis-server:
// `npm run test:embedded -- test/integration/groups/groups.test.ts`. Puts the redis-server of test/embedded/bin
// before any other on the PATH. What only a real one can do is listed in test/embedded/not-run.ts.

import { spawnSync } from "node:child_process";
import { delimiter, join } from "node:path";
import { ensureDependencies, findRuntime, main, root, runForeground } from "./setup.mjs";

/** What runs if no file is named. */
const TESTS = ["test/fault/every-script.test.ts", "test/model", "test/conformance"];

main(() => {
  ensureDependencies();
  const runtime = findRuntime();
  process.env["PATH"] = [join(root, "test/embedded/bin"), process.env["PATH"]].join(delimiter);
  process.env["SLUICE_TEST_STORE"] = "embedded";
  process.env["NODE_COMPILE_CACHE"] ??= join(root, "node_modules/.cache/node-compile");
  reportNotRun(runtime);
  const args = process.argv.slice(2);
  const tests = args.some((arg) => arg.startsWith("test/")) ? [] : TESTS;
  // Its Lua is slower than that of Redis, so tests may take longer.
  const vitest = [join(root, "node_modules/vitest/vitest.mjs"), "run", "--testTimeout=120000"];
  runForeground(runtime, [...vitest, ...tests, ...args]);
});

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
