import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createApp } from "../../src/http/app.ts";
import type { TokenEntry } from "../../src/http/auth/tokens.ts";
import { readKeySpace } from "../support/key-space.ts";
import { callables } from "./access-rows.ts";
import { seed } from "./seeded.ts";
import { type Ask, asker, serve } from "./served.ts";

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
const reading = callables.filter(({ scopes }) => scopes.length === 0 || scopes.includes("view"));

describe("a token with the scope view", () => {
  test("can change nothing: it is refused by every route that does not only read, and no call writes", async () => {
    const before = await keySpace();
    expect(Object.keys(before).length).toBeGreaterThan(10);
    for (const route of callables) {
      const { method, path, json } = route;
      for (const queue of ["mails-1", "new"]) {
        const { status, body } = await ask(method, path(queue), { ...as(VIEW), json });
        if (!reading.includes(route)) expect([route.route, body.code]).toEqual([route.route, "forbidden"]);
        else expect([route.route, [200, 302, 404].includes(status)]).toEqual([route.route, true]);
      }
    }
    expect(reading.filter(({ method }) => method !== "GET")).toEqual([]);
    expect(await keySpace()).toEqual(before);
  });

  test("can change nothing with another method, a query or a method override either", async () => {
    const before = await keySpace();
    const { headers } = as(VIEW);
    for (const { path, json } of callables) {
      for (const method of ["HEAD", "OPTIONS", "PUT", "PATCH", "DELETE", "POST"]) {
        const overriding = { ...headers, "x-http-method-override": "DELETE" };
        const body = method === "HEAD" ? {} : { json };
        const { status } = await ask(method, path("mails-1"), { as: null, headers: overriding, ...body });
        expect(status).toBeLessThan(500);
      }
      const { status } = await ask("GET", `${path("mails-1").replace(/\?.*/, "")}?_method=DELETE`, as(VIEW));
      expect(status).toBeLessThan(500);
    }
    expect(await keySpace()).toEqual(before);
  });

  test("sees only the queues of its pattern, on every route", async () => {
    for (const { route, method, path } of reading.filter((one) => one.route.includes(":queue"))) {
      const own = await ask(method, path("mails-1"), as(SOME));
      const other = await ask(method, path("bills"), as(SOME));
      expect([route, own.status, other.status, other.body.code]).toEqual([route, 200, 403, "forbidden"]);
    }
    const { body } = await ask("GET", "/v1/queues?counts=true", as(SOME));
    expect(body.queues.map(({ name }: { name: string }) => name)).toEqual(["mails-1"]);
  });
});
