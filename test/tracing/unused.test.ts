import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { describe, expect, test } from "vitest";
import { drain, Queue } from "../../src/index.ts";
import { openTelemetry } from "../../src/tracing/open-telemetry.ts";
import { useBilled } from "../support/billed.ts";
import { many } from "../support/new-tasks.ts";
import { useTraces } from "./traces.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));

test.each([
  "src/index.ts",
  "src/client/index.ts",
  "src/http/index.ts",
  "serverless/cloudflare.ts",
  "serverless/node.ts",
])("%s imports nothing of OpenTelemetry, and nothing that uses it", async (entry) => {
  const { metafile } = await build({
    entryPoints: [entry],
    absWorkingDir: root,
    bundle: true,
    format: "esm",
    target: "es2023",
    platform: "neutral",
    external: [
      "@upstash/redis",
      "croner",
      "hono",
      "hono/*",
      "valibot",
      "@hono/*",
      "@redis/*",
      "cloudflare:*",
      "node:*",
    ],
    outdir: "unused",
    metafile: true,
    write: false,
    logLevel: "error",
  });
  const files = Object.keys(metafile.inputs);
  expect(files).toContain("src/queue/core/tracing.ts");
  expect(files.filter((file) => /opentelemetry|src\/tracing/.test(file))).toEqual([]);
  const outputs = Object.values(metafile.outputs).flatMap(({ imports }) => imports.map(({ path }) => path));
  expect(outputs.filter((path) => path.includes("opentelemetry"))).toEqual([]);
});

describe("traces", () => {
  useTraces();
  const billed = useBilled();

  test("cost no Redis command", async () => {
    const costs = async (options: object) => {
      const queue = new Queue(billed.queue.name, { transport: billed.queue["transport"], ...options });
      const enqueue = await billed.cost(() => queue.enqueue(1));
      const dequeue = await billed.cost(() => queue.dequeue());
      await drain(queue, () => {});
      const enqueueMany = await billed.cost(() => queue.enqueueMany(many(10)));
      const tasks = await queue.dequeue({ max: 10 });
      const receipts = tasks.map(({ receipt }) => ({ receipt, outcome: "complete" as const }));
      const settle = await billed.cost(() => queue.settle(receipts));
      await queue.enqueueMany(many(10));
      const drained = await billed.cost(() => drain(queue, () => {}, { batch: 10, concurrency: 10 }));
      return { enqueue, dequeue, enqueueMany, settle, drained };
    };
    // The first round leaves what later ones find.
    await costs({});
    const untraced = await costs({});
    expect(await costs({ tracing: openTelemetry() })).toEqual(untraced);
  });
});
