// npm run test:dashboard: runs the tests of the dashboard, or the named ones, in Chromium:
// `npm run test:dashboard -- test/dashboard/story.test.ts`. Installs Chromium and a font as root on Debian.

import { join } from "node:path";
import { ensureDependencies, ensureProgram, findRuntime, main, root, runForeground } from "./setup.mjs";
import { ensureChromium } from "./dashboard/chromium.mjs";

main(() => {
  ensureDependencies();
  ensureProgram("redis-server", "redis-server");
  ensureChromium();
  const config = ["--config", join(root, "test/dashboard/vitest.config.ts")];
  const vitest = [join(root, "node_modules/vitest/vitest.mjs"), "run", ...config];
  runForeground(findRuntime(), [...vitest, ...process.argv.slice(2)]);
});
