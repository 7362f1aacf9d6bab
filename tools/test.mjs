// npm test: sets up what is missing and runs the tests, or those named: `npm test -- test/unit`.

import { join } from "node:path";
import { ensureDependencies, ensureProgram, findRuntime, main, root, runForeground } from "./setup.mjs";

void main(async () => {
  await ensureDependencies();
  ensureProgram("redis-server", "redis-server");
  runForeground(findRuntime(), [
    join(root, "node_modules/vitest/vitest.mjs"),
    "run",
    ...process.argv.slice(2),
  ]);
});
