import { fileURLToPath } from "node:url";
import { entries } from "../entries.ts";

export default {
  cwd: fileURLToPath(new URL("../..", import.meta.url)),
  entry: entries,
  format: "esm",
  // Runs in Workers, Deno and Bun too: nothing of Node is assumed, and what is imported as node: stays so.
  platform: "neutral",
  target: "es2023",
  // Types of the package alone: a fault of a test or an example is for the type check.
  tsconfig: "tsconfig.build.json",
  dts: true,
  hash: false,
  // Otherwise a shared chunk may take the name of an entry, whose types are then those of the chunk.
  outputOptions: { chunkFileNames: "shared-[name].js" },
  // The Lua of the embedded store, with its licences.
  copy: [
    { from: "node_modules/lua-redis-wasm/dist/redis_lua.wasm", to: "dist" },
    { from: "node_modules/lua-redis-wasm/LICENSE", to: "dist", rename: "redis_lua.LICENSE" },
    {
      from: "node_modules/lua-redis-wasm/THIRD_PARTY_NOTICES.md",
      to: "dist",
      rename: "redis_lua.THIRD_PARTY_NOTICES.md",
    },
  ],
  deps: { neverBundle: [/^node:/, /^cloudflare:/] },
};
