import { describe, expect, it } from "vitest";
import { SluiceError } from "../../src/errors.ts";
import { configErrorResponse } from "../../src/http/problems/config-error.ts";
import { callables } from "./access-rows.ts";
import { type Answer, asker, secrets, useServed } from "./served.ts";

// What answers say to browsers and caches: nothing is open without a token.

const served = useServed();

const preflight = {
  origin: "https://evil.example",
  "access-control-request-method": "POST",
  "access-control-request-headers": "authorization, content-type",
  "access-control-request-private-network": "true",
};

/** Headers that would let a page of another origin read an answer, or send a request that it may not. */
const crossOrigin = ({ headers }: Answer) =>
  [...headers.keys()].filter((name) => /^access-control-|^cross-origin-|^timing-allow-origin$/.test(name));

const api = "default-src 'none'; frame-ancestors 'none'";

function expectClosed(answer: Answer, policy: string | RegExp = api, cache = "no-store") {
  expect(crossOrigin(answer)).toEqual([]);
  const { headers } = answer;
  expect(headers.get("content-security-policy")).toMatch(policy);
  expect(headers.get("x-content-type-options")).toBe("nosniff");
  expect(headers.get("referrer-policy")).toBe("no-referrer");
  const isStream = headers.get("content-type") === "text/event-stream";
  expect(headers.get("cache-control")).toBe(isStream ? `${cache}, no-transform` : cache);
  // A token is no cookie: a browser never sends one by itself.
  expect(headers.has("set-cookie")).toBe(false);
  expect(headers.has("x-powered-by") || headers.has("server")).toBe(false);
}

describe.each(callables)("$route", ({ route, method, path, json, scopes }) => {
  const isPublic = route === "GET /docs" || route === "GET /openapi.json";
  const cache = isPublic ? "no-cache" : "no-store";
  const policy =
    route === "GET /docs" ? /^default-src 'none'; style-src 'sha256-[^;]+'; .*frame-ancestors 'none'$/ : api;

  it("has the closed headers, whether it answers or refuses", async () => {
    const as = scopes[0] === "cron" ? "cron" : "all";
    const headers = { origin: preflight.origin };
    expectClosed(await served.ask(method, path("q"), { as, json, headers }), policy, cache);
    if (scopes.length > 0) expectClosed(await served.ask(method, path("q"), { as: null, json }));
    expectClosed(await served.ask(method, path("{q}"), { as, json }), /default-src 'none'/, cache);
    expectClosed(await served.ask("PROPFIND", path("q"), { as }));
  });

  it("lets no preflight through, from any origin", async () => {
    for (const as of [null, "all"] as const) {
      const answer = await served.ask("OPTIONS", path("q").split("?")[0]!, { as, headers: preflight });
      expect([answer.status, answer.body]).toEqual([204, ""]);
      expectClosed(answer);
    }
  });
});

it("unknown routes, a missing configuration and a fault of the server have the closed headers too", async () => {
  expectClosed(await served.ask("GET", "/nowhere", { headers: preflight }));
  expectClosed(await served.ask("OPTIONS", "/nowhere", { headers: preflight }));
  const transport = { send: () => Promise.reject(new Error("a bug")) };
  for (const ask of [served.asking({ tokens: [] }), served.asking({ transport, onError: () => {} })])
    for (const path of ["/v1/queues", "/health"]) expectClosed(await ask("GET", path));
  const incomplete = () => configErrorResponse(new SluiceError("invalid_argument", "X is not set", "X"));
  expectClosed(await asker(incomplete)("GET", "/"));
});

it("a stream of events has the closed headers too, and no cache keeps it", async () => {
  await served.ask("POST", "/v1/queues/streamed/tasks", { json: { id: "x", payload: 1 } });
  for (const path of ["/v1/queues/streamed/tasks/x?wait=10", "/v1/queues/streamed/events?wait=10"]) {
    const answer = await served.ask("GET", path, { headers: { accept: "text/event-stream", ...preflight } });
    expect(answer.headers.get("content-type")).toBe("text/event-stream");
    expectClosed(answer);
  }
});

it("no token is taken from a place that a page or a log could show: the address, a cookie, a body", async () => {
  const ask = (path: string, headers = {}, json?: unknown) =>
    served.ask(json === undefined ? "GET" : "POST", path, { as: null, headers, json });
  for (const name of ["token", "access_token", "_token", "authorization", "key"]) {
    expect((await ask(`/v1/queues?${name}=${secrets.admin}`)).status).toBe(401);
    expect((await ask("/v1/queues", { cookie: `${name}=${secrets.admin}` })).status).toBe(401);
    expect((await ask("/v1/sweep", {}, { [name]: secrets.admin })).status).toBe(401);
  }
  for (const name of ["x-api-key", "x-auth-token", "proxy-authorization", "x-authorization"]) {
    expect((await ask("/v1/queues", { [name]: `Bearer ${secrets.admin}` })).status).toBe(401);
  }
});
