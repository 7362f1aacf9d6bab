import { defineConfig } from "tsdown";

// Each entry is an export of package.json, but for the command.
export default defineConfig({
  entry: {
    index: "src/index.ts",
    upstash: "src/transport/upstash.ts",
    resp: "src/transport/resp.ts",
    http: "src/http/index.ts",
    client: "src/client/index.ts",
    sqs: "src/consumer/sqs.ts",
    cloudflare: "serverless/cloudflare.ts",
    local: "src/local/index.ts",
    cli: "src/cli/main.ts",
  },
  format: "esm",
  // Runs in Workers, Deno and Bun too: nothing of Node is assumed, and what is imported as node: stays so.
  platform: "neutral",
  target: "es2023",
  dts: true,
  hash: false,
  deps: { neverBundle: [/^node:/, /^cloudflare:/] },
});
