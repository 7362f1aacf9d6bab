// npm run test:coverage: runs the tests, or those named, and prints which lines and branches of src/, serverless/ and
// of the scripts ran in them. What runs in processes of their own is not counted, except scripts.

import { rmSync } from "node:fs";
import { join } from "node:path";
import { spawnSync } from "node:child_process";
import { root } from "../../tools/setup.mjs";
import { reportScripts } from "./report.ts";

const folder = join(root, "node_modules/.cache/coverage");
const notes = join(folder, "scripts");
rmSync(folder, { recursive: true, force: true });
const coverage = {
  enabled: "true",
  provider: "v8",
  include: "{src,serverless}/**/*.{ts,tsx}",
  reportsDirectory: join(folder, "sources"),
  reportOnFailure: "true",
};
const flags = Object.entries(coverage).map(([name, value]) => `--coverage.${name}=${value}`);
const reporters = ["text-summary", "json-summary", "json"].map((name) => `--coverage.reporter=${name}`);
const { status } = spawnSync(
  process.execPath,
  [join(root, "node_modules/vitest/vitest.mjs"), "run", ...flags, ...reporters, ...process.argv.slice(2)],
  { cwd: root, stdio: "inherit", env: { ...process.env, SLUICE_LUA_COVERAGE: notes } },
);
console.log(reportScripts(notes));
process.exitCode = status ?? 1;
