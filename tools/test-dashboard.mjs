// npm run test:dashboard: checks the types of the dashboard's tests, and runs them, or the named ones, in Chromium:
// `npm run test:dashboard -- test/dashboard/story.test.ts`. Installs Chromium and a font as root on Debian.

import { join } from "node:path";
import { ensureDependencies, ensureProgram, findRuntime, main, root, run, runForeground } from "./setup.mjs";
import { ensureChromium } from "./dashboard/chromium.mjs";

void main(async () => {
  await ensureDependencies(["", "test/dashboard"]);
  ensureProgram("redis-server", "redis-server");
  ensureChromium();
  const runtime = findRuntime();
  run(runtime, join(root, "node_modules/.bin/tsc"), "-p", "test/dashboard");
  const config = ["--config", join(root, "test/dashboard/vitest.config.ts")];
  const vitest = [join(root, "node_modules/vitest/vitest.mjs"), "run", ...config];
  runForeground(runtime, [...vitest, ...process.argv.slice(2)]);
});
