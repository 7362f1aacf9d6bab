import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build, type Plugin } from "esbuild";
import { expect, test } from "vitest";

const src = fileURLToPath(new URL("../../src/", import.meta.url));

/** Merges all modules into one, as in the package: bundlers then leave out only pure code. */
const merged: Plugin = {
  name: "merged",
  setup(build) {
    build.onResolve({ filter: /^\.{1,2}\// }, ({ path, importer, resolveDir }) => ({
      path: join(importer === "<stdin>" ? resolveDir : dirname(importer), path),
      sideEffects: true,
    }));
  },
};

/** The names of the scripts in a bundle of this source. */
async function scriptsOf(source: string, plugins: Plugin[]): Promise<string[]> {
  const { outputFiles } = await build({
    stdin: { contents: source, resolveDir: src, loader: "ts" },
    plugins,
    bundle: true,
    format: "esm",
    target: "es2023",
    platform: "neutral",
    external: ["@upstash/redis", "cloudflare:*", "node:*"],
    write: false,
    logLevel: "error",
  });
  const text = outputFiles[0]?.text ?? "";
  return Array.from(text.matchAll(/^ +name: "(\w+)",\n +get source\(\)/gm), ([, name]) => name ?? "");
}

test.for([
  ["by module", []],
  ["with all modules in one", [merged]],
] as const)("a bundle has only the scripts that it can call, %s", async ([, plugins]) => {
  const names = (exported: string) =>
    scriptsOf(`export { ${exported} } from "./index.ts";`, [...plugins]).then((found) => found.toSorted());
  expect(await names("Producer")).toEqual([
    "askFormer",
    "cancel",
    "enqueue",
    "get",
    "ownSlots",
    "putMap",
    "register",
    "renameKeys",
    "wake",
  ]);
  expect(await names("delayAfter")).toEqual([]);
});

/** Code that a bundle has only if it is turned on. */
const OPTIONAL = /\/dashboard\/|\/docs\/|\/repair\/deep-/;

/** The part of it that knows how to mount what it gets. */
const MOUNTS = "src/http/dashboard/mount.ts";

/** The source files that a bundle of this source has at the start, if the bundler splits at `import()`. */
async function filesAtStart(source: string): Promise<string[]> {
  const { metafile } = await build({
    stdin: { contents: source, resolveDir: join(src, ".."), loader: "ts" },
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
  const loaded = new Set<string>();
  const load = (file: string) => {
    if (loaded.has(file)) return;
    loaded.add(file);
    for (const { path, kind } of metafile.outputs[file]?.imports ?? [])
      if (kind === "import-statement") load(path);
  };
  const [first = ""] =
    Object.entries(metafile.outputs).find(([, { entryPoint }]) => entryPoint === "<stdin>") ?? [];
  load(first);
  return [...loaded].flatMap((file) =>
    Object.entries(metafile.outputs[file]?.inputs ?? {}).flatMap(([input, { bytesInOutput }]) =>
      bytesInOutput > 0 ? [input] : [],
    ),
  );
}

test.each(["src/http/index.ts", "serverless/node.ts", "serverless/vercel.ts", "src/testing/index.ts"])(
  "the dashboard, the documentation and the deep sweep are in no chunk that %s loads before they are asked for",
  async (entry) => {
    const inputs = await filesAtStart(`export * from "./${entry}";`);
    expect(inputs).toContain("src/http/app.ts");
    expect(inputs.filter((file) => OPTIONAL.test(file))).toEqual([MOUNTS]);
  },
);

test("a bundle with the sweep loads schedules, the upkeep of partitions and the deep sweep later, if at all", async () => {
  const files = await filesAtStart('export { drain, Queue, sweep } from "./src/index.ts";');
  expect(files).toContain("src/queue/sweep/sweep.ts");
  expect(
    files.filter((file) =>
      /\/(?:schedules|repair)\/|\/partitions\/(?:upkeep|shares|former|sweep-part)/.test(file),
    ),
  ).toEqual([]);
});

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

test("a Worker has the dashboard, the documentation and the deep sweep only if it is given them", async () => {
  const worker = 'import { sluice } from "./serverless/cloudflare.ts";';
  const without = await filesOfWorker(`${worker} export default sluice();`);
  expect(without).toContain("src/http/app.ts");
  expect(without.filter((file) => OPTIONAL.test(file))).toEqual([MOUNTS]);
  const docs = 'import { docs } from "./src/http/docs/index.ts";';
  const documented = await filesOfWorker(`${worker} ${docs} export default sluice({ docs });`);
  expect(documented).toContain("src/http/docs/openapi.gen.ts");
});
