// npm run test:site: checks the types of what builds the site, builds it, and looks at it in Chromium. Installs Chromium
// and a font as root on Debian.

import { join } from "node:path";
import { ensureDependencies, findRuntime, main, root, run, runForeground } from "./setup.mjs";
import { ensureChromium } from "./dashboard/chromium.mjs";

void main(async () => {
  await ensureDependencies(["", "site", "test/dashboard"]);
  ensureChromium();
  const runtime = findRuntime();
  run(runtime, join(root, "node_modules/.bin/tsc"), "-p", "site");
  run(runtime, join(root, "site/build.ts"));
  const config = ["--config", join(root, "site/vitest.config.ts")];
  const vitest = [join(root, "node_modules/vitest/vitest.mjs"), "run", ...config];
  runForeground(runtime, [...vitest, ...process.argv.slice(2)]);
});
