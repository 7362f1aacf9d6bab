// npm run test:portable: runs every script under the faults of the network and the model, or the named tests, on
// GopherLua, a Lua 5.1 written in Go, within the embedded store:
// `npm run test:portable -- test/kernel/groups/groups.test.ts`. Builds the program of test/portable.

import { spawnSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { ensureDependencies, ensureFolder, ensureProgram, main, root, SetupError } from "./setup.mjs";
import { runOnEmbedded } from "./on-embedded.mjs";

const GO_PATH = "/usr/share/gocode";

void main(async () => {
  await ensureDependencies();
  ensureProgram("go", "golang-go");
  ensureFolder(join(GO_PATH, "src/github.com/yuin/gopher-lua"), "golang-github-yuin-gopher-lua-dev");
  const program = join(root, "node_modules/.cache/sluice-portable/gopher-lua");
  build(program);
  process.env["SLUICE_GOPHER_LUA"] = program;
  runOnEmbedded(["test/proofs/fault/every-script.test.ts", "test/proofs/model", "test/portable"]);
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
