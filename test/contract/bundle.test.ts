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
  return Array.from(text.matchAll(/^ {2}name: "(\w+)",\n {2}get source\(\)/gm), ([, name]) => name ?? "");
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

test.each(["src/http/index.ts", "serverless/cloudflare.ts", "serverless/node.ts", "src/testing/index.ts"])(
  "the dashboard is in no chunk that %s loads before a request to it",
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
    const loaded = new Set<string>();
    const load = (file: string) => {
      if (loaded.has(file)) return;
      loaded.add(file);
      for (const { path, kind } of metafile.outputs[file]?.imports ?? [])
        if (kind === "import-statement") load(path);
    };
    const [first = ""] =
      Object.entries(metafile.outputs).find(([, { entryPoint }]) => entryPoint === entry) ?? [];
    load(first);
    const inputs = [...loaded].flatMap((file) => Object.keys(metafile.outputs[file]?.inputs ?? {}));
    expect(inputs).toContain("src/http/app.ts");
    expect(inputs.filter((file) => /dashboard/.test(file))).toEqual(["src/http/dashboard/mount.ts"]);
  },
);
