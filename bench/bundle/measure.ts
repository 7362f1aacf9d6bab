import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import type { Bundle } from "./bundles.ts";

/** Sizes in bytes. */
export interface Measured {
  readonly minified: number;
  /** The sum of its files, each gzipped alone. */
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
    splitting: part !== "one file",
    outdir: "out",
    minify: true,
    format: "esm",
    platform: "browser",
    target: "es2024",
    conditions: ["workerd", "worker", "browser"],
    external: ["@upstash/redis", "@opentelemetry/api", "cloudflare:*", "node:*"],
    metafile: true,
    write: false,
    logLevel: "silent",
  });
  const { outputs } = metafile;
  const loaded = new Set<string>();
  const load = (file: string) => {
    if (loaded.has(file)) return;
    loaded.add(file);
    for (const { path, kind, external } of outputs[file]?.imports ?? [])
      if (!external && (part === "all" || kind === "import-statement")) load(path);
  };
  for (const [file, { entryPoint }] of Object.entries(outputs)) if (entryPoint === "<stdin>") load(file);

  const codes = outputFiles.filter(({ path }) => loaded.has(path.slice(root.length)));
  const files = new Map<string, number>();
  for (const output of loaded)
    for (const [path, { bytesInOutput }] of Object.entries(outputs[output]?.inputs ?? {})) {
      // A copy of the project has the packages of this one.
      const file = path.replace(/^.*(?=node_modules\/)/, "");
      if (bytesInOutput > 0) files.set(file, (files.get(file) ?? 0) + bytesInOutput);
    }
  const sum = (sizeOf: (code: Uint8Array) => number) =>
    codes.reduce((bytes, { contents }) => bytes + sizeOf(contents), 0);
  return {
    minified: sum((code) => code.length),
    gzipped: sum((code) => gzipSync(code, { level: 9 }).length),
    files,
  };
}

/** What each folder adds to `minified`: a package, or a folder of up to three names. */
export function byFolder({ files }: Measured): ReadonlyMap<string, number> {
  const folders = new Map<string, number>();
  for (const [file, bytes] of files) {
    const [folder = "the rest"] = /^(?:node_modules\/(?:@[^/]+\/)?[^/]+|(?:[^/]+\/){1,3})/.exec(file) ?? [];
    folders.set(folder, (folders.get(folder) ?? 0) + bytes);
  }
  return folders;
}
