import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { build, type Metafile } from "esbuild";
import { expect, test } from "vitest";

const src = fileURLToPath(new URL("../../src/", import.meta.url));

/** The names of the scripts in what a bundle of this source loads at once. */
async function scriptsOf(source: string): Promise<string[]> {
  const { outputFiles, metafile } = await build({
    stdin: { contents: source, resolveDir: src, loader: "ts" },
    bundle: true,
    splitting: true,
    format: "esm",
    target: "es2023",
    platform: "neutral",
    external: ["@upstash/redis", "cloudflare:*", "node:*"],
    outdir: "out",
    absWorkingDir: src,
    write: false,
    metafile: true,
    logLevel: "error",
  });
  const atOnce = loadedAtOnce(metafile, (entryPoint) => entryPoint === "<stdin>");
  const texts = outputFiles.filter(({ path }) => atOnce.has(relative(src, path))).map(({ text }) => text);
  return [...texts.join("\n").matchAll(/ name: "(\w+)",\n\s+get source\(\)/g)].map(([, name]) => name ?? "");
}

/** The chunks that an entry loads before anything is asked for. */
function loadedAtOnce(metafile: Metafile, isEntry: (entryPoint: string | undefined) => boolean): Set<string> {
  const loaded = new Set<string>();
  const load = (file: string) => {
    if (loaded.has(file)) return;
    loaded.add(file);
    for (const { path, kind } of metafile.outputs[file]?.imports ?? [])
      if (kind === "import-statement") load(path);
  };
  const [first = ""] =
    Object.entries(metafile.outputs).find(([, { entryPoint }]) => isEntry(entryPoint)) ?? [];
  load(first);
  return loaded;
}

test("a bundle has only the scripts that it can call", async () => {
  const names = async (exported: string) =>
    (await scriptsOf(`export { ${exported} } from "./index.ts";`)).toSorted();
  // The others are loaded when they are needed.
  expect(await names("Producer")).toEqual(["enqueuePlain", "register"]);
  expect(await names("Queue")).toEqual(["dequeue", "enqueuePlain", "register", "settle", "settleAndDequeue"]);
  expect(await names("delayAfter")).toEqual([]);
});

/** Code that a bundle has only if it is turned on. */
const OPTIONAL = /\/dashboard\/|\/docs\/|\/repair\/deep-/;

/** The linked edition of the scripts, and what enqueues with a key and schedules need. */
const OF_PARTS =
  /\/linked\/|linked\.gen|features\/(?:order|debounce|schedules)\/|lua\/enqueue-(?:debounced|throttled)/;

/** The part of it that knows how to mount what it gets. */
const MOUNTS = "src/http/dashboard/mount.ts";

test.each([
  "src/http/index.ts",
  "serverless/node.ts",
  "serverless/vercel.ts",
  "serverless/next.ts",
  "src/testing/index.ts",
])(
  "the dashboard, the documentation and the deep sweep are in no chunk that %s loads before they are asked for",
  async (entry) => {
    const { metafile } = await build({
      entryPoints: [join(src, "..", entry)],
      absWorkingDir: join(src, ".."),
      bundle: true,
      splitting: true,
      format: "esm",
      platform: "neutral",
      packages: "external",
      outdir: "out",
      write: false,
      metafile: true,
      logLevel: "error",
    });
    const loaded = loadedAtOnce(metafile, (entryPoint) => entryPoint === entry);
    const inputs = [...loaded].flatMap((file) => Object.keys(metafile.outputs[file]?.inputs ?? {}));
    expect(inputs).toContain("src/http/app.ts");
    expect(inputs.filter((file) => OPTIONAL.test(file))).toEqual([MOUNTS]);
  },
);

/** The source files of a bundle in one file, as wrangler makes it. */
async function filesOfWorker(source: string): Promise<string[]> {
  const { metafile } = await build({
    stdin: { contents: source, resolveDir: join(src, ".."), loader: "ts" },
    absWorkingDir: join(src, ".."),
    bundle: true,
    format: "esm",
    platform: "neutral",
    packages: "external",
    external: ["cloudflare:*", "node:*"],
    write: false,
    metafile: true,
    logLevel: "error",
  });
  return Object.entries(Object.values(metafile.outputs)[0]?.inputs ?? {})
    .filter(([, { bytesInOutput }]) => bytesInOutput > 0)
    .map(([file]) => file);
}

test("a Worker has each optional part only if it is given them", async () => {
  const worker = 'import { sluice } from "./serverless/cloudflare.ts";';
  const without = await filesOfWorker(`${worker} export default sluice();`);
  expect(without).toContain("src/http/app.ts");
  expect(without.filter((file) => OPTIONAL.test(file))).toEqual([MOUNTS]);
  expect(without.filter((file) => OF_PARTS.test(file))).toEqual([]);
  const docs = 'import { docs } from "./src/http/docs/index.ts";';
  const documented = await filesOfWorker(`${worker} ${docs} export default sluice({ docs });`);
  expect(documented).toContain("src/http/docs/openapi.gen.ts");
});
