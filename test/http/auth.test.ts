import { createHash } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { createApp } from "../../src/http/app.ts";
import { matches } from "../../src/queue/core/queue-pattern.ts";
import type { Scope, TokenEntry } from "../../src/http/auth/tokens.ts";
import { asker, type Caller, secrets, serve } from "./served.ts";

let served: Awaited<ReturnType<typeof serve>>;

beforeAll(async () => {
  served = await serve();
});
afterAll(() => served.stop());

const routes: readonly { method: string; path: string; scope: Scope; json?: unknown }[] = [
  { method: "POST", path: "/tasks", scope: "enqueue", json: { payload: 1 } },
  { method: "POST", path: "/tasks/pull", scope: "consume", json: {} },
  { method: "POST", path: "/tasks/settle", scope: "consume", json: { settlements: [] } },
  { method: "POST", path: "/tasks/x/cancel", scope: "enqueue", json: {} },
  { method: "GET", path: "/tasks?state=pending", scope: "view" },
  { method: "DELETE", path: "/tasks/x", scope: "admin" },
  { method: "POST", path: "/redrive", scope: "admin", json: {} },
  { method: "POST", path: "/purge", scope: "admin", json: { state: "pending" } },
  { method: "GET", path: "", scope: "view" },
  { method: "DELETE", path: "", scope: "admin" },
  { method: "POST", path: "/pause", scope: "admin" },
  { method: "POST", path: "/resume", scope: "admin" },
  { method: "GET", path: "/settings", scope: "view" },
  { method: "PATCH", path: "/settings", scope: "admin", json: {} },
  { method: "GET", path: "/groups/g", scope: "view" },
  { method: "PATCH", path: "/groups/g", scope: "admin", json: {} },
  { method: "GET", path: "/statistics", scope: "view" },
  { method: "GET", path: "/workers", scope: "view" },
  { method: "POST", path: "/workers/heartbeat", scope: "consume", json: { worker: { name: "w" } } },
  { method: "POST", path: "/workers/w/fail", scope: "admin", json: {} },
];

describe.each(routes)("$method $path", ({ method, path, scope, json }) => {
  const on = (queue: string, as: Caller | null) =>
    served.ask(method, `/v1/queues/${queue}${path}`, { as, json });

  it.each(["enqueue", "consume", "view", "admin"] as const)(`opens to the scope ${scope}: %s`, async (as) => {
    const { status, body, headers } = await on("mails-1", as);
    if (as === scope || (scope === "view" && as === "admin")) return expect(status).not.toBe(403);
    expect([status, body.code]).toEqual([403, "forbidden"]);
    expect(body.detail).toBe(`The token does not have the scope ${scope} for the queue mails-1.`);
    expect(headers.get("www-authenticate")).toContain("insufficient_scope");
  });

  it("opens for the queues that match the pattern, and for no others", async () => {
    expect((await on("mails-1", "mails")).status).not.toBe(403);
    expect((await on("other", "mails")).status).toBe(403);
    expect((await on("mails", "mails")).status).toBe(403);
  });

  it("opens to no cron secret, no unknown token and no call without a token", async () => {
    expect((await on("a", "cron")).status).toBe(403);
    const without = await on("a", null);
    expect([without.status, without.body.code]).toEqual([401, "unauthorized"]);
    expect(without.headers.get("www-authenticate")).toBe('Bearer realm="sluice"');
  });
});

describe("a token", () => {
  const health = (authorization: string) =>
    served.ask("GET", "/v1/queues/a", { as: null, headers: { authorization } });

  it.each([
    "Bearer unknown-0123456789",
    `Bearer ${secrets.all}x`,
    `Bearer ${secrets.all.slice(0, -1)}`,
    `Basic ${secrets.all}`,
    secrets.all,
    "Bearer",
    "Bearer ",
    `Bearer ${secrets.all} ${secrets.all}`,
  ])("is refused unless it is exactly a known one: %s", async (authorization) => {
    const { status, body, headers } = await health(authorization);
    expect([status, body.code]).toEqual([401, "unauthorized"]);
    expect(headers.get("www-authenticate")).toMatch(/^Bearer realm="sluice"/);
    expect(JSON.stringify(body)).not.toContain("0123456789");
  });

  it("may be named by its SHA-256, in either case, and the scheme too", async () => {
    const sha256 = createHash("sha256").update("hashed-0123456789").digest("hex").toUpperCase();
    const tokens: TokenEntry[] = [{ sha256, scopes: ["admin"], queues: "*" }];
    const app = createApp({ transport: served.transport, tokens });
    const headers = { authorization: "bearer hashed-0123456789" };
    expect((await app.request("/v1/queues/a", { headers })).status).toBe(200);
    expect(
      (await app.request("/v1/queues/a", { headers: { authorization: `Bearer ${sha256}` } })).status,
    ).toBe(401);
  });

  it("is known by the same SHA-256 if only WebCrypto can compute it", async () => {
    const builtin = vi.spyOn(process, "getBuiltinModule").mockReturnValue(undefined);
    vi.resetModules();
    const { Authenticator } = await import("../../src/http/auth/authenticator.ts");
    expect(builtin).toHaveBeenCalledWith("node:crypto");
    builtin.mockRestore();
    const token = secrets.consume;
    const sha256 = createHash("sha256").update(token).digest("hex");
    const authenticator = new Authenticator([{ sha256, scopes: ["consume"], queues: "*" }], undefined);
    expect((await authenticator.authenticate(`Bearer ${token}`)).has("consume")).toBe(true);
    await expect(authenticator.authenticate(`Bearer ${token}0`)).rejects.toMatchObject({
      code: "unauthorized",
    });
  });

  it("is another if its SHA-256 differs in a single character", async () => {
    const digest = createHash("sha256").update("hashed-0123456789").digest("hex");
    const other = (at: number) => (digest[at] === "0" ? "1" : "0");
    const tokens = Array.from(digest, (_, at): TokenEntry => {
      const sha256 = digest.slice(0, at) + other(at) + digest.slice(at + 1);
      return { sha256, scopes: ["admin"], queues: "*" };
    });
    const app = createApp({ transport: served.transport, tokens });
    const headers = { authorization: "Bearer hashed-0123456789" };
    expect((await app.request("/v1/queues/a", { headers })).status).toBe(401);
  });

  it("that is in two entries has the scopes of each for the queues of each", async () => {
    const status = async (queue: string, path: string, json: unknown) =>
      (await served.ask("POST", `/v1/queues/${queue}/tasks${path}`, { as: "mixed", json })).status;
    expect(await status("in", "", { payload: 1 })).toBe(201);
    expect(await status("out", "/pull", {})).toBe(200);
    expect(await status("out", "", { payload: 1 })).toBe(403);
    expect(await status("in", "/pull", {})).toBe(403);
  });

  it("is checked before the queue's name, the body or the id", async () => {
    expect((await served.ask("POST", "/v1/queues/.bad/tasks", { as: null, raw: "{" })).status).toBe(401);
    expect((await served.ask("POST", "/v1/queues/a/tasks", { as: "consume", raw: "{" })).status).toBe(403);
  });

  it.each([
    ["tokens[0].scopes", [{ token: "0123456789abcdef", scopes: [], queues: "*" }]],
    ["tokens[0].token", [{ token: "short", scopes: ["admin"], queues: "*" }]],
    ["tokens[0].queues", [{ token: "0123456789abcdef", scopes: ["admin"] }]],
    ["tokens[0].queues", [{ token: "0123456789abcdef", scopes: ["admin"], queues: "a b" }]],
    ["tokens[0].sha256", [{ sha256: "abc", scopes: ["admin"], queues: "*" }]],
    ["tokens[0]", [{ scopes: ["admin"], queues: "*" }]],
    ["tokens[0].scopes[0]", [{ token: "0123456789abcdef", scopes: ["root"], queues: "*" }]],
    ["tokens[0].scope", [{ token: "0123456789abcdef", scopes: ["admin"], queues: "*", scope: 1 }]],
  ])("of a wrong form is refused at the start, without a secret in the message: %s", (path, tokens) => {
    const make = () => createApp({ transport: served.transport, tokens: tokens as TokenEntry[] });
    expect(make).toThrow(expect.objectContaining({ code: "invalid_argument", path }));
    expect(make).not.toThrow(/0123456789abcdef|short/);
  });
});

describe("listing and sweeping", () => {
  it("act on the queues that the token is for, and on no others", async () => {
    for (const queue of ["mails-1", "mails-2", "bills"]) {
      await served.ask("POST", `/v1/queues/${queue}/tasks`, { json: { payload: 1, delay: 1 } });
    }
    await new Promise((resolve) => setTimeout(resolve, 5));
    const listed = (await served.ask("GET", "/v1/queues", { as: "mails" })).body.queues;
    expect(listed.map(({ name }: { name: string }) => name).toSorted()).toEqual(["mails-1", "mails-2"]);
    const swept = await served.ask("POST", "/v1/sweep", { as: "mails" });
    expect(swept.body).toMatchObject({ queues: 2, promoted: 2 });
    expect((await served.ask("GET", "/v1/queues/bills")).body.delayed).toBe(1);
  });

  it("are closed to a token without the scope admin", async () => {
    for (const as of ["enqueue", "consume", "mixed"] as const) {
      expect((await served.ask("GET", "/v1/queues", { as })).status).toBe(403);
      expect((await served.ask("POST", "/v1/sweep", { as })).status).toBe(403);
    }
  });

  it("sweeping opens to the cron secret, by GET and POST, for every queue", async () => {
    for (const method of ["GET", "POST"]) {
      const { status, body } = await served.ask(method, "/v1/sweep", { as: "cron" });
      expect([status, body.failed]).toEqual([200, []]);
    }
    expect((await served.ask("GET", "/v1/queues", { as: "cron" })).status).toBe(403);
  });

  it("sweeping by GET opens to the cron secret alone, and HEAD never sweeps", async () => {
    const refused = await served.ask("GET", "/v1/sweep", { as: "all" });
    expect([refused.status, refused.body.detail]).toEqual([
      403,
      "This route accepts only the cron secret. With a token, send a POST.",
    ]);
    expect((await served.ask("HEAD", "/v1/sweep", { as: "cron" })).status).toBe(405);
  });
});

it("a task is shown to callers that may enqueue, and to operators, who may list it", async () => {
  const shown = async (as: Caller) => (await served.ask("GET", "/v1/queues/open/tasks/x", { as })).status;
  expect([await shown("enqueue"), await shown("admin"), await shown("consume")]).toEqual([404, 404, 403]);
});

describe("without any token", () => {
  it("every route except the open ones answers auth_not_configured, and does nothing", async () => {
    const app = createApp({ transport: served.transport, tokens: [] });
    const ask = asker((request) => app.fetch(request));
    expect((await app.request("/health")).status).toBe(200);
    expect((await app.request("/openapi.json")).status).toBe(200);
    expect((await app.request("/docs")).status).toBe(200);
    // A path that is not of the interface: its caller needs no token to hear so.
    expect((await app.request("/nowhere")).status).toBe(404);
    const closed: [string, string][] = [
      ...routes.map(({ method, path }): [string, string] => [method, `/v1/queues/untouched${path}`]),
      ["GET", "/v1/queues"],
      ["POST", "/v1/sweep"],
      ["GET", "/v1/sweep"],
      ["GET", "/v1/nowhere"],
      ["OPTIONS", "/v1/queues"],
      ["DELETE", "/v1/queues"],
    ];
    for (const [method, path] of closed) {
      const { status, body } = await ask(method, path, method === "POST" ? { json: { payload: 1 } } : {});
      expect([method, path, status, body.code]).toEqual([method, path, 503, "auth_not_configured"]);
    }
    expect((await served.ask("GET", "/v1/queues/untouched")).body).toMatchObject({ pending: 0 });
  });

  it("a cron secret opens the sweep, and nothing else", async () => {
    const app = createApp({ transport: served.transport, tokens: [], cronSecret: secrets.cron });
    const ask = asker((request) => app.fetch(request));
    expect((await ask("GET", "/v1/sweep", { as: "cron" })).status).toBe(200);
    expect((await ask("GET", "/v1/sweep", { as: "all" })).status).toBe(401);
    expect((await ask("GET", "/v1/queues", { as: "cron" })).body.code).toBe("auth_not_configured");
  });
});

describe("a pattern", () => {
  it.each([
    ["*", "", true],
    ["*", "anything.at-all", true],
    ["a", "a", true],
    ["a", "ab", false],
    ["a", "A", false],
    ["a*", "a", true],
    ["a*", "ba", false],
    ["*a", "ba", true],
    ["a*a", "a", false],
    ["a*a", "aa", true],
    ["a*b*c", "a-b-c", true],
    ["a*b*c", "acb", false],
    ["a*bc*c", "abc", false],
    ["a.b", "axb", false],
    ["**", "x", true],
    [`${"*a".repeat(60)}b`, "a".repeat(128), false],
  ])("%s against %s: %s", (pattern, name, fits) => {
    expect(matches(pattern, name)).toBe(fits);
  });
});
