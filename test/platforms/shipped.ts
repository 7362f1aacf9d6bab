import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";
import { onTestFinished, vi } from "vitest";
import { root } from "./project.ts";

// The shipped files for a deployment of the service alone. The other tests of a platform replace them.

/** The settings of a deployment that sends nothing to its database. */
export const unused = {
  UPSTASH_REDIS_REST_URL: "http://127.0.0.1:9",
  UPSTASH_REDIS_REST_TOKEN: "unused",
};

/** A request whose answer is the document of `openapi.gen.ts`. */
export const forDocument = () => new Request("https://sluice.test/openapi.json");

/** The exports of a file, with the package of this repository, in an environment with {@link unused}. */
export async function exportsOf<T>(file: string, platform: string): Promise<T> {
  for (const [name, value] of Object.entries(unused)) vi.stubEnv(name, value);
  const folder = await mkdtemp(join(tmpdir(), "sluice-shipped-"));
  onTestFinished(async () => {
    vi.unstubAllEnvs();
    await rm(folder, { recursive: true });
  });
  const outfile = join(folder, `${platform}.mjs`);
  await build({
    absWorkingDir: root,
    entryPoints: [file],
    alias: { [`sluice-queue/${platform}`]: join(root, `serverless/${platform}.ts`) },
    bundle: true,
    platform: "node",
    format: "esm",
    outfile,
    logLevel: "error",
  });
  return (await import(pathToFileURL(outfile).href)) as T;
}
