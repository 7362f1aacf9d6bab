import { gzipSync } from "node:zlib";
import { build, type Plugin } from "esbuild";
import type { Bundle } from "./bundles.ts";

/** Sizes in bytes. */
export interface Measured {
  readonly minified: number;
  readonly gzipped: number;
  /** What each source file adds to `minified`. */
  readonly files: ReadonlyMap<string, number>;
}

/**
 * Bundles as wrangler does, with its options `minify = true` and `keep_names = false`, without what an application
 * may have anyway.
 * @param root the folder of the project: this one, or a copy of an older state
 */
export async function measure({ source, part }: Bundle, root: string): Promise<Measured> {
  const { outputFiles, metafile } = await build({
    stdin: { contents: source, resolveDir: root, loader: "ts" },
    absWorkingDir: root,
    bundle: true,
    outdir: "out",
    minify: true,
    format: "esm",
    platform: "browser",
    target: "es2024",
    conditions: ["workerd", "worker", "browser"],
    external: ["@upstash/redis", "@opentelemetry/api", "cloudflare:*", "node:*"],
    // As in the published package: in its order, and without a "use strict" for each module.
    tsconfigRaw: { compilerOptions: { verbatimModuleSyntax: true, alwaysStrict: false } },
    plugins: part === "first" ? [withoutLater] : [],
    metafile: true,
    write: false,
    logLevel: "silent",
  });
  const [code] = outputFiles;
  const [output] = Object.values(metafile.outputs);
  if (!code || !output) throw new Error("esbuild has made no bundle");
  const files = new Map<string, number>();
  for (const [path, { bytesInOutput }] of Object.entries(output.inputs)) {
    // A copy of the project has the packages of this one.
    const file = path.replace(/^.*(?=node_modules\/)/, "");
    if (bytesInOutput > 0) files.set(file, (files.get(file) ?? 0) + bytesInOutput);
  }
  return {
    minified: code.contents.length,
    gzipped: gzipSync(code.contents, { level: 9 }).length,
    files,
  };
}

/** Leaves out what is loaded by `import()`. */
const withoutLater: Plugin = {
  name: "without-later",
  setup: (build) =>
    build.onResolve({ filter: /./ }, ({ kind, path }) =>
      kind === "dynamic-import" ? { path, external: true } : undefined,
    ),
};

/** What each folder adds to `minified`: a package, or a folder of up to three names. */
export function byFolder({ files }: Measured): ReadonlyMap<string, number> {
  const folders = new Map<string, number>();
  for (const [file, bytes] of files) {
    const [folder = "the rest"] = /^(?:node_modules\/(?:@[^/]+\/)?[^/]+|(?:[^/]+\/){1,3})/.exec(file) ?? [];
    folders.set(folder, (folders.get(folder) ?? 0) + bytes);
  }
  return folders;
}
