import { Hono } from "hono";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { sluice as cloudflare } from "../../serverless/cloudflare.ts";
import type { ServiceOptions } from "../../serverless/cloudflare.ts";
import { dashboard } from "../../src/dashboard/index.ts";
import { type Gateway, startGateway } from "../../src/local/index.ts";
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
