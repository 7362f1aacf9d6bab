import { defineConfig } from "tsdown";

// Each entry is an export of package.json, but for the command.
export default defineConfig({
  entry: {
    index: "src/index.ts",
    upstash: "src/transport/upstash.ts",
    resp: "src/transport/resp.ts",
    http: "src/http/index.ts",
    dashboard: "src/dashboard/index.ts",
    client: "src/client/index.ts",
    encryption: "src/queue/values/aes-gcm.ts",
    offload: "src/offload/index.ts",
    "offload-folder": "src/offload/folder.ts",
    opentelemetry: "src/tracing/open-telemetry.ts",
    alerts: "src/alerts/index.ts",
    sqs: "src/consumer/adapters/sqs.ts",
    cloudflare: "serverless/cloudflare.ts",
    vercel: "serverless/vercel.ts",
    lambda: "serverless/lambda.ts",
    netlify: "serverless/netlify.ts",
    deno: "serverless/deno.ts",
    bun: "serverless/bun.ts",
    node: "serverless/node.ts",
    testing: "src/testing/index.ts",
    local: "src/local/index.ts",
    cli: "src/cli/main.ts",
  },
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
});
