// npm run test:platforms: builds the package, and runs it on every platform or on those named, with the platforms'
// own tools: `npm run test:platforms node cloudflare`. Takes Vitest's options after `--`.

import { join } from "node:path";
import { ensureDependencies, ensureProgram, findRuntime, main, root, run, runForeground } from "./setup.mjs";

/** The folders of test/platforms, and where the tools of each are installed. */
const platforms = {
  cloudflare: ["tools/workerd"],
  vercel: ["test/platforms/vercel"],
  next: ["test/platforms/next"],
  lambda: ["test/platforms/lambda"],
  netlify: ["test/platforms/netlify"],
  deno: ["test/platforms/deno"],
  bun: ["test/platforms/bun"],
  express: ["test/platforms/express"],
  jest: ["test/platforms/jest", "test/platforms/next"],
  node: [],
  python: [],
};
const isPlatform = (/** @type {string} */ name) => name in platforms;

void main(async () => {
  const args = process.argv.slice(2);
  const files = args.filter((arg) => arg.startsWith("test/platforms/"));
  const named = [...args, ...files.map((file) => file.split("/")[2] ?? "")].filter(isPlatform);
  const chosen = named.length > 0 ? named : Object.keys(platforms);
  const folders = chosen.flatMap((name) => platforms[/** @type {keyof typeof platforms} */ (name)]);
  await ensureDependencies(["", "tools/package", ...folders]);
  ensureProgram("redis-server", "redis-server");
  if (chosen.includes("python")) ensureProgram("python3", "python3");
  const runtime = findRuntime();
  const tsdown = join(root, "tools/package/node_modules/.bin/tsdown");
  run(runtime, tsdown, "--config", "tools/package/tsdown.config.ts", "--logLevel", "error");
  const config = ["--config", join(root, "test/platforms/vitest.config.ts")];
  const all = files.length > 0 ? [] : chosen.map((name) => `test/platforms/${name}/`);
  const others = args.filter((arg) => !isPlatform(arg));
  runForeground(runtime, [join(root, "node_modules/vitest/vitest.mjs"), "run", ...config, ...all, ...others]);
});
