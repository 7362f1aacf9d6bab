// npm run test:soak and the like: sets up what `npm test` sets up, and runs a program: `tools/run.mjs PROGRAM [ARGUMENTS]`.

import { join } from "node:path";
import { ensureDependencies, ensureProgram, findRuntime, main, root, runForeground } from "./setup.mjs";

main(() => {
  ensureDependencies();
  ensureProgram("redis-server", "redis-server");
  const lanes = process.env["SLUICE_LANES"] ? ["--import", join(root, "tools/full-lanes.ts")] : [];
  runForeground(findRuntime(), [...lanes, ...process.argv.slice(2)]);
});
