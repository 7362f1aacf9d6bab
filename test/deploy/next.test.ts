import { AsyncLocalStorage } from "node:async_hooks";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { sluice } from "../../serverless/next.ts";
import { PendingWork } from "../../src/deploy/pending-work.ts";
import { defineQueue } from "../../src/index.ts";
import { type Gateway, startGateway } from "../../src/local/index.ts";
import { testDeployment } from "../../src/testing/index.ts";
import { inRequest, isInRequest } from "../support/next-server.ts";
import { useRig } from "../support/rig.ts";

const rig = useRig();
const secret = "the-secret-of-the-cron-of-tests";
const emails = defineQueue<string>("emails");

/** What happened, in its order. */
let seen: string[];
let gateway: Gateway;
/** What goes on after responses. */
let work: PendingWork;

beforeEach(async () => {
  seen = [];
  work = new PendingWork();
  gateway = await startGateway({ redisUrl: rig.redis.url });
  vi.spyOn(console, "info").mockImplementation(() => {});
});
afterEach(async () => {
  await work.settled();
  await gateway.close();
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

/** Sets the environment, which the application reads late. */
function connect(): void {
  vi.stubEnv("UPSTASH_REDIS_REST_URL", gateway.url);
  vi.stubEnv("UPSTASH_REDIS_REST_TOKEN", gateway.token);
  vi.stubEnv("CRON_SECRET", secret);
}

const newApp = (seenBy = () => "") =>
  sluice({
    consumers: [emails.consumer(({ payload }) => void seen.push(`handled ${payload}${seenBy()}`))],
    dashboard: true,
  });

const request = <T>(handle: () => Promise<T>) => inRequest(work.add, handle);

/** A request to the catch-all route `app/api/queue/[[...path]]`, as the Edge runtime passes it. */
function get({ handlers }: ReturnType<typeof newApp>, path: string, headers: Record<string, string> = {}) {
  const segments = path.split("/").filter((segment) => segment !== "");
  const query = segments.map((segment) => `path=${segment}`).join("&");
  const url = `https://sluice.test/api/queue${path === "/" ? "" : path}?${query}`;
  const params = Promise.resolve(segments.length > 0 ? { path: segments } : {});
  return request(() => handlers.GET(new Request(url, { headers }), { params }));
}

const cron = (app: ReturnType<typeof newApp>) => get(app, "/v1/sweep", { authorization: `Bearer ${secret}` });

describe("an application with Next.js", () => {
  it("starts the consumer of an enqueue after the response, in the same invocation, in the context of no request", async () => {
    connect();
    const { queue } = newApp(() => ` ${isInRequest() ? "in a request" : "in none"}`);
    await request(async () => {
      await queue(emails).enqueue("a");
      expect(await queue(emails).counts()).toMatchObject({ pending: 1 });
      seen.push("response");
    });
    await work.settled();
    expect(seen).toEqual(["response", "handled a in none"]);
  });

  it("needs no environment until a queue is used, also one that a module keeps", async () => {
    const app = newApp();
    const kept = app.queue(emails);
    expect(() => kept.counts()).toThrow("UPSTASH_REDIS_REST_URL");
    connect();
    await request(() => kept.enqueue("a"));
    await work.settled();
    expect(seen).toEqual(["handled a"]);
    await app.schedules(emails).put("weekly", { cron: "0 9 * * 1", payload: "digest" });
    expect(await app.schedules(emails).list()).toMatchObject({ schedules: [{ name: "weekly" }] });
  });

  it.each([
    ["outside of a request", (enqueue: () => Promise<unknown>) => enqueue()],
    [
      "in next build",
      (enqueue: () => Promise<unknown>) => {
        vi.stubEnv("NEXT_PHASE", "phase-production-build");
        return request(enqueue).finally(() => vi.stubEnv("NEXT_PHASE", undefined));
      },
    ],
  ])("leaves a task that is enqueued %s to the next cron", async (_, run) => {
    connect();
    const app = newApp();
    await run(() => app.queue(emails).enqueue("a"));
    await work.settled();
    expect([seen, await app.queue(emails).counts()]).toMatchObject([[], { pending: 1 }]);
    const swept = await cron(app);
    expect([swept.status, await swept.json()]).toMatchObject([200, { failed: [], woken: 1 }]);
    await work.settled();
    expect(seen).toEqual(["handled a"]);
  });

  it("has its queue and schedules in the database of the last test deployment, which runs the consumer", async () => {
    const app = newApp();
    const kept = app.queue(emails);
    connect();
    await kept.enqueue("in Redis");
    for (const tested of [app, app.handlers, app.handlers.GET]) {
      const deployment = testDeployment(tested);
      await kept.enqueue("kept");
      await request(() => app.queue("emails").enqueue("by name"));
      await app.schedules(emails).put("hourly", { every: "1h", payload: "scheduled" });
      expect([seen, await deployment.queue(emails).counts()]).toMatchObject([[], { pending: 2 }]);
      await deployment.advance("1h");
      expect(seen.splice(0)).toEqual(["handled kept", "handled by name", "handled scheduled"]);
    }
    await cron(newApp());
    await work.settled();
    expect(seen).toEqual(["handled in Redis"]);
  });

  it("runs consumers in the context of what starts them if a request has evaluated the module, and not in that request's", async () => {
    connect();
    const name = new AsyncLocalStorage<string>();
    const app = await request(() =>
      name.run("evaluates", async () => newApp(() => ` ${name.getStore() ?? "in none"}`)),
    );
    await request(() => name.run("enqueues", () => app.queue(emails).enqueue("a")));
    await work.settled();
    expect(seen).toEqual(["handled a enqueues"]);
  });

  it("serves the HTTP interface and the dashboard below the catch-all route", async () => {
    connect();
    const app = newApp();
    expect(await (await get(app, "/health")).json()).toEqual({ status: "ok" });
    expect((await get(app, "/v1/sweep")).status).toBe(401);
    expect((await cron(app)).status).toBe(200);
    const lost = await get(app, "/nothing");
    expect([lost.status, await lost.json()]).toMatchObject([404, { type: "/api/queue/docs#no_route" }]);
    expect((await get(app, "/")).headers.get("location")).toBe("queue/dashboard");
    const page = await (await get(app, "/dashboard")).text();
    const [, asset = ""] = /src="(dashboard\/assets\/[^"]+\.js)"/.exec(page) ?? [];
    expect((await get(app, `/${asset}`)).headers.get("content-type")).toMatch(/javascript/);
  });

  it("lets the application decide who may see the dashboard, in the scope of its request", async () => {
    connect();
    const authorize = ({ headers }: Request) =>
      headers.get("cookie") === "user=ada"
        ? ({ scopes: ["admin"], queues: "*" } as const)
        : isInRequest() && Response.redirect("https://sluice.test/login");
    const app = sluice({ dashboard: { authorize } });
    const ada = { cookie: "user=ada", origin: "https://sluice.test", host: "sluice.test" };
    expect((await get(app, "/dashboard", ada)).status).toBe(200);
    expect((await get(app, "/dashboard/api/v1/queues", ada)).status).toBe(200);
    expect((await get(app, "/dashboard/api/v1/queues")).status).toBe(401);
    expect((await get(app, "/v1/queues", ada)).status).toBe(503);
    const guest = await get(app, "/dashboard");
    expect([guest.status, guest.headers.get("location")]).toEqual([302, "https://sluice.test/login"]);
  });

  it.each([
    [
      "without CRON_SECRET, in one line",
      "",
      true,
      [{ cron: "refused", note: expect.stringContaining("CRON_SECRET") }],
    ],
    ["nothing with it", secret, true, []],
    ["nothing without consumers, which need no cron", "", false, []],
  ])("says that cron is refused %s", async (_, given, hasConsumers, expected) => {
    connect();
    vi.stubEnv("CRON_SECRET", given);
    const lines: unknown[] = [];
    vi.spyOn(console, "warn").mockImplementation((line) => void lines.push(JSON.parse(String(line))));
    const app = hasConsumers ? newApp() : sluice();
    expect(lines).toEqual([]);
    for (const path of ["/health", "/health"]) expect((await get(app, path)).status).toBe(200);
    await request(() => app.queue(emails).enqueue("a"));
    expect(lines).toEqual(expected);
    expect((await get(app, "/v1/sweep")).status).toBe(given ? 401 : 503);
  });

  it("handles a request of a test, in which Next.js has no scope: it waits for the work", async () => {
    connect();
    const { handlers } = newApp();
    const response = await handlers.GET(new Request("https://sluice.test/"));
    expect(response.status).toBe(302);
  });
});
