// npm run test:portable: runs the tests of the scripts, or the named ones, on GopherLua, a Lua 5.1 written in
// Go: `npm run test:portable -- test/integration/groups/groups.test.ts`. Builds the redis-server of
// test/portable and puts it before the real one on the PATH.

import { spawnSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { delimiter, join } from "node:path";
import { shortModel } from "./fast-tier.mjs";
import {
  ensureDependencies,
  ensureFolder,
  ensureProgram,
  findProgram,
  findRuntime,
  main,
  root,
  runForeground,
  SetupError,
} from "./setup.mjs";

const GO_PATH = "/usr/share/gocode";
const TESTS = ["fault/every-script", "integration", "model", "portable"];
/**
 * They take more than half of the time, and other tests run the same scripts.
 * Each can be named, as those of other folders can.
 */
const NOT_RUN = [
  "fault/every-script-deadline",
  "fault/every-script-forgotten",
  "integration/groups/turns",
  "integration/operate/purge-ended",
  "integration/operate/redrive-calls",
  "integration/partitions/databases",
  "integration/partitions/lost-map",
  "integration/partitions/resize",
  "integration/partitions/schedules",
  "integration/partitions/shares",
  "integration/partitions/sizes",
  "integration/partitions/stale",
  "integration/partitions/turns",
  "integration/repair/deep-sweep-calls",
  "integration/repair/deep-sweep-check",
  "integration/repair/deep-sweep-live",
  "integration/schedules/occurrences-refused",
  "integration/tasks/lanes",
  "integration/tasks/long-tasks",
  "integration/tasks/queue-names",
  "integration/workers/heartbeat-for-days",
  "integration/workers/silent-workers",
].map((name) => `test/${name}.test.ts`);

main(() => {
  ensureDependencies();
  ensureProgram("redis-server", "redis-server");
  ensureProgram("go", "golang-go");
  ensureFolder(join(GO_PATH, "src/github.com/yuin/gopher-lua"), "golang-github-yuin-gopher-lua-dev");
  const real = findProgram("redis-server");
  const folder = join(root, "node_modules/.cache/sluice-portable");
  build(join(folder, "redis-server"));
  process.env["PATH"] = [folder, process.env["PATH"]].join(delimiter);
  process.env["SLUICE_REAL_REDIS_SERVER"] = real;
  process.env["SLUICE_TEST_LUA"] = "GopherLua";
  // As many calls as in `npm test` would take longer than all other tests together.
  process.env["SLUICE_MODEL"] ??= shortModel.SLUICE_MODEL;
  process.env["NODE_COMPILE_CACHE"] ??= join(root, "node_modules/.cache/node-compile");
  const args = process.argv.slice(2);
  const named = args.some((arg) => arg.startsWith("test/"));
  if (!named) {
    for (const file of NOT_RUN) console.log(`not run on GopherLua, where it takes long: ${file}`);
    process.env["SLUICE_TESTS_NOT_RUN"] = NOT_RUN.join();
  }
  runForeground(findRuntime(), [
    join(root, "node_modules/vitest/vitest.mjs"),
    "run",
    // GopherLua is about ten times slower than C Lua.
    "--testTimeout=120000",
    ...(named ? [] : TESTS.map((name) => `test/${name}`)),
    ...args,
  ]);
});

/** @param {string} program where to put it */
function build(program) {
  mkdirSync(join(program, ".."), { recursive: true });
  const env = { ...process.env, GO111MODULE: "off", GOPATH: GO_PATH, GOFLAGS: "" };
  const source = join(root, "test/portable");
  const go = spawnSync("go", ["build", "-o", program, "."], { cwd: source, env, encoding: "utf8" });
  if (go.status !== 0) {
    throw new SetupError(`go build failed in ${source}:\n${go.error?.message ?? go.stderr}`);
  }
}
