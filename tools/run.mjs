// npm run test:soak and similar: sets up the dependencies and a redis-server, and runs a program of test/:
// `tools/run.mjs PROGRAM [ARGUMENTS]`.

import { join } from "node:path";
import { ensureDependencies, ensureProgram, findRuntime, main, root, runForeground } from "./setup.mjs";

main(() => {
  ensureDependencies();
  ensureProgram("redis-server", "redis-server");
  const lanes = process.env["SLUICE_LANES"] ? ["--import", join(root, "tools/full-lanes.ts")] : [];
  runForeground(findRuntime(), [...lanes, ...process.argv.slice(2)]);
});
