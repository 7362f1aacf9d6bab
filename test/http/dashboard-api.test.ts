import { describe, expect, test, vi } from "vitest";
import { readKeySpace } from "../support/key-space.ts";
import { cookieOf, ORIGIN, useDashboard } from "./dashboard-served.ts";
import { type Fetch, openEvents } from "./event-frames.ts";
import { expectProblem, secrets } from "./served.ts";

const served = useDashboard();

const api = "/dashboard/api/v1";
const all = cookieOf(secrets.all);
const keySpace = () => readKeySpace(served.redis.url);

describe("the routes of /v1 below the dashboard", () => {
  test("answer as with the token of the cookie", async () => {
    const json = { payload: "ä", id: "a/b" };
    const added = await served.visit("POST", `${api}/queues/mails-1/tasks`, { cookie: all, json });
    expect([added.status, added.body]).toEqual([201, { id: "a/b", created: true }]);
    const path = "/queues/mails-1/tasks/a%2Fb?payload=true";
    const through = await served.visit("GET", `${api}${path}`, { cookie: served.view });
    expect(through.body).toEqual((await served.ask("GET", `/v1${path}`)).body);
    expect(through.body.payload).toBe("ä");
    const paused = await served.visit("POST", `${api}/queues/mails-1/pause`, { cookie: served.admin });
    expect(paused.body.paused).toBe(true);
    const { body } = await served.visit("GET", `${api}/token`, { cookie: cookieOf(secrets.mails) });
    expect(body.grants).toEqual([{ scopes: ["enqueue", "consume", "admin"], queues: "mails-*" }]);
  });

  test("take the token of the cookie alone: no Authorization of the caller counts", async () => {
    const headers = { authorization: `Bearer ${secrets.all}` };
    expectProblem(await served.visit("GET", `${api}/queues`, { headers }), "unauthorized");
    const before = await keySpace();
    const pause = await served.visit("POST", `${api}/queues/q/pause`, { headers, cookie: served.view });
    const detail = "The token does not have the scope admin for the queue q.";
    expect([expectProblem(pause, "forbidden").detail, await keySpace()]).toEqual([detail, before]);
  });

  test("support HEAD and OPTIONS, and name the methods that they support", async () => {
    const head = await served.visit("HEAD", `${api}/queues`, { cookie: served.view });
    expect([head.status, head.text]).toEqual([200, ""]);
    const options = await served.visit("OPTIONS", `${api}/queues/q/settings`, { cookie: served.view });
    expect([options.status, options.headers.get("allow")]).toEqual([204, "GET, HEAD, PATCH, OPTIONS"]);
    const put = await served.visit("PUT", `${api}/queues`, { cookie: served.admin });
    expectProblem(put, "method_not_allowed");
  });

  test("stream, and end with their reader", async () => {
    await served.ask("POST", "/v1/queues/stream/tasks", { json: { id: "a", payload: 1 } });
    const headers = { authorization: "", cookie: served.view };
    const fetch: Fetch = (path, init) => served.fetch(new Request(`${ORIGIN}${api}${path}`, init));
    const stream = await openEvents(fetch, "/queues/stream/tasks/a", headers);
    expect(stream.headers.get("content-type")).toBe("text/event-stream");
    expect(await stream.next()).toMatchObject({ event: "transition", data: { to: "pending" } });
    await stream.leave();
    expect(await stream.rest()).toEqual([]);
  });

  test("get the environment and the waitUntil of the request", async () => {
    const letters: unknown[] = [];
    const app = served.make({ onDeadLetter: (_, waitUntil) => letters.push(waitUntil !== undefined) });
    const context = { waitUntil: vi.fn<() => void>(), passThroughOnException: () => {}, props: {} };
    const headers = { origin: ORIGIN, cookie: all, "content-type": "application/json" };
    const send = async (path: string, json: unknown) => {
      const init = { method: "POST", headers, body: JSON.stringify(json) };
      return (await app.request(`${ORIGIN}${api}/queues/letters/tasks${path}`, init, {}, context)).json();
    };
    await send("", { payload: 1 });
    const { tasks } = await send("/pull", {});
    await send("/settle", { settlements: [{ receipt: tasks[0].receipt, outcome: "reject" }] });
    expect(letters).toEqual([true]);
  });
});

describe("a request of another origin", () => {
  const pause = (headers: Record<string, string>, origin = ORIGIN) =>
    served.visit("POST", `${api}/queues/q/pause`, { cookie: served.admin, headers, origin });

  test.each<Record<string, string>>([
    ...["https://evil.test", "http://sluice.test:8080", "https://sub.sluice.test", "null", ""].map(
      (origin) => ({ origin }),
    ),
    { origin: "https://sluice.test.evil.test" },
    { origin: "https://sluice.test@evil.test" },
    { origin: "https://sluice.test/evil" },
    { origin: "sluice.test" },
    { origin: "file://sluice.test" },
    ...["cross-site", "same-site", "none"].map((site) => ({ origin: ORIGIN, "sec-fetch-site": site })),
  ])("changes nothing: Origin %j", async (headers) => {
    const before = await keySpace();
    expectProblem(await pause(headers), "foreign_origin");
    for (const method of ["POST", "DELETE"]) {
      const json = { token: secrets.view };
      const answer = await served.visit(method, "/dashboard/session", { json, headers });
      expectProblem(answer, "foreign_origin");
      expect(answer.headers.getSetCookie()).toEqual([]);
    }
    expect(await keySpace()).toEqual(before);
  });

  test("is one without an Origin too", async () => {
    for (const [method, path] of [
      ["POST", `${api}/queues/q/pause`],
      ["DELETE", `${api}/queues/q`],
      ["DELETE", "/dashboard/session"],
    ] as const) {
      const request = new Request(`${ORIGIN}${path}`, { method, headers: { cookie: served.admin } });
      const response = await served.fetch(request);
      expect([response.status, (await response.json()).code]).toEqual([403, "foreign_origin"]);
    }
  });

  test.each(["cross-site", "same-site"])("is shown nothing: %s", async (site) => {
    const headers = { "sec-fetch-site": site };
    const as = { cookie: served.view, headers };
    expectProblem(await served.visit("GET", `${api}/queues`, as), "foreign_origin");
    expect((await served.visit("HEAD", `${api}/queues`, as)).status).toBe(403);
    // A link from elsewhere may lead to the page.
    expect((await served.visit("GET", "/dashboard", { headers })).status).toBe(200);
  });

  test("is distinguished from the own one by the host, also behind a proxy that ends TLS", async () => {
    expect((await pause({ origin: "https://sluice.test" }, "http://sluice.test")).status).toBe(200);
    expect((await pause({ origin: "http://LOCALHOST:8787" }, "http://localhost:8787")).status).toBe(200);
    expect((await pause({ origin: "https://shown.test", host: "Shown.test" })).status).toBe(200);
    expectProblem(await pause({ origin: "https://sluice.test", host: "shown.test" }), "foreign_origin");
  });

  test("may read with no Sec-Fetch-Site, which old browsers do not send, or one that a person entered", async () => {
    for (const more of [{}, { "sec-fetch-site": "none" }]) {
      const headers = { cookie: served.view, ...more };
      expect((await served.fetch(new Request(`${ORIGIN}${api}/queues`, { headers }))).status).toBe(200);
    }
  });
});

test("no other path leads to /v1 with the cookie, nor out of it", async () => {
  const below =
    "/ /v1 /v1/ /v1/.. /v1/../health /v1/%2e%2e/health /%2e%2e/v1/queues /health /docs /../../v1/queues " +
    "//v1/queues /%76%31/queues /v1\\..\\..\\queues /dashboard/api/v1/queues /v1/..%2f..%2fdashboard/session " +
    "/v1/queues/";
  const others =
    "/dashboard/api /dashboard//api/v1/queues //dashboard/api/v1/queues /dashboard/%61pi/v1/queues " +
    "/%64ashboard/api/v1/queues /Dashboard/api/v1/queues /dashboardapi/v1/queues";
  for (const path of [...below.split(" ").map((one) => `/dashboard/api${one}`), ...others.split(" ")]) {
    const { status, body, headers } = await served.visit("GET", path, { cookie: served.admin });
    // What is left of `..` is a path of its own, to which a cookie says nothing.
    const refused = status === 401 ? "unauthorized" : "no_route";
    expect([path, [401, 404].includes(status), body.code]).toEqual([path, true, refused]);
    expect(headers.get("content-type")).toBe("application/problem+json");
  }
});
