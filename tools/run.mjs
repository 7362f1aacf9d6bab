// npm run test:soak and the like: sets up what `npm test` sets up, and runs a program: `tools/run.mjs PROGRAM [ARGUMENTS]`.

import { ensureDependencies, ensureProgram, findRuntime, main, runForeground } from "./setup.mjs";

main(() => {
  ensureDependencies();
  ensureProgram("redis-server", "redis-server");
  runForeground(findRuntime(), process.argv.slice(2));
});
