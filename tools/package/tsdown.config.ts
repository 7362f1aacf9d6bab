import { fileURLToPath } from "node:url";
import { entries } from "../entries.ts";

const common = {
  cwd: fileURLToPath(new URL("../..", import.meta.url)),
  entry: entries,
  format: "esm",
  // Runs in Workers, Deno and Bun too: nothing of Node is assumed, and what is imported as node: stays so.
  platform: "neutral",
  target: "es2023",
  // Types of the package alone: a fault of a test or an example is for the type check.
  tsconfig: "tsconfig.build.json",
  hash: false,
  deps: { neverBundle: [/^node:/, /^cloudflare:/] },
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
    // The Lua of the embedded store, with its licences.
    copy: [
      { from: "node_modules/lua-redis-wasm/dist/redis_lua.wasm", to: lua },
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
