import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { openapi } from "../../src/http/docs/openapi.gen.ts";
import { startRedis } from "../support/redis.ts";
import { byUrl } from "./lambda/events.ts";
import { end } from "./process/deployed.ts";
import { Project } from "./process/project.ts";
import { startProject } from "./vercel/project.ts";

// The shipped files for a deployment of the service alone. The other tests of a platform replace them.

const root = fileURLToPath(new URL("../../", import.meta.url));
const env = { UPSTASH_REDIS_REST_URL: "http://127.0.0.1:9", UPSTASH_REDIS_REST_TOKEN: "unused" };

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "sluice-shipped-"));
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await rm(folder, { recursive: true });
});

/** The exports of a file, with the package of this repository. */
async function exportsOf<T>(file: string, platform: string): Promise<T> {
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

const request = () => new Request("https://sluice.test/openapi.json");

test("the function for Vercel is the service", async () => {
  const configuration = "serverless/vercel/vercel.json";
  const entry = "serverless/vercel/api/sluice.ts";
  const project = await startProject({ configuration, entry, runtime: "nodejs", env });
  try {
    expect(await (await project.fetch(request())).json()).toEqual(openapi);
  } finally {
    await project.stop();
  }
  const methods = ["DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT"];
  expect(Object.keys(await exportsOf<object>(entry, "vercel")).toSorted()).toEqual(methods);
});

test("the handler for Lambda is the service", async () => {
  interface Shipped {
    handler(event: object, context: object): Promise<{ body: string }>;
  }
  const { handler } = await exportsOf<Shipped>("serverless/lambda/handler.ts", "lambda");
  const { body } = await handler(byUrl({ path: "/openapi.json" }), {
    getRemainingTimeInMillis: () => 29_000,
  });
  expect(JSON.parse(body)).toEqual(openapi);
});

test("the function for Netlify is the service, at every path", async () => {
  interface Shipped {
    default(request: Request, context: object): Promise<Response>;
    readonly config: object;
  }
  const file = "serverless/netlify/netlify/functions/sluice.mts";
  const { default: answer, config } = await exportsOf<Shipped>(file, "netlify");
  expect(await (await answer(request(), { waitUntil: () => {} })).json()).toEqual(openapi);
  expect(config).toEqual({ path: "/*" });
});

test("the program for Deno is the service", async () => {
  const [project, redis] = [await Project.open("serverless/deno"), await startRedis()];
  try {
    const command = "deno run --allow-net --allow-env main.ts";
    const server = await project.start(command, { REDIS_URL: redis.url });
    expect(await (await server.fetch(request())).json()).toEqual(openapi);
    expect(server.printed()).toBe(`Sluice answers at http://localhost:${new URL(server.url).port}\n`);
    await end(server);
  } finally {
    await project.close();
    await redis.stop();
  }
});
