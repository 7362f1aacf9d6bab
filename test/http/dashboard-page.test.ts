import { gzipSync } from "node:zlib";
import { Hono } from "hono";
import { describe, expect, test, vi } from "vitest";
import { dashboard } from "../../src/dashboard/index.ts";
import { files, html } from "../../src/dashboard/page.gen.ts";
import { createDashboard } from "../../src/http/dashboard/routes.ts";
import { browser, useDashboard } from "./dashboard-served.ts";
import { expectProblem, secrets } from "./served.ts";

const served = useDashboard();

const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; " +
  "frame-ancestors 'none'; base-uri 'none'; form-action 'self'; require-trusted-types-for 'script'; trusted-types 'none'";

/** What every response has. */
const GUARD = {
  "content-security-policy": POLICY,
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
};

/** The addresses in the page. */
const links = Array.from(html.matchAll(/ (?:href|src)="([^"]+)"/g), ([, link = ""]) => link);

test("the page and its files are served as they are, and the files may be kept for ever", async () => {
  const page = await served.visit("GET", "/dashboard");
  expect([page.status, page.text]).toEqual([200, html]);
  expect(Object.fromEntries(page.headers)).toEqual({
    ...GUARD,
    "cache-control": "no-cache",
    "content-type": "text/html; charset=utf-8",
  });
  expect(files.length).toBeGreaterThan(1);
  for (const { name, type, text } of files) {
    const file = await served.visit("GET", `/dashboard/assets/${name}`);
    expect([file.status, file.text]).toEqual([200, text]);
    expect(Object.fromEntries(file.headers)).toEqual({
      ...GUARD,
      "cache-control": "public, max-age=31536000, immutable",
      "content-type": type,
    });
  }
});

/** What the browser loads when it needs it, and not with the page. */
const later = files.filter(({ name }) => !html.includes(name));

test("the page has at most 41 KB, gzipped, and at most 11.1 KB more that are loaded when they are needed", () => {
  const size = (texts: readonly string[]) => texts.reduce((sum, text) => sum + gzipSync(text).length, 0);
  const atFirst = files.filter((file) => !later.includes(file));
  expect(size([html, ...atFirst.map(({ text }) => text)])).toBeLessThanOrEqual(41_000);
  expect(size(later.map(({ text }) => text))).toBeLessThanOrEqual(11_100);
});

test("every link of the page is relative, and leads to one of its files; a file of it imports the others", () => {
  const linked = files.filter((file) => !later.includes(file)).map(({ name }) => name);
  expect([...new Set(links)].toSorted()).toEqual(linked.map((name) => `dashboard/assets/${name}`).toSorted());
  const imported = linked.flatMap((name) => files.find((file) => file.name === name)?.text ?? []).join();
  for (const { name } of later) expect(imported).toContain(`import("./${name}")`);
  for (const { name } of files) expect(name).toMatch(/^[a-z]+-[0-9a-zA-Z_-]{8,}\.(?:js|css|svg)$/);
  // The policy allows no inline script and no inline style.
  expect(html).not.toMatch(/<style|style=|<script(?![^>]* src=)|\son\w+=|<base|https?:/i);
});

test("every response of the dashboard has its headers, and only the page and its files may be kept", async () => {
  const asked = [
    ["POST", "/dashboard/session", { json: { token: secrets.view } }],
    ["POST", "/dashboard/session", { json: { token: secrets.enqueue } }],
    ["POST", "/dashboard/session", { json: {}, headers: { origin: "https://evil.test" } }],
    ["DELETE", "/dashboard/session", {}],
    ["OPTIONS", "/dashboard/session", {}],
    ["GET", "/dashboard/session", {}],
    ["POST", "/dashboard", {}],
    ["GET", "/dashboard/assets/none.js", {}],
    ["GET", "/dashboard/assets/", {}],
    ["GET", "/dashboard/nothing", {}],
    ["GET", "/dashboard/api/v1/queues", {}],
    ["GET", "/dashboard/api/v1/queues", { cookie: served.view }],
    ["GET", "/dashboard/api/v1/nothing", { cookie: served.view }],
    ["GET", "/dashboard/api/v1/queues/%ff/x", { cookie: served.view }],
    ["POST", "/dashboard/api/v1/queues/q/pause", { cookie: served.view }],
  ] as const;
  for (const [method, path, options] of asked) {
    const { headers } = await served.visit(method, path, options);
    expect([path, Object.fromEntries(headers)]).toEqual([path, expect.objectContaining(GUARD)]);
    expect([path, headers.get("cache-control")]).toEqual([path, "no-store"]);
    expect([path, headers.get("access-control-allow-origin")]).toEqual([path, null]);
  }
});

test("methods that a path does not support get 405, and HEAD is a GET without the body", async () => {
  for (const [method, path, allowed] of [
    ["POST", "", "GET, HEAD, OPTIONS"],
    ["PUT", "/session", "GET, POST, DELETE, HEAD, OPTIONS"],
  ] as const) {
    const answer = await served.visit(method, `/dashboard${path}`);
    expect(expectProblem(answer, "method_not_allowed").detail).toBe(`This route allows ${allowed}.`);
    const options = await served.visit("OPTIONS", `/dashboard${path}`);
    expect([options.status, options.headers.get("allow")]).toEqual([204, allowed]);
  }
  const { status, text, headers } = await served.visit("HEAD", "/dashboard");
  expect([status, text, headers.get("content-type")]).toEqual([200, "", "text/html; charset=utf-8"]);
});

test("there is nothing else, but an address with a slash at its end leads to the page", async () => {
  for (const path of ["assets/../x", "assets/__proto__", "assets/a/b", "x", "../dashboards"])
    expectProblem(await served.visit("GET", `/dashboard/${path}`), "no_route");
  const { status, headers } = await served.visit("GET", "/dashboard/");
  expect([status, headers.get("location")]).toEqual([308, "../dashboard"]);
});

describe("below the path of another app", () => {
  test.each<[string, (app: typeof served.app) => Hono]>([
    ["by route()", (app) => new Hono().route("/internal/queue", app)],
    ["by route(), with a parameter", (app) => new Hono().route("/:tenant/queue", app)],
    ["by mount()", (app) => new Hono().mount("/internal/queue", app.fetch)],
  ])("the dashboard works as at the top: %s", async (_, mounted) => {
    const outer = mounted(served.app);
    const visit = browser((request) => outer.fetch(request), "/internal/queue");
    const page = await visit("GET", "/dashboard");
    expect([page.status, page.text]).toEqual([200, html]);
    for (const link of links) {
      const { pathname } = new URL(link, "https://sluice.test/internal/queue/dashboard");
      expect((await visit("GET", pathname.replace("/internal/queue", ""))).status).toBe(200);
    }
    const { status, headers } = await visit("POST", "/dashboard/session", { json: { token: secrets.all } });
    const [set = ""] = headers.getSetCookie();
    // Without a path, so that the browser takes that of the request.
    expect([status, /path=|domain=/i.test(set)]).toEqual([204, false]);
    const [cookie = ""] = set.split(";");
    const task = { cookie, json: { payload: 1 } };
    expect((await visit("POST", "/dashboard/api/v1/queues/dashboard/tasks", task)).status).toBe(201);
    const counts = await visit("GET", "/dashboard/api/v1/queues/dashboard?", { cookie });
    expect(counts.body.queue).toBe("dashboard");
  });
});

describe("the option dashboard", () => {
  test("off: there is no such path, and the app has no other routes", async () => {
    const visit = served.visiting({ dashboard: undefined });
    for (const path of ["/dashboard", "/dashboard/", "/dashboard/api/v1/queues"])
      expectProblem(await visit("GET", path, { cookie: served.admin }), "no_route");
  });

  test("a function loads it once, at the first request to it", async () => {
    const load = vi.fn(async () => dashboard);
    const visit = served.visiting({ dashboard: load });
    await visit("GET", "/health");
    expect(load).not.toHaveBeenCalled();
    for (let i = 0; i < 3; i++) expect((await visit("GET", "/dashboard")).status).toBe(200);
    expect(load).toHaveBeenCalledOnce();
  });

  test("one object serves several apps, each with its own tokens", async () => {
    const own = createDashboard({ html: "<p>own</p>", files: [] });
    const [one, other] = [secrets.view, secrets.admin].map((token) =>
      served.visiting({ tokens: [{ token, scopes: ["view"], queues: "*" }], dashboard: own }),
    );
    expect((await one!("GET", "/dashboard")).text).toBe("<p>own</p>");
    expect((await one!("GET", "/dashboard/api/v1/token", { cookie: served.view })).status).toBe(200);
    expect((await other!("GET", "/dashboard/api/v1/token", { cookie: served.view })).status).toBe(401);
  });

  test.each([true, "yes", {}, null])("is refused if it is %j", (given) => {
    const message = "dashboard must be the dashboard of sluice-queue/dashboard, or a function that loads it";
    expect(() => served.make({ dashboard: given as never })).toThrow(message);
  });
});
