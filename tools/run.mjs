// Most npm scripts: sets up what they need, and runs a program with the project's Node:
// `tools/run.mjs [--redis] [--packages FOLDER]... PROGRAM [ARGUMENTS]`. The program is a file, or a command of a
// package of the root or of the folders.

import { existsSync } from "node:fs";
import { join } from "node:path";
import { ensureDependencies, ensureProgram, findRuntime, main, root, runForeground } from "./setup.mjs";

void main(async () => {
  const args = process.argv.slice(2);
  const folders = [""];
  while (args[0]?.startsWith("--")) {
    if (args.shift() === "--redis") ensureProgram("redis-server", "redis-server");
    else folders.push(args.shift() ?? "");
  }
  await ensureDependencies(folders);
  const [name = "", ...others] = args;
  const command = folders.map((folder) => join(root, folder, "node_modules/.bin", name)).find(existsSync);
  const lanes = process.env["SLUICE_LANES"] ? ["--import", join(root, "tools/full-lanes.ts")] : [];
  runForeground(findRuntime(), [...lanes, command ?? name, ...others]);
});
