import type { RequestListener } from "node:http";
import { Hono } from "hono";
import { describe, expect, expectTypeOf, it } from "vitest";
import type { MountedRequest } from "../../src/deploy/process/mounted-request.ts";
import { defineQueue, NonRetryableError, Queue, type QueueDefinition } from "../../src/index.ts";
import { type CallOptions, secrets } from "../http/served.ts";
import { asking, mount, useMounting } from "./mounting.ts";

// Below a path of a server of the application.

const { redis, deployment, server, start, listen } = useMounting();

async function read(request: MountedRequest): Promise<string> {
  const chunks = (await request.toArray()) as Buffer[];
  return Buffer.concat(chunks).toString();
}

describe("a deployment that is mounted below a path", () => {
  it("answers the HTTP interface and the dashboard there, and the paths of the application stay its own", async () => {
    const globals = [globalThis.Request, globalThis.Response];
    const own: RequestListener = (_, response) => response.end("mine");
    const url = await listen(mount(await start({ dashboard: true }), undefined, own));
    const ask = asking(url);
    expect((await ask("GET", "/health", { as: null })).body).toEqual({ status: "ok" });
    expect((await ask("HEAD", "/health", { as: null })).body).toBe("");
    expect((await ask("POST", "/v1/queues/q/tasks", { json: { payload: 1 } })).status).toBe(201);
    expect(await (await fetch(`${url}/health`)).text()).toBe("mine");

    const page = await fetch(`${url}/queue/dashboard`);
    const [, script = ""] = /src="([^"]+\.js)"/.exec(await page.text()) ?? [];
    const asset = await fetch(new URL(script, page.url), { headers: { "accept-encoding": "gzip" } });
    expect([asset.status, asset.headers.get("content-encoding")]).toEqual([200, "gzip"]);
    const signIn = { as: null, headers: { origin: url }, json: { token: secrets.all } };
    const { headers } = await ask("POST", "/dashboard/session", signIn);
    const [cookie = ""] = headers.getSetCookie().join().split(";");
    const session = { as: null, headers: { cookie, origin: url } };
    const added = { ...session, json: { payload: 1, id: "seen" } };
    expect((await ask("POST", "/dashboard/api/v1/queues/seen/tasks", added)).status).toBe(201);
    const seen = await ask("GET", "/dashboard/api/v1/queues/seen/tasks/seen", session);
    expect(seen.body).toMatchObject({ state: "pending" });
    expect([globalThis.Request, globalThis.Response]).toEqual(globals);
  });

  it.each(["/queue", "/queue/", "/queue?x=/1"])("leads from %s to a page below its path", async (path) => {
    const url = await listen(mount(await start()));
    const page = await fetch(url + path);
    expect([page.status, page.url]).toEqual([200, `${url}/queue/docs`]);
  });

  it("links problems to its own documentation, also those of the dashboard and of bodies that are lost", async () => {
    const url = await listen(mount(await start({ dashboard: true }), (request) => void request.resume()));
    const typeOf = async (path: string, options?: CallOptions) =>
      (await asking(url)("POST", path, { as: null, ...options })).body.type;
    expect([
      await typeOf("/v1/queues/q/tasks"),
      await typeOf("/dashboard/session?x=/"),
      await typeOf("/v1/queues/q/tasks", { json: {} }),
    ]).toEqual(["unauthorized", "foreign_origin", "misconfigured"].map((code) => `/queue/docs#${code}`));
    const { body } = await asking(url)("GET", "/nothing");
    expect(body.detail).toBe("This path does not exist. `/queue/docs` lists all routes.");
    server().close().closeAllConnections();
    const root = await fetch(`${await listen(deployment().handler)}/nothing`);
    expect(await root.json()).toMatchObject({ type: "/docs#no_route" });
  });

  it("leads to its dashboard, which the application lets its own users into, by the request of its server", async () => {
    type Known = MountedRequest & { session?: { user?: string } };
    const authorize = ({ url: at }: Request, { session }: Known) => {
      if (session?.user === "ada") return { scopes: ["view"], queues: "*" } as const;
      return session && Response.redirect(new URL("/login", at));
    };
    const login = (request: Known) =>
      (request.session = { ...(request.headers.cookie && { user: request.headers.cookie }) });
    const mounted = await start({ dashboard: { authorize } });
    const url = await listen(mount(mounted, login, (_, response) => response.end("the login")));
    const ada = { as: null, headers: { cookie: "ada" } };
    expect((await asking(url)("GET", "/dashboard/api/v1/queues", ada)).body).toMatchObject({ cursor: null });
    expect((await asking(url)("GET", "/dashboard/api/v1/queues", { as: "all" })).status).toBe(401);
    const asked = [await fetch(`${url}/queue`, ada), await fetch(`${url}/queue`)];
    expect(asked.map((page) => page.url)).toEqual([`${url}/queue/dashboard`, `${url}/login`]);
  });

  it("works on what the application enqueues, at once", async () => {
    const mails = defineQueue<string>("mails");
    const sent: string[] = [];
    const { queue } = await start({
      every: "1h",
      consumers: [mails.consumer(({ payload }) => void sent.push(payload))],
    });
    await mails.enqueue("by itself");
    await expect.poll(() => sent).toEqual(["by itself"]);
    const { id } = await queue(mails).enqueue("by the deployment", { delay: "10ms" });
    expect(await queue(mails).wait(id, { for: "10s" })).toMatchObject({ state: "completed" });
    expect(sent).toEqual(["by itself", "by the deployment"]);
  });

  it("operates its queues over its own connection, and works at once on what that redrives", async () => {
    const mails = defineQueue<string>("refused");
    let refuses = true;
    const send = () => {
      if (refuses) throw new NonRetryableError("no such address");
    };
    const { operator } = await start({ every: "1h", consumers: [mails.consumer(send)], logger: "silent" });
    const { id } = await mails.enqueue("a");
    const tasks = async (state: "rejected" | "completed") => (await operator(mails).list({ state })).tasks;
    await expect.poll(() => tasks("rejected")).toMatchObject([{ id, error: { message: "no such address" } }]);
    const connections = async () => {
      const [outcome] = await redis.transport.send([["CLIENT", "LIST"]]);
      return outcome && "reply" in outcome && String(outcome.reply).trim().split("\n").length;
    };
    const before = await connections();
    refuses = false;
    expect(await operator("refused").redrive({ ids: [id] })).toMatchObject({ redriven: 1 });
    await expect.poll(() => tasks("completed")).toMatchObject([{ id }]);
    expect(await connections()).toBe(before);
  });

  it("opens and operates queues of several types in a loop", async () => {
    const mails = defineQueue<string>("of-texts");
    const sums = defineQueue<number>("of-numbers");
    const { queue, operator } = await start({ queues: [mails, sums] });
    await mails.enqueue("a");
    await sums.enqueue(1);
    const all: readonly QueueDefinition[] = [mails, sums];
    for (const each of all) {
      expect(await queue(each).counts()).toMatchObject({ pending: 1 });
      expect(await operator(each).purge({ state: "pending" })).toMatchObject({ purged: 1 });
    }
    expectTypeOf(queue(mails)).toEqualTypeOf<Queue<string>>();
    expectTypeOf(all.map((each) => queue(each))).toEqualTypeOf<Queue[]>();
  });

  it("answers requests of the Fetch API, as Hono mounts it", async () => {
    const { fetch: answer, close } = await start();
    const app = new Hono()
      .mount("/queue", answer)
      .mount("/named", (request) => answer(request, { path: "/named" }));
    const asked = () => app.request("/queue/health");
    expect(await (await asked()).json()).toEqual({ status: "ok" });
    for (const [mounted, path] of [
      ["/queue", ""],
      ["/named", "/named"],
    ]) {
      expect(await (await app.request(`${mounted}/nothing`)).json()).toMatchObject({
        type: `${path}/docs#no_route`,
      });
    }
    await close();
    expect((await asked()).status).toBe(503);
  });

  it("lets the users of an application with Hono into its dashboard", async () => {
    const authorize = ({ headers }: Request) =>
      headers.get("cookie") === "user=ada" && ({ scopes: ["view"], queues: "*" } as const);
    const { fetch: answer } = await start({ dashboard: { authorize } });
    const app = new Hono().mount("/queue", answer);
    const statuses = async (headers: Record<string, string>) => {
      const paths = ["/dashboard/api/v1/queues", "/v1/queues"];
      return Promise.all(paths.map(async (path) => (await app.request(`/queue${path}`, { headers })).status));
    };
    expect(await statuses({ cookie: "user=ada" })).toEqual([200, 401]);
    expect(await statuses({ authorization: `Bearer ${secrets.all}` })).toEqual([401, 200]);
  });

  it.each<[string, (request: MountedRequest) => Promise<void>]>([
    ["parsed it", async (request) => void (request.body = JSON.parse(await read(request)))],
    ["kept its text", async (request) => void (request.body = await read(request))],
    ["kept its bytes", async (request) => void (request.body = Buffer.from(await read(request)))],
    [
      "parsed it, and kept its bytes",
      async (request) => {
        request.rawBody = Buffer.from(await read(request));
        request.body = {};
      },
    ],
  ])("gets a body that middleware has read and %s", async (_, middleware) => {
    const ask = asking(await listen(mount(await start(), middleware)));
    const payload = { to: "ä\u0000👋", __proto__: null, n: [1.5, null] };
    const added = await ask("POST", "/v1/queues/read/tasks", { json: { payload } });
    expect(added.status).toBe(201);
    const queue = new Queue("read", { transport: redis.transport });
    expect((await queue.dequeue({ max: 100 })).at(-1)?.payload).toEqual(payload);
  });

  it("says where to mount it if middleware has read a body and left nothing of it", async () => {
    const ask = asking(await listen(mount(await start(), read)));
    const { status, body } = await ask("POST", "/v1/queues/q/tasks", { json: { payload: 1 } });
    expect([status, body.code, body.detail]).toEqual([
      503,
      "misconfigured",
      "Middleware has read the body of this request, and left nothing of it. Mount Sluice before it.",
    ]);
    // There was none to read.
    expect((await ask("POST", "/v1/sweep")).status).toBe(200);
  });

  it("refuses a parsed body that is nested too deeply", async () => {
    const parse = async (request: MountedRequest) => void (request.body = JSON.parse(await read(request)));
    const ask = asking(await listen(mount(await start(), parse)));
    const raw = "[".repeat(20_000) + "]".repeat(20_000);
    const { status, body } = await ask("POST", "/v1/queues/q/tasks", { raw });
    expect([status, body.code]).toEqual([400, "invalid_json"]);
  });

  it.each([
    ["a proxy that the application trusts", true, 204],
    ["any other sender", false, 403],
  ])("takes the forwarded host of %s for its own", async (_, trusted, status) => {
    const app = { get: (name: string) => name === "trust proxy fn" && (() => trusted) };
    const url = await listen(mount(await start({ dashboard: true }), (request) => void (request.app = app)));
    const headers = { origin: "https://app.example.com", "x-forwarded-host": "app.example.com, inner" };
    const signIn = { as: null, headers, json: { token: secrets.all } };
    const signedIn = await asking(url)("POST", "/dashboard/session", signIn);
    expect(signedIn.status).toBe(status);
    // The browser came over HTTPS.
    if (trusted) expect(signedIn.headers.getSetCookie().join()).toContain("; Secure");
    for (const invalid of ["", "a b"]) {
      const other = { as: null, headers: { "x-forwarded-host": invalid } };
      expect((await asking(url)("GET", "/health", other)).status).toBe(200);
    }
  });

  it.each(["port", "hostname", "signals", "fetch"])("has no option %s", async (path) => {
    await expect(start({ [path]: undefined })).rejects.toMatchObject({
      code: "invalid_argument",
      path,
    });
  });

  it("does not start without a Redis", async () => {
    await expect(start({ env: {} })).rejects.toMatchObject({ code: "invalid_argument" });
  });
});
