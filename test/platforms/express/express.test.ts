import { hostname } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { Operator, Queue } from "../../../src/index.ts";
import { startGateway } from "../../../src/local/index.ts";
import { resp } from "../../../src/transports/resp.ts";
import { signedHeaders, signingKey } from "../../../src/signature.ts";
import { upstash } from "../../../src/transports/upstash.ts";
import { asker, secrets, tokens } from "../../http/served.ts";
import { startRedis } from "../../support/redis.ts";
import { checksCommands } from "../acceptance.ts";
import { Page, read } from "../page.ts";
import { wakeSecret } from "../place.ts";
import { end, Project, root, type ServerProcess } from "../project.ts";

const page = new Page("express");
const code = (name: string) =>
  new RegExp(`runs this code: ${name} -->\n\`\`\`ts\n([\\s\\S]*?\n)\`\`\``).exec(read(page.path))?.[1] ??
  "none";
const [deployment = ""] = code("express").split("const app");
/** The programs of the page. */
const programs = {
  express: code("express"),
  fastify: deployment.replace('express from "express"', 'Fastify from "fastify"') + code("fastify"),
};

/** Applications whose own users may see the dashboard. The framework's request says who they are. */
const withOwnLogin = {
  "express-login": `
    import express, { type Request as ExpressRequest } from "express";
    import { startDeployment } from "sluice-queue/node";
    declare global { namespace Express { interface Request { user?: string } } }
    const deployment = await startDeployment({
      dashboard: { authorize: (_, { user }: ExpressRequest) => user === "ada" && { scopes: ["view"], queues: "*" } },
    });
    const app = express();
    app.use((request, _response, next) => {
      request.user = request.headers.cookie?.replace("user=", "");
      next();
    });
    app.use("/queue", deployment.handler);
    const server = app.listen(process.env.PORT);
    process.once("SIGTERM", () => deployment.close(server).finally(process.exit));`,
  "fastify-login": `
    import Fastify, { type FastifyRequest } from "fastify";
    import { startDeployment } from "sluice-queue/node";
    declare module "fastify" { interface FastifyRequest { user?: string } }
    const deployment = await startDeployment({
      dashboard: { authorize: (_, { user }: FastifyRequest) => user === "ada" && { scopes: ["view"], queues: "*" } },
    });
    const app = Fastify();
    app.addHook("onRequest", async (request) => {
      request.user = request.headers.cookie?.replace("user=", "");
    });
    await app.register(deployment.fastify, { prefix: "/queue" });
    await app.listen({ port: Number(process.env.PORT) });
    process.once("SIGTERM", () => app.close().finally(process.exit));`,
};

let project: Project;
beforeAll(async () => {
  const packages = ["@types/express", "@types/node", "compression", "express", "express-4", "fastify"];
  project = await Project.open({
    packages: ["@hono/node-server", "@redis/client"],
    tools: { from: "test/platforms/express", packages, commands: [] },
  });
  for (const [name, program] of Object.entries({ ...programs, ...withOwnLogin }))
    await project.write(`${name}.ts`, program);
});
afterAll(() => project?.close());

/** A database of the test's own. */
async function openDatabase() {
  const gateway = await startGateway();
  onTestFinished(() => gateway.close());
  const env = { UPSTASH_REDIS_REST_URL: gateway.url, UPSTASH_REDIS_REST_TOKEN: gateway.token };
  return { env, emails: new Queue("emails", { transport: upstash(gateway) }) };
}

/** The settings of the page, or of its environment. */
async function start(
  file: string,
  env: Readonly<Record<string, string>>,
  address?: string,
): Promise<ServerProcess> {
  const settings = page.blocks("ini")[0] ?? "";
  // If both kinds of databases are set, Upstash is used.
  await project.write(".env", "REDIS_URL" in env ? settings.replaceAll(/^UPSTASH_.*\n/gm, "") : settings);
  return project.start(page.command("node --env-file").replace("server.ts", file), env, address);
}

const mailsOf = ({ printed }: ServerProcess) => printed().match(/(?<=a mail to )\S+/g) ?? [];

const withTokens = { SLUICE_TOKENS: JSON.stringify(tokens), SLUICE_WAKE_SECRET: wakeSecret };

/** Asks below the mount. */
const asking = ({ fetch }: ServerProcess) =>
  asker((request) => fetch(new Request(request.url.replace("sluice.test/", "sluice.test/queue/"), request)));

/** Reads an event stream until it has sent a text. Then the reader leaves. */
async function readUntil(text: string, server: ServerProcess, path: string): Promise<void> {
  const headers = {
    authorization: `Bearer ${secrets.all}`,
    accept: "text/event-stream",
    "accept-encoding": "gzip",
  };
  // It connects once more, and that connection stays unused. The server does not wait for it when it ends.
  const { body } = await fetch(`${server.url}/queue${path}`, { headers });
  let read = "";
  for await (const chunk of body?.pipeThrough(new TextDecoderStream()) ?? []) {
    read += chunk;
    if (read.includes(text)) break;
  }
}

const signUp = ({ url }: ServerProcess, to: string) => {
  const headers = { "content-type": "application/json" };
  return fetch(`${url}/signup`, { method: "POST", headers, body: JSON.stringify({ to }) });
};

describe.each(["express", "fastify"])("a deployment in a server of %s", (name) => {
  it("does what the page says, until SIGTERM: answers the request, works at once, shows the dashboard", async () => {
    const { env } = await openDatabase();
    const server = await start(`${name}.ts`, env);
    const printed = await project.run(page.command("curl").replace("http://127.0.0.1:3000", server.url));
    const body = { id: expect.stringMatching(/^\w{20}$/) as string, created: true };
    expect(JSON.parse(printed)).toEqual({ status: 200, body });
    await expect
      .poll(server.printed)
      .toMatch(/^a mail to a@example\.com\n\{"drain":"emails","completed":1,/m);

    // The browser is at the address that the page names.
    const ask = asking(server);
    const { origin } = new URL(server.url);
    expect((await ask("GET", "/dashboard", { as: null })).body).toContain("<title>");
    const token = /"token":"([^"]+)"/.exec(read(page.path))?.[1];
    const signedIn = await ask("POST", "/dashboard/session", {
      as: null,
      headers: { origin },
      json: { token },
    });
    expect(signedIn.status).toBe(204);
    const [cookie = ""] = signedIn.headers.getSetCookie().join().split(";");
    const session = { as: null, headers: { cookie, origin } };
    const added = { ...session, json: { payload: { to: "b@example.com" } } };
    expect((await ask("POST", "/dashboard/api/v1/queues/emails/tasks", added)).status).toBe(201);
    await expect.poll(server.printed).toContain("a mail to b@example.com");
    await end(server);
  });

  it("has the HTTP interface below its path, with wakes, event streams and large bodies", async () => {
    const { env } = await openDatabase();
    const server = await start(`${name}.ts`, { ...env, ...withTokens });
    const ask = asking(server);
    expect((await ask("GET", "/v1/queues", { as: null })).status).toBe(401);
    expect((await ask("HEAD", "/health", { as: null })).status).toBe(200);
    expect((await ask("GET", "/nothing")).body).toMatchObject({ type: "/queue/docs#no_route" });
    expect((await server.fetch(new Request("http://sluice.test/queue", { redirect: "follow" }))).url).toBe(
      `${server.url}/queue/dashboard`,
    );
    const large = { payload: "x".repeat(1_000_000) };
    const both = { json: { tasks: [large, large] } };
    expect((await ask("POST", "/v1/queues/others/tasks", both)).status).toBe(201);
    expect((await ask("DELETE", "/v1/queues/others")).status).toBe(200);

    const { body } = await ask("POST", "/v1/queues/emails/tasks", {
      json: { payload: { to: "c" }, delay: "1s" },
    });
    await readUntil("event: transition\n", server, `/v1/queues/emails/tasks/${body.id}`);

    const wake = JSON.stringify({ type: "sluice.wake", data: { queue: "emails" } });
    const signed = await signedHeaders(await signingKey(wakeSecret), "wake_1", wake);
    expect((await ask("POST", "/wake", { as: null, raw: wake, headers: {} })).status).toBe(401);
    expect([200, 202]).toContain(
      (await ask("POST", "/wake", { as: null, raw: wake, headers: signed })).status,
    );
    await expect.poll(server.printed).toContain("a mail to c\n");
    await end(server);
  });

  it("is one of three on one Redis: each task is done once", async () => {
    const { env, emails } = await openDatabase();
    const servers = await Promise.all([1, 2, 3].map(() => start(`${name}.ts`, env)));
    const all = Array.from({ length: 60 }, (_, i) => `${i}@example.com`);
    const mails = () => servers.flatMap(mailsOf).toSorted();
    await Promise.all(
      servers.flatMap((server, i) => all.slice(20 * i, 20 * i + 20).map((to) => signUp(server, to))),
    );
    await expect.poll(mails, { timeout: 90_000 }).toEqual(all.toSorted());
    await expect.poll(() => emails.counts()).toMatchObject({ pending: 0, working: 0 });
    await Promise.all(servers.map(end));
  });
});

it("has processes that answer requests, and others that work, which share the work at once", async () => {
  const redis = await startRedis();
  onTestFinished(() => redis.stop());
  const env = { REDIS_URL: redis.url };
  const [, declared = ""] = /^(const emails = .*)$/m.exec(deployment) ?? [];
  await project.write("emails.ts", `import { defineQueue } from "sluice-queue";\nexport ${declared}`);
  const importing = 'import { emails } from "./emails.ts";';
  const web = programs.express.replace(declared, importing).replace(/consumers: .*,/, "queues: [emails],");
  await project.write("web.ts", web);
  const work = code("worker").replace("send", "({ payload }) => console.log(`a mail to ${payload.to}`)");
  const worker = `import { startDeployment } from "sluice-queue/node";\n${importing}\n${work}console.log("ready");`;
  await project.write("worker.ts", worker);
  const front = await start("web.ts", env);
  const workers = await Promise.all([1, 2].map(() => start("worker.ts", env, front.url)));
  for (const { printed } of workers) await expect.poll(printed).toContain("ready\n");
  const all = Array.from({ length: 200 }, (_, i) => `${i}@example.com`);
  const answers = await Promise.all(all.map((to) => signUp(front, to)));
  expect(answers.filter(({ ok }) => !ok)).toEqual([]);
  // Long before the next sweep.
  await expect.poll(() => workers.flatMap(mailsOf).toSorted()).toEqual(all.toSorted());
  expect(mailsOf(front)).toEqual([]);
  const transport = resp(redis.url);
  onTestFinished(() => transport.close());
  const seen = (await new Operator("emails", { transport }).workers()).workers;
  expect(seen.map(({ name, pid }) => name.replace(`:${pid}`, ""))).toEqual([hostname(), hostname()]);
  await Promise.all([front, ...workers].map(end));
});

/** What the application does before Sluice, or beside it. */
const applications = (express: string) => `
  import compression from "compression";
  import express from "${express}";
  import { startDeployment } from "sluice-queue/node";
  const deployment = await startDeployment({ dashboard: true });
  const app = express();
  app.set("trust proxy", "loopback");
  app.use(compression());
  app.use(express.json());
  app.use("/queue", deployment.handler);
  app.listen(process.env.PORT);
  process.once("SIGTERM", () => process.exit(0));
`;

describe.each(["express", "express-4"])("middleware of %s before a deployment", (express) => {
  it("may read bodies, compress, and trust a proxy", async () => {
    const { env } = await openDatabase();
    await project.write("application.js", applications(express));
    const server = await start("application.js", { ...env, ...withTokens });
    const ask = asking(server);
    const payload = { to: "ä\u0000👋" };
    expect((await ask("POST", "/v1/queues/q/tasks", { json: { payload, id: "a" } })).status).toBe(201);
    expect((await ask("GET", "/v1/queues/q/tasks/a?payload=true")).body).toMatchObject({ payload });
    await readUntil("retry: 1000\n\n", server, "/v1/queues/q/events");
    const proxied = { origin: "https://app.example.com", "x-forwarded-host": "app.example.com" };
    const signIn = { as: null, headers: proxied, json: { token: secrets.all } };
    expect((await ask("POST", "/dashboard/session", signIn)).status).toBe(204);
    await end(server);
  });
});

it.each(Object.keys(withOwnLogin))(
  "lets the users of an application into its dashboard: %s",
  async (name) => {
    const { env } = await openDatabase();
    const server = await start(`${name}.ts`, { ...env, ...withTokens });
    const ask = asking(server);
    const statuses = async (cookie: string, as: "all" | null = null) =>
      Promise.all(
        ["/dashboard/api/v1/queues", "/v1/queues"].map(
          async (path) => (await ask("GET", path, { as, headers: { cookie } })).status,
        ),
      );
    expect(await statuses("user=ada")).toEqual([200, 401]);
    expect(await statuses("user=bob")).toEqual([401, 401]);
    expect(await statuses("user=bob", "all")).toEqual([401, 200]);
    const pause = { as: null, headers: { cookie: "user=ada", origin: new URL(server.url).origin } };
    expect((await ask("POST", "/dashboard/api/v1/queues/q/pause", pause)).body.code).toBe("forbidden");
    await end(server);
  },
);

it("trusts the proxies that Fastify trusts", async () => {
  const { env } = await openDatabase();
  await project.write(
    "trusting.ts",
    programs.fastify.replace("Fastify()", 'Fastify({ trustProxy: "loopback" })'),
  );
  const server = await start("trusting.ts", { ...env, ...withTokens });
  const headers = { origin: "https://app.example.com", "x-forwarded-host": "app.example.com" };
  const signIn = { as: null, headers, json: { token: secrets.all } };
  expect((await asking(server)("POST", "/dashboard/session", signIn)).status).toBe(204);
  await end(server);
});

it("can be mounted by CommonJS", async () => {
  const { env } = await openDatabase();
  const program = `
    const express = require("express");
    const { startDeployment } = require("sluice-queue/node");
    void (async () => {
      const deployment = await startDeployment();
      const app = express().use("/queue", deployment.handler);
      const server = app.listen(process.env.PORT);
      process.once("SIGTERM", () => deployment.close(server));
    })();`;
  await project.write("common.cjs", program);
  const server = await start("common.cjs", env);
  expect((await asking(server)("GET", "/health")).body).toEqual({ status: "ok" });
  expect(server.printed()).toBe("");
  await end(server);
});

it("has the types of both frameworks", async () => {
  const files = Object.keys({ ...programs, ...withOwnLogin }).map((name) => `${name}.ts`);
  const options = "--noEmit --strict --skipLibCheck --module nodenext --target es2023 --types node";
  const tsc = join(root, "node_modules/typescript/bin/tsc");
  expect(await project.run(`node ${tsc} ${options} ${files.join(" ")} || true`)).toBe("");
});

checksCommands(page, /^(node --env-file|curl )/, /^npm (init|install)/);
