// npm start: runs the local stack with the webhooks example in workerd, or with `--node` on Node. Installs what that
// needs, without what only development needs. Ctrl-C ends it. Without a redis-server it uses the embedded store.

import { join } from "node:path";
import { ensureDependencies, findRuntime, main, root, runForeground } from "./setup.mjs";

void main(async () => {
  const args = process.argv.slice(2);
  const folders = args.includes("--node") ? [""] : ["", "tools/workerd"];
  await ensureDependencies(folders, { development: false });
  runForeground(findRuntime(), [join(root, "src/local/start.ts"), ...args]);
});
