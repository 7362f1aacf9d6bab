// npm run test:portable: runs every script under the faults of the network and the model, or the named tests, on
// GopherLua, a Lua 5.1 written in Go: `npm run test:portable -- test/integration/groups/groups.test.ts`. Builds
// the redis-server of test/portable and puts it before the real one on the PATH.

import { spawnSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { delimiter, join } from "node:path";
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
/** What runs if no file is named. */
const TESTS = ["test/fault/every-script.test.ts", "test/model", "test/portable"];

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
  process.env["NODE_COMPILE_CACHE"] ??= join(root, "node_modules/.cache/node-compile");
  const args = process.argv.slice(2);
  const tests = args.some((arg) => arg.startsWith("test/")) ? [] : TESTS;
  runForeground(findRuntime(), [
    join(root, "node_modules/vitest/vitest.mjs"),
    "run",
    // GopherLua is about ten times slower than C Lua.
    "--testTimeout=120000",
    ...tests,
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
