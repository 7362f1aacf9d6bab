import { Hono } from "hono";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { sluice as cloudflare } from "../../serverless/cloudflare.ts";
import type { ServiceOptions } from "../../serverless/cloudflare.ts";
import { dashboard } from "../../src/dashboard/index.ts";
import { type Gateway, startGateway } from "../../src/local/index.ts";
import { testDeployment } from "../../src/testing/index.ts";
import { browser } from "../http/dashboard-served.ts";
import { secrets, tokens } from "../http/served.ts";
import { useRig } from "../support/rig.ts";

const rig = useRig({ checkInvariants: false });
let gateway: Gateway;
let env: Record<string, string>;
beforeAll(async () => {
  gateway = await startGateway({ redisUrl: rig.redis.url });
  env = {
    UPSTASH_REDIS_REST_URL: gateway.url,
    UPSTASH_REDIS_REST_TOKEN: gateway.token,
    SLUICE_TOKENS: JSON.stringify(tokens),
  };
});
afterAll(() => gateway.close());

const context = { waitUntil: () => {} };
const deploy = (options: ServiceOptions) => {
  const app = cloudflare(options);
  return (request: Request) => app.fetch(request, env, context);
};
const mine = { fetch: (request: Request) => new Response(`mine: ${new URL(request.url).pathname}`) };

describe("a deployment with the dashboard", () => {
  test("serves the dashboard before its own fetch, which gets all other paths", async () => {
    const visit = browser(deploy({ dashboard, ...mine }));
    expect((await visit("GET", "/dashboard")).headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect((await visit("GET", "/dashboard/")).status).toBe(308);
    expect((await visit("GET", "/dashboard/nothing")).body.code).toBe("no_route");
    for (const path of ["/", "/dashboards", "/my/dashboard", "/Dashboard"]) {
      expect((await visit("GET", path)).text).toBe(`mine: ${path}`);
    }
  });

  test("signs in, and works on tasks that the dashboard enqueues", async () => {
    const visit = browser(
      deploy({ dashboard, consumers: { seen: ({ payload }: { payload: string }) => payload } }),
    );
    const { headers } = await visit("POST", "/dashboard/session", { json: { token: secrets.all } });
    const [cookie = ""] = headers.getSetCookie()[0]?.split(";") ?? [];
    const json = { id: "a", payload: "done" };
    const at = "/dashboard/api/v1/queues/seen/tasks";
    expect((await visit("POST", at, { cookie, json })).status).toBe(201);
    const { body } = await visit("GET", `${at}/a?wait=10s`, { cookie });
    expect(body).toMatchObject({ state: "completed", result: "done" });
  });

  test("can be mounted below a path of another app", async () => {
    const app = new Hono().mount("/admin", deploy({ dashboard, ...mine }));
    const visit = browser((request) => app.fetch(request), "/admin");
    expect((await visit("GET", "/dashboard")).status).toBe(200);
    const { status, headers } = await visit("POST", "/dashboard/session", { json: { token: secrets.view } });
    const [cookie = ""] = headers.getSetCookie()[0]?.split(";") ?? [];
    expect(status).toBe(204);
    expect((await visit("GET", "/dashboard/api/v1/queues", { cookie })).status).toBe(200);
  });
});

describe("the users of an application", () => {
  const authorize = ({ headers }: Request) =>
    headers.get("cookie") === "user=ada" && ({ scopes: ["admin"], queues: "*" } as const);

  test("are let into the dashboard of a Worker, which imports its code", async () => {
    const visit = browser(deploy({ dashboard: { ...dashboard, authorize } }));
    const statuses = async (visitor: object) =>
      (
        await Promise.all(
          ["/dashboard/api/v1/queues", "/v1/queues"].map((path) => visit("GET", path, visitor)),
        )
      ).map(({ status }) => status);
    expect(await statuses({ cookie: "user=ada" })).toEqual([200, 401]);
    expect(await statuses({})).toEqual([401, 401]);
  });

  test.each<[given: object, message: string]>([
    [{ authorize: "admin" }, "dashboard.authorize must be a function"],
    [{}, "dashboard.authorize must be a function"],
    [{ authorise: authorize }, "dashboard.authorise is an unknown option; expected one of authorize"],
  ])("need valid options: %j", (given, message) => {
    expect(() => testDeployment({ dashboard: given as never })).toThrow(message);
  });

  test("need the code of the dashboard in a Worker", async () => {
    const { status, body } = await browser(deploy({ dashboard: { authorize } as never }))("GET", "/health");
    expect([status, body.detail]).toEqual([
      503,
      "dashboard must be the dashboard of sluice-queue/dashboard, or a function that loads it.",
    ]);
  });
});

test.each([{}, { dashboard: false as const }, { dashboard: undefined }])(
  "a deployment with %j has no dashboard, and its own fetch gets the path",
  async (options) => {
    const visit = browser(deploy({ ...options, ...mine }));
    for (const path of ["/dashboard", "/dashboard/api/v1/queues"]) {
      expect((await visit("GET", path)).text).toBe(`mine: ${path}`);
    }
    expect((await browser(deploy(options))("GET", "/dashboard")).body.code).toBe("no_route");
  },
);
