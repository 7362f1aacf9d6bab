// npm start: installs the dependencies if they are missing and runs the local stack with the webhooks example. Ctrl-C ends it.
// Without a redis-server it uses the embedded store.

import { join } from "node:path";
import { ensureDependencies, findRuntime, main, root, runForeground } from "./setup.mjs";

main(() => {
  ensureDependencies();
  runForeground(findRuntime(), [join(root, "src/local/start.ts"), ...process.argv.slice(2)]);
});
