// npm run test:embedded: runs the tests of the queue, or the named ones, on the embedded store in place of
// redis-server: `npm run test:embedded -- test/integration/groups/groups.test.ts`. Puts the redis-server of
// test/embedded/bin before any other on the PATH. What only a real one can do is listed in
// test/embedded/not-run.ts.

import { spawnSync } from "node:child_process";
import { delimiter, join } from "node:path";
import { shortModel } from "./fast-tier.mjs";
import { ensureDependencies, findRuntime, main, root, runForeground } from "./setup.mjs";

const TESTS = ["conformance", "integration", "model"];
/** They take longest, and test the scripts rather than the store. Each can be named. */
const NOT_RUN = [
  "integration/groups/turns",
  "integration/partitions/databases",
  "integration/partitions/shares",
  "integration/repair/deep-sweep-calls",
  "integration/tasks/lanes",
  "integration/tasks/long-tasks",
].map((name) => `test/${name}.test.ts`);

main(() => {
  ensureDependencies();
  const runtime = findRuntime();
  process.env["PATH"] = [join(root, "test/embedded/bin"), process.env["PATH"]].join(delimiter);
  process.env["SLUICE_TEST_STORE"] = "embedded";
  process.env["SLUICE_MODEL"] ??= shortModel.SLUICE_MODEL;
  process.env["NODE_COMPILE_CACHE"] ??= join(root, "node_modules/.cache/node-compile");
  reportNotRun(runtime);
  const args = process.argv.slice(2);
  const named = args.some((arg) => arg.startsWith("test/"));
  if (!named) {
    for (const file of NOT_RUN) console.log(`not run on the embedded store, where it takes long: ${file}`);
    process.env["SLUICE_TESTS_NOT_RUN"] = NOT_RUN.join();
  }
  const tests = named ? [] : TESTS.map((name) => `test/${name}`);
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
