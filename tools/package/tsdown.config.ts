import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { entries } from "../entries.ts";

const root = new URL("../../", import.meta.url);

const common = {
  cwd: fileURLToPath(root),
  entry: entries,
  format: "esm",
  // Runs in Workers, Deno and Bun too: nothing of Node is assumed, and what is imported as node: stays so.
  platform: "neutral",
  target: "es2023",
  // Types of the package alone: a fault of a test or an example is for the type check.
  tsconfig: "tsconfig.build.json",
  hash: false,
  deps: { neverBundle: [/^node:/, /^cloudflare:/, "server-only"] },
};

/** Puts the Lua interpreter into the module that reads its file in the sources. */
const withInterpreter = {
  name: "interpreter",
  load(id: string) {
    if (!id.endsWith("/src/embedded/lua/interpreter.ts")) return undefined;
    const file = readFileSync(new URL("node_modules/lua-redis-wasm/dist/redis_lua.wasm", root));
    return {
      moduleType: "js" as const,
      code: `import { Buffer } from "node:buffer";
import { gunzipSync } from "node:zlib";
const file = "${gzipSync(file, { level: 9 }).toString("base64")}";
export const interpreter = () => gunzipSync(Buffer.from(file, "base64"));
`,
    };
  },
};

const lua = "dist/src/embedded/lua";

export default [
  {
    ...common,
    dts: false,
    // A module for each source, with all of its imports, so that a bundle of an application leaves out what it does not
    // use, and has the scripts beside each other. In chunks a producer is a tenth larger.
    unbundle: true,
    treeshake: false,
    plugins: [withInterpreter],
    // The licences of the embedded store's Lua.
    copy: [
      { from: "node_modules/lua-redis-wasm/LICENSE", to: lua, rename: "redis_lua.LICENSE" },
      {
        from: "node_modules/lua-redis-wasm/THIRD_PARTY_NOTICES.md",
        to: lua,
        rename: "redis_lua.THIRD_PARTY_NOTICES.md",
      },
    ],
  },
  {
    ...common,
    clean: false,
    // Together, because the types that an entry does not export may need those of Node.
    dts: { emitDtsOnly: true },
    // Otherwise a shared chunk may take the name of an entry, whose types are then those of the chunk.
    outputOptions: { chunkFileNames: "shared-[name].js" },
  },
];
