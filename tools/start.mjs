// npm start: sets up what is missing and runs the local stack with the webhooks example. Ctrl-C ends it.

import { join } from "node:path";
import { ensureDependencies, ensureProgram, findRuntime, main, root, runForeground } from "./setup.mjs";

main(() => {
  ensureDependencies();
  if (!process.env["REDIS_URL"]) {
    ensureProgram(
      "redis-server",
      "redis-server",
      "Or name a running Redis: REDIS_URL=redis://host:6379 npm start",
    );
  }
  runForeground(findRuntime(), [join(root, "src/local/start.ts"), ...process.argv.slice(2)]);
});
