// What the library adds to a bundle: minified by esbuild, gzipped, without @upstash/redis and @opentelemetry/api, which
// an application may have anyway. `--check` fails if a bundle is larger than its limit; `--lower` lowers the limits to
// what has been reached; `--parts NAME` prints what a bundle is made of.

import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { bundles } from "./bundle/bundles.ts";
import { grownSince, limitFor, readLimits, writeLimits } from "./bundle/limits.ts";
import { byFolder, measure } from "./bundle/measure.ts";
import { printTable } from "./table.ts";

const { values: options } = parseArgs({
  options: { check: { type: "boolean" }, lower: { type: "boolean" }, parts: { type: "string" } },
});
const root = fileURLToPath(new URL("..", import.meta.url));
const kilobytes = (bytes: number) => (bytes / 1_000).toFixed(1);

async function printParts(name: string) {
  const bundle = bundles.find((one) => one.name === name);
  if (!bundle) throw new Error(`--parts must be one of: ${bundles.map((one) => one.name).join("; ")}`);
  const measured = await measure(bundle, root);
  for (const [what, parts] of [["folder", byFolder(measured)] as const, ["file", measured.files] as const]) {
    const rows = [...parts].toSorted(([, a], [, b]) => b - a).map(([part, bytes]) => [part, String(bytes)]);
    printTable([what, "minified bytes"], rows);
    console.log();
  }
}

async function printSizes() {
  const limits = readLimits(root);
  const measured = await Promise.all(
    bundles.map(async (bundle) => {
      const size = await measure(bundle, root);
      return { bundle, size, limit: limits[bundle.name] ?? 0, reached: limitFor(size) };
    }),
  );
  console.log("KB (1,000 bytes)\n");
  printTable(
    ["", "minified", "gzipped", "limit", "goal"],
    measured.map(({ bundle: { name, goal }, size, limit }) => [
      name,
      kilobytes(size.minified),
      kilobytes(size.gzipped),
      kilobytes(limit),
      goal === undefined ? "" : `${goal / 1_000}${size.gzipped > goal ? ", missed" : ""}`,
    ]),
  );
  console.log();

  if (options.lower) {
    // A bundle that is new gets its first limit.
    const lower = measured.map(({ bundle, limit, reached }) => [
      bundle.name,
      Math.min(limit || reached, reached),
    ]);
    writeLimits(root, Object.fromEntries(lower));
    return;
  }
  for (const { bundle, limit, reached } of measured)
    if (reached < limit)
      console.log(
        `The limit of ${bundle.name} can be lowered to ${kilobytes(reached)} KB: npm run bench:bundle -- --lower`,
      );
  if (!options.check) return;
  for (const { bundle, size, limit } of measured) {
    if (size.gzipped <= limit) continue;
    process.exitCode = 1;
    console.error(
      `${bundle.name} is ${size.gzipped - limit} gzipped bytes larger than its limit of ${limit}.`,
    );
    try {
      const { since, folders, files } = await grownSince(root, bundle, limit, size);
      console.error(`What has grown most since ${since}, which set the limit, in minified bytes:`);
      for (const { part, bytes } of [...folders, ...files]) console.error(`  ${part}: ${bytes} more`);
    } catch (error) {
      console.error(`Which files have grown is unknown: ${String(error)}`);
    }
  }
}

await (options.parts === undefined ? printSizes() : printParts(options.parts));
