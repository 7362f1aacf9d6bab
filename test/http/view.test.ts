import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openapi } from "../../src/http/docs/openapi.gen.ts";
import { readKeySpace } from "../support/key-space.ts";
import { callables } from "./access-rows.ts";
import { type Ask, asker, serve } from "./served.ts";
import { createApp } from "../../src/http/app.ts";
import type { TokenEntry } from "../../src/http/auth/tokens.ts";
import { seed } from "./seeded.ts";

// A token with the scope view may look and not touch.

const VIEW = "view-alone-0123456789";
const SOME = "view-some-0123456789";
const entries: readonly TokenEntry[] = [
  { token: VIEW, scopes: ["view"], queues: "*" },
  { token: SOME, scopes: ["view"], queues: "mails-*" },
];

let served: Awaited<ReturnType<typeof serve>>;
let ask: Ask;
beforeAll(async () => {
  served = await serve();
  const app = createApp({ transport: served.transport, tokens: entries });
  ask = asker((request) => app.fetch(request));
  for (const queue of ["mails-1", "bills"]) await seed(served.ask, queue);
});
afterAll(() => served.stop());

const as = (token: string) => ({ as: null, headers: { authorization: `Bearer ${token}` } });
const keySpace = () => readKeySpace(served.redis.url);

/** Every method and path that the app or its documentation has. */
const routes = () => {
  const documented = Object.entries(openapi.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path.replaceAll(/\{(\w+)\}/g, ":$1")}`),
  );
  const ofApp = served.app.routes
    .filter(({ method }) => method !== "ALL")
    .map(({ method, path }) => `${method} ${path}`);
  return [...new Set([...documented, ...ofApp])].toSorted();
};

/** Routes that answer a token with the scope view. Each only reads. */
const READING = [
  "GET /",
  "GET /docs",
  "GET /health",
  "GET /metrics",
  "GET /openapi.json",
  "GET /v1/diagnostics",
  "GET /v1/overview",
  "GET /v1/queues",
  "GET /v1/queues/:queue",
  "GET /v1/queues/:queue/diagnostics",
  "GET /v1/queues/:queue/events",
  "GET /v1/queues/:queue/groups",
  "GET /v1/queues/:queue/groups/:group",
  "GET /v1/queues/:queue/load",
  "GET /v1/queues/:queue/partitions",
  "GET /v1/queues/:queue/schedules",
  "GET /v1/queues/:queue/schedules/:schedule",
  "GET /v1/queues/:queue/settings",
  "GET /v1/queues/:queue/statistics",
  "GET /v1/queues/:queue/tasks",
  "GET /v1/queues/:queue/tasks/:id",
  "GET /v1/queues/:queue/workers",
  "GET /v1/token",
];

describe("a token with the scope view", () => {
  test("can change nothing: it is refused by every route that does not only read, and no call writes", async () => {
    expect(callables.map(({ route }) => route).toSorted()).toEqual(routes());
    const before = await keySpace();
    expect(Object.keys(before).length).toBeGreaterThan(10);
    const answered: string[] = [];
    for (const { route, method, path, json } of callables) {
      for (const queue of ["mails-1", "new"]) {
        const { status, body } = await ask(method, path(queue), { ...as(VIEW), json });
        if (status === 403) expect([route, body.code]).toEqual([route, "forbidden"]);
        else {
          expect([route, [200, 302, 404].includes(status)]).toEqual([route, true]);
          answered.push(route);
        }
      }
    }
    expect([...new Set(answered)].toSorted()).toEqual(READING);
    expect(await keySpace()).toEqual(before);
  });

  test("can change nothing with another method, a query or a method override either", async () => {
    const before = await keySpace();
    for (const { path, json } of callables) {
      for (const method of ["HEAD", "OPTIONS", "PUT", "PATCH", "DELETE", "POST"]) {
        const headers = { ...as(VIEW).headers, "x-http-method-override": "DELETE" };
        const { status } = await ask(method, path("mails-1"), {
          as: null,
          headers,
          ...(method !== "HEAD" && { json }),
        });
        expect(status).toBeLessThan(500);
      }
      const { status } = await ask("GET", `${path("mails-1").replace(/\?.*/, "")}?_method=DELETE`, as(VIEW));
      expect(status).toBeLessThan(500);
    }
    expect(await keySpace()).toEqual(before);
  });

  test("sees only the queues of its pattern, on every route", async () => {
    for (const { route, method, path } of callables.filter(({ route: one }) => READING.includes(one))) {
      if (!route.includes(":queue")) continue;
      const own = await ask(method, path("mails-1"), as(SOME));
      const other = await ask(method, path("bills"), as(SOME));
      expect([route, own.status, other.status, other.body.code]).toEqual([route, 200, 403, "forbidden"]);
    }
    const { body } = await ask("GET", "/v1/queues?counts=true", as(SOME));
    expect(body.queues.map(({ name }: { name: string }) => name)).toEqual(["mails-1"]);
    const state = (await ask("GET", "/v1/diagnostics", as(SOME))).body;
    expect([state.usedMemory, state.evictionPolicy]).toEqual([null, null]);
  });

  test("says what it may do", async () => {
    expect((await ask("GET", "/v1/token", as(SOME))).body).toEqual({
      grants: [{ scopes: ["view"], queues: "mails-*" }],
    });
  });
});
