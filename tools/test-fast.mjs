// npm run test:fast: the tests that answer in under a minute: tools/fast-tier.mjs lists them. Takes Vitest's
// options.

import { join } from "node:path";
import { fastTier } from "./fast-tier.mjs";
import { ensureDependencies, ensureProgram, findRuntime, main, root, runForeground } from "./setup.mjs";

void main(async () => {
  await ensureDependencies();
  ensureProgram("redis-server", "redis-server");
  const args = ["run", ...fastTier, ...process.argv.slice(2)];
  runForeground(findRuntime(), [join(root, "node_modules/vitest/vitest.mjs"), ...args]);
});
