// What the library adds to a Worker's bundle: minified by esbuild, gzipped, without @upstash/redis and
// @opentelemetry/api, which an application may have anyway.

import { gzipSync } from "node:zlib";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { printGoal, printTable } from "./report.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const index = "./src/index.ts";
const overHttp = `export { upstash } from "./src/transport/upstash.ts";`;

const contents = [
  { name: "Producer", source: `export { Producer } from "${index}";` },
  { name: "Producer and upstash()", source: `export { Producer } from "${index}"; ${overHttp}` },
  { name: "Queue", source: `export { Queue } from "${index}";` },
  { name: "Queue, sweep and upstash()", source: `export { Queue, sweep } from "${index}"; ${overHttp}` },
  {
    name: "Queue, drain, sweep and upstash()",
    source: `export { drain, Queue, sweep } from "${index}"; ${overHttp}`,
  },
  { name: "createClient", source: `export { createClient } from "./src/client/index.ts";` },
  { name: "openTelemetry", source: `export * from "./src/tracing/open-telemetry.ts";` },
  { name: "encryption", source: `export { encryption } from "./src/queue/values/aes-gcm.ts";` },
];

async function bundle(source: string) {
  const { outputFiles, metafile } = await build({
    stdin: { contents: source, resolveDir: root, loader: "ts" },
    bundle: true,
    minify: true,
    format: "esm",
    target: "es2023",
    conditions: ["workerd", "worker"],
    external: ["@upstash/redis", "@opentelemetry/api"],
    metafile: true,
    write: false,
    absWorkingDir: root,
    logLevel: "error",
  });
  const code = outputFiles[0]?.contents ?? new Uint8Array();
  const inputs = Object.values(metafile.outputs)[0]?.inputs ?? {};
  const parts = Object.entries(inputs).map(([file, { bytesInOutput }]) => ({ file, bytes: bytesInOutput }));
  return { minified: code.length, gzipped: gzipSync(code, { level: 9 }).length, parts };
}

const kilobytes = (bytes: number) => (bytes / 1_000).toFixed(2);
const bundles = await Promise.all(
  contents.map(async ({ name, source }) => ({ name, ...(await bundle(source)) })),
);

console.log("KB (1,000 bytes), @upstash/redis left out\n");
printTable(
  ["", "minified", "gzipped"],
  bundles.map(({ name, minified, gzipped }) => [name, kilobytes(minified), kilobytes(gzipped)]),
);

/** What DESIGN's budgets allow, in bytes. */
const goals = [
  { name: "Producer", gzipped: 11_000 },
  { name: "Queue, sweep and upstash()", gzipped: 40_000, minified: 140_000 },
];

for (const goal of goals) {
  const found = bundles.find(({ name }) => name === goal.name);
  if (!found) throw new Error(`no bundle is called ${goal.name}`);
  console.log(`\n${goal.name}: the parts, minified bytes\n`);
  const parts = found.parts.filter(({ bytes }) => bytes > 0).toSorted((a, b) => b.bytes - a.bytes);
  printTable(
    ["", "bytes"],
    parts.map(({ file, bytes }) => [file, String(bytes)]),
  );
  console.log();
  for (const size of ["gzipped", "minified"] as const) {
    const most = goal[size];
    if (most === undefined) continue;
    const what = `${goal.name}, ${size}`;
    printGoal(what, `${kilobytes(found[size])} KB`, `≤ ${most / 1_000} KB`, found[size] <= most);
  }
}
