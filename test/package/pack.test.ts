import { execFile } from "node:child_process";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { type Bundle, bundles } from "../../bench/bundle/bundles.ts";
import { measure } from "../../bench/bundle/measure.ts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { block } from "../documents/block.ts";
import { startRedis } from "../support/redis.ts";
import { node, Project, root } from "./project.ts";

const manifest = JSON.parse(await readFile(join(root, "package.json"), "utf8")) as {
  version: string;
  exports: Record<string, unknown>;
};
/** Without those that import an optional package at the start; test/platforms/next has the other one. */
const entries = Object.keys(manifest.exports).filter(
  (entry) => !["./package.json", "./opentelemetry", "./next"].includes(entry),
);

/** With the package alone. */
let project: Project;
/** With what the package's errors say to install. */
let server: Project;

beforeAll(async () => {
  [project, server] = await Promise.all([Project.open(), Project.open()]);
});

afterAll(() => Promise.all([project, server].map((one) => one?.close())));

/** What the compiler says to a file of a project, in strict mode. */
async function compiled({ path }: Project, file: string, source: string, ...more: readonly string[]) {
  await writeFile(join(path, file), source);
  const options = ["--strict", "--skipLibCheck", "--module", "nodenext", "--target", "es2023", ...more];
  const tsc = promisify(execFile)(join(root, "node_modules/.bin/tsc"), [...options, file], { cwd: path });
  return (await tsc.catch((error: { stdout: string }) => error)).stdout;
}

test("an installation brings eleven small packages, without a TCP client or a server", async () => {
  expect(await project.installed()).toEqual([
    "@standard-schema/spec",
    "@upstash/redis",
    "aws4fetch",
    "commander",
    "console-table-printer",
    "hono",
    "picocolors",
    "simple-wcswidth",
    "sluice-queue",
    "uncrypto",
    "valibot",
  ]);
});

test("each entry of the exports map exports something, and declares it", async () => {
  const names = entries.map((entry) => entry.replace(".", "sluice-queue"));
  const exported = (await project.run(
    `const found = {};
     for (const name of ${JSON.stringify(names)}) found[name] = Object.keys(await import(name));
     console.log(JSON.stringify(found));`,
  )) as Record<string, string[]>;
  expect(Object.values(exported).filter((values) => values.length === 0)).toEqual([]);
  const uses = Object.entries(exported).map(([name, values], i) => {
    const imports = values.map((value) => `${value} as ${value === "default" ? "all" : value}_${i}`);
    return `import { ${imports.join(", ")} } from "${name}";\nvoid [${imports.map((one) => one.split(" as ")[1]).join(", ")}];`;
  });
  expect(await compiled(project, "entries.ts", uses.join("\n"), "--noEmit")).toBe("");
});

test("the entry for traces needs @opentelemetry/api, which the runtime says, and then can be imported", async () => {
  const source = `const found = await import("sluice-queue/opentelemetry").then(
      ({ openTelemetry }) => ({ made: typeof openTelemetry().traceCalls }),
      ({ code, message }) => ({ code, named: message.includes("'@opentelemetry/api'") }),
    );
    console.log(JSON.stringify(found));`;
  expect(await project.run(source)).toEqual({ code: "ERR_MODULE_NOT_FOUND", named: true });
  await server.install("@opentelemetry/api@1");
  expect(await server.run(source)).toEqual({ made: "function" });
  const typed = `import { openTelemetry } from "sluice-queue/opentelemetry";
    import { Queue, type Transport } from "sluice-queue";
    export const queue = (transport: Transport) => new Queue("emails", { transport, tracing: openTelemetry() });`;
  expect(await compiled(server, "traced.ts", typed, "--noEmit")).toBe("");
});

test("what an application exports compiles with declarations, as `tsc --init` asks for", async () => {
  const apps = ["cloudflare", "vercel", "next", "lambda", "netlify"].map(
    (name) => `import { sluice as ${name}App } from "sluice-queue/${name}";
      export const ${name} = ${name}App<Env>({ consumers: [sent] });`,
  );
  const source = `import { defineQueue } from "sluice-queue";
    type Env = { MAIL_URL: string };
    export const emails = defineQueue<{ to: string }>("emails", { timeout: "10s", unique: "24h" });
    export const sent = emails.consumer(({ payload }, env: Env, { queue }) => queue("log").enqueue([payload.to, env.MAIL_URL]));
    ${apps.join("\n")}
    export const { handlers, queue, schedules } = next;`;
  const declared = ["--declaration", "--emitDeclarationOnly", "--outDir", "declared", "--lib", "es2023,dom"];
  expect(await compiled(project, "app.ts", source, ...declared)).toBe("");
});

const UPSTASH = { UPSTASH_REDIS_REST_URL: "http://127.0.0.1:1", UPSTASH_REDIS_REST_TOKEN: "none" };
const TCP = { REDIS_URL: "redis://127.0.0.1:1" };
const CLIENT = "@redis/client, which is not installed; add it: npm install @redis/client@6";
const SERVER = "@hono/node-server, which is not installed; add it: npm install @hono/node-server@2";

test.each([
  [
    "resp()",
    `import { Queue } from "sluice-queue";
     import { resp } from "sluice-queue/resp";
     const call = () => new Queue("q", { transport: resp("redis://127.0.0.1:1") }).enqueue(1);`,
    `Redis over TCP (resp(), REDIS_URL) needs ${CLIENT}`,
  ],
  [
    "startGateway()",
    `import { startGateway } from "sluice-queue/local";
     const call = () => startGateway({ redisUrl: "redis://127.0.0.1:1" });`,
    `The local gateway needs ${CLIENT}`,
  ],
  [
    "serve() with Redis over TCP",
    `import { serve } from "sluice-queue/node";
     const call = () => serve({ env: ${JSON.stringify(TCP)}, port: 0 });`,
    `Redis over TCP (resp(), REDIS_URL) needs ${CLIENT}`,
  ],
  [
    "serve() with Redis over HTTP",
    `import { serve } from "sluice-queue/node";
     const call = () => serve({ env: ${JSON.stringify(UPSTASH)}, port: 0 });`,
    `serve() on Node needs ${SERVER}`,
  ],
  [
    "startDeployment()",
    `import { startDeployment } from "sluice-queue/node";
     const call = () => startDeployment({ env: ${JSON.stringify(UPSTASH)} });`,
    `startDeployment() needs ${SERVER}`,
  ],
])("%s says which package it needs and how to install it", async (_, source, message) => {
  const seen = await project.run(
    `${source}
     const { name, code, message } = await call().catch((error) => error);
     console.log(JSON.stringify({ name, code, message }));`,
  );
  expect(seen).toEqual({ name: "SluiceError", code: "not_installed", message });
});

test.each([
  [["gateway"], TCP, `sluice gateway needs ${CLIENT}`],
  [["dev"], {}, `sluice dev needs ${SERVER}`],
  [["serve"], UPSTASH, `sluice serve needs ${SERVER}`],
  [
    ["serve"],
    TCP,
    "sluice serve needs @hono/node-server and @redis/client, which are not installed; " +
      "add them: npm install @hono/node-server@2 @redis/client@6",
  ],
  [
    ["dev"],
    TCP,
    "sluice dev needs @redis/client and @hono/node-server, which are not installed; " +
      "add them: npm install @redis/client@6 @hono/node-server@2",
  ],
])("the command %j with %j says in one line which packages it needs", async (args, env, message) => {
  expect(await project.sluice(args, env)).toEqual({ status: 1, stdout: "", stderr: `sluice: ${message}\n` });
});

test("commands that need no more packages run without", async () => {
  expect(await project.sluice(["token", "--scopes", "enqueue", "--queues", "*"])).toMatchObject({
    status: 0,
  });
  expect(await project.sluice(["--version"])).toMatchObject({ status: 0, stdout: `${manifest.version}\n` });
});

test("the embedded store, with its Lua and the licences of that, needs no more packages", async () => {
  const seen = await project.run(
    `import { existsSync } from "node:fs";
     import { Queue } from "sluice-queue";
     import { startGateway } from "sluice-queue/local";
     import { upstash } from "sluice-queue/upstash";
     const gateway = await startGateway();
     const emails = new Queue("emails", { transport: upstash(gateway) });
     await emails.enqueue({ to: "a@example.com" });
     const [task] = await emails.dequeue();
     const completed = await task.complete();
     await gateway.close();
     const lua = new URL("src/embedded/lua/", import.meta.resolve("sluice-queue"));
     const licences = ["redis_lua.LICENSE", "redis_lua.THIRD_PARTY_NOTICES.md"];
     const included = licences.filter((name) => existsSync(new URL(name, lua)));
     console.log(JSON.stringify({ payload: task.payload, ok: completed.ok, included }));`,
  );
  expect(seen).toEqual({
    payload: { to: "a@example.com" },
    ok: true,
    included: ["redis_lua.LICENSE", "redis_lua.THIRD_PARTY_NOTICES.md"],
  });
});

test("a bundle of the built package is as small as one of its sources", async () => {
  const [producer] = bundles;
  const built = `export { Producer } from "./dist/index.js";`;
  const [ofPackage, ofSources] = await Promise.all([
    measure({ name: "built", source: built, part: "first" }, root),
    measure(producer as Bundle, root),
  ]);
  expect(ofPackage.gzipped).toBeLessThan(ofSources.gzipped * 1.02);
});

test("the first lines of the README print what it shows", async () => {
  await writeFile(
    join(project.path, "first.mjs"),
    block("README.md", "test/package/pack.test.ts runs this code", "js"),
  );
  const { stdout } = await promisify(execFile)(node, ["first.mjs"], { cwd: project.path });
  const shown = block("README.md", "test/package/pack.test.ts compares what it prints", "console");
  expect(`$ node first.mjs\n${stdout}`).toBe(`${shown}\n`);
});

test("with what the errors say to install, Redis over TCP, the gateway and a server work", async () => {
  const { stderr } = await server.sluice(["dev"], TCP);
  await server.install(...(/npm install (.*)/.exec(stderr)?.[1] ?? "nothing").split(" "));
  const redis = await startRedis();
  try {
    const seen = await server.run(
      `import { Queue } from "sluice-queue";
       import { startGateway } from "sluice-queue/local";
       import { serve } from "sluice-queue/node";
       import { resp } from "sluice-queue/resp";

       const transport = resp(process.argv[2]);
       const emails = new Queue("emails", { transport });
       const { id } = await emails.enqueue({ to: "a@example.com" });
       const gateway = await startGateway({ redisUrl: process.argv[2] });
       const server = await serve({
         port: 0,
         hostname: "127.0.0.1",
         env: { UPSTASH_REDIS_REST_URL: gateway.url, UPSTASH_REDIS_REST_TOKEN: gateway.token },
         fetch: async (_, { queue }) => Response.json(await queue("emails").get(id)),
       });
       const task = await (await fetch(server.url)).json();
       for (const one of [server, gateway, transport]) await one.close();
       console.log(JSON.stringify([task.id === id, task.state]));`,
      redis.url,
    );
    expect(seen).toEqual([true, "pending"]);
  } finally {
    await redis.stop();
  }
});

test("no declaration needs the types of a package that may be missing", async () => {
  const folder = join(project.path, "node_modules/sluice-queue/dist");
  const all = (await readdir(folder)).filter((name) => name.endsWith(".d.ts"));
  const declarations = all.filter((name) => name !== "opentelemetry.d.ts");
  expect(declarations.length).toBeGreaterThan(10);
  for (const name of declarations) {
    const text = await readFile(join(folder, name), "utf8");
    expect(text).not.toMatch(/["'](?:@redis\/client|@hono\/node-server|@opentelemetry\/api)["']/);
  }
});

test("the declarations check in a strict project without Node's types", async () => {
  const source = `import { Queue, sweep, SluiceError, type Transport } from "sluice-queue";
     import { createApp } from "sluice-queue/http";
     import { resp } from "sluice-queue/resp";
     import { serve } from "sluice-queue/node";
     import { upstash } from "sluice-queue/upstash";
     import worker, { type SluiceAlarm } from "sluice-queue/cloudflare";

     const transport: Transport = upstash({ url: "https://example.com", token: "t" });
     const emails = new Queue<{ to: string }>("emails", { transport, lease: "1m", maxAttempts: 5 });
     const { id, created }: { id: string; created: boolean } = await emails.enqueue({ to: "a" }, { delay: "30s" });
     const [task] = await emails.dequeue({ max: 10 });
     export const to: string | undefined = task?.payload.to;
     // @ts-expect-error a payload of another type
     await emails.enqueue({ to: 1 });
     // As in the types that wrangler generates.
     type DurableObjectNamespace<T extends { __DURABLE_OBJECT_BRAND: never }> = { readonly object?: T };
     export type Env = { SLUICE_ALARM: DurableObjectNamespace<SluiceAlarm> };
     export const all = [id, created, sweep, SluiceError, createApp, resp, serve, worker.fetch];`;
  const strictly = ["--noEmit", "--lib", "es2023,dom", "--skipLibCheck", "false"];
  expect(await compiled(project, "use.ts", source, ...strictly)).toBe("");
});
