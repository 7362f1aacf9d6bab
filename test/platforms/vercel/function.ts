import { readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { EdgeRuntime, runServer } from "edge-runtime";
import { build, type BuildOptions } from "esbuild";
import { freePort } from "../../../src/local/stack/port.ts";
import type { Deployed } from "../place.ts";
import { Project, root } from "../project.ts";

/** In the repository the package is the source. A project has it in its node_modules. */
const alias = {
  "sluice-queue": join(root, "src/index.ts"),
  "sluice-queue/vercel": join(root, "serverless/vercel.ts"),
};

/** The supported parts of a vercel.json. */
interface Configuration {
  readonly functions: Readonly<Record<string, { readonly maxDuration: number }>>;
  readonly rewrites: readonly { readonly source: string; readonly destination: string }[];
  readonly crons: readonly { readonly path: string; readonly schedule: string }[];
}

export type FunctionRuntime = "edge" | "nodejs";

export interface VercelFunction {
  /** Its vercel.json, from the root of the repository. */
  readonly configuration: string;
  /** Its one function, from there too, in place of the configured one. */
  readonly entry: string;
  readonly runtime: FunctionRuntime;
  /** With a `SLUICE_WAKE_SECRET`, its own address is added. */
  readonly env: Readonly<Record<string, string>>;
}

/**
 * Serves a project without a framework as Vercel does: rewrites to its one function, its runtime, its cron.
 */
export async function startFunction(options: VercelFunction): Promise<Deployed & { url: string }> {
  const { configuration, entry, runtime, env } = options;
  const config = JSON.parse(await readFile(join(root, configuration), "utf8")) as Configuration;
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const settings = { ...env, ...("SLUICE_WAKE_SECRET" in env && { SLUICE_WAKE_URL: `${url}/wake` }) };
  const stop = await (runtime === "edge" ? startEdge : startNode)(resolve(root, entry), port, settings);
  // A rewritten request keeps its own path.
  const routed = (path: string) =>
    config.rewrites.find(({ source }) => new RegExp(`^${source}$`).test(path))?.destination;
  const request = async (path: string, init: RequestInit) => {
    const target = routed(new URL(path, url).pathname);
    if (target === undefined || !(`${target.slice(1)}.ts` in config.functions)) {
      return new Response("NOT_FOUND", { status: 404 });
    }
    return fetch(new URL(path, url), init);
  };
  return {
    url,
    stop,
    async fetch({ url: asked, method, headers, body }) {
      const { pathname, search } = new URL(asked);
      return request(pathname + search, { method, headers, body, duplex: "half" } as RequestInit);
    },
    // https://vercel.com/docs/cron-jobs/manage-cron-jobs
    async cron() {
      for (const { path } of config.crons) {
        const headers = { "user-agent": "vercel-cron/1.0", authorization: `Bearer ${env["CRON_SECRET"]}` };
        const response = await request(path, { headers });
        if (!response.ok) throw new Error(`cron: HTTP ${response.status} ${await response.text()}`);
        await response.body?.cancel();
      }
    },
  };
}

type Stop = () => Promise<void>;

const shared = (entry: string) =>
  ({
    entryPoints: [entry],
    bundle: true,
    alias: entry.startsWith(root) ? alias : {},
    absWorkingDir: root,
    logLevel: "error",
  }) satisfies BuildOptions;

/** Bundles and wraps as @vercel/node does for the Edge runtime. */
async function startEdge(entry: string, port: number, env: VercelFunction["env"]): Promise<Stop> {
  const { outputFiles } = await build({
    ...shared(entry),
    platform: "browser",
    format: "cjs",
    conditions: ["edge-light", "browser", "module"],
    write: false,
  });
  const handle = `addEventListener("fetch", (event) => {
    const handler = module.exports[event.request.method] ?? (() => new Response(null, { status: 405 }));
    event.respondWith(handler(event.request, { waitUntil: event.waitUntil.bind(event) }));
  });`;
  const runtime = new EdgeRuntime({
    initialCode: `${outputFiles[0]?.text}\n${handle}`,
    extend: (context) => Object.assign(context, { module: { exports: {} }, process: { env: { ...env } } }),
  });
  return (await runServer({ runtime, host: "127.0.0.1", port })).close;
}

async function startNode(entry: string, port: number, env: VercelFunction["env"]): Promise<Stop> {
  const project = await Project.open();
  await build({
    ...shared(entry),
    platform: "node",
    format: "esm",
    target: "node22",
    outfile: join(project.path, "function.mjs"),
  });
  const runtime = fileURLToPath(new URL("node-runtime.ts", import.meta.url));
  await project.start(`node ${runtime} ./function.mjs`, { ...env, PORT: String(port) });
  return () => project.close();
}
