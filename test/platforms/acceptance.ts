import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { signedHeaders, signingKey } from "../../src/consumer/wake/signature.ts";
import { asker, type Ask, secrets, tokens } from "../http/served.ts";
import { type Gateway, startGateway } from "../../src/local/index.ts";
import { startRedis, type TestRedis } from "../support/redis.ts";

/** `deployment.ts`, deployed on a platform. */
export interface Deployed {
  /** Sends one request to it. */
  readonly fetch: (request: Request) => Promise<Response>;
  /** Makes the platform's cron call it once, and waits for the end if the platform reports it. */
  readonly cron: () => Promise<unknown>;
  readonly stop: () => Promise<void>;
}

export const wakeSecret = `whsec_${btoa("a secret of at least 24 bytes")}`;

/** The deployment's Redis, and the environment that it needs. */
export interface Place {
  readonly redis: TestRedis;
  readonly gateway: Gateway;
  readonly env: Readonly<Record<string, string>>;
}

/** A Redis behind a gateway, and an environment that names it. */
export async function openPlace(): Promise<Place & { close(): Promise<void> }> {
  const redis = await startRedis();
  const gateway = await startGateway({ redisUrl: redis.url });
  const env = {
    UPSTASH_REDIS_REST_URL: gateway.url,
    UPSTASH_REDIS_REST_TOKEN: gateway.token,
    SLUICE_TOKENS: JSON.stringify(tokens),
    CRON_SECRET: secrets.cron,
    SLUICE_WAKE_SECRET: wakeSecret,
  };
  return {
    redis,
    gateway,
    env,
    async close() {
      await gateway.close();
      await redis.stop();
    },
  };
}

/** What differs on a platform from all others. */
export interface Peculiarities {
  /** Whether tasks that a request enqueues are worked on after the response, without cron. @default true */
  readonly worksAfterResponse?: boolean;
  /** Whether the deployment compresses the files of the dashboard, because the platform does not. @default false */
  readonly compresses?: boolean;
}

const after = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** One suite for every platform: the same deployment does the same on each. */
export function acceptance(
  platform: string,
  deploy: (place: Place) => Promise<Deployed>,
  { worksAfterResponse = true, compresses = false }: Peculiarities = {},
): void {
  describe(platform, () => {
    let place: Awaited<ReturnType<typeof openPlace>>;
    let deployed: Deployed;
    let ask: Ask;
    beforeAll(async () => {
      place = await openPlace();
      deployed = await deploy(place);
      ask = asker((request) => deployed.fetch(request));
    }, 120_000);
    afterAll(async () => {
      await deployed?.stop();
      await place?.close();
    });

    const task = async (queue: string, id: string, wait = "0s") =>
      (await ask("GET", `/v1/queues/${queue}/tasks/${id}?wait=${wait}`)).body;
    const enqueue = async (queue: string, json: object) => {
      const { status, body } = await ask("POST", `/v1/queues/${queue}/tasks`, { json });
      expect([status, body.created]).toEqual([201, true]);
      return body.id as string;
    };
    const pull = async (queue: string, json?: object) =>
      (await ask("POST", `/v1/queues/${queue}/tasks/pull`, { json })).body.tasks;
    const settle = async (queue: string, settlement: object) =>
      (await ask("POST", `/v1/queues/${queue}/tasks/settle`, { json: { settlements: [settlement] } })).body
        .results[0];

    it("is healthy, and refuses calls without a token", async () => {
      expect((await ask("GET", "/health", { as: null })).body).toEqual({ status: "ok" });
      expect((await ask("GET", "/v1/queues", { as: null })).status).toBe(401);
    });

    it("takes a task from enqueue to its result", async () => {
      const id = await enqueue("plain", { payload: { to: "ä\u0000👋" }, headers: { trace: "1" } });
      const [{ receipt, ...pulled }] = await pull("plain");
      expect(pulled).toMatchObject({ id, payload: { to: "ä\u0000👋" }, attempt: 1, headers: { trace: "1" } });
      expect(await settle("plain", { receipt, outcome: "complete", result: [1] })).toMatchObject({
        ok: true,
      });
      expect(await task("plain", id)).toMatchObject({ state: "completed", result: [1] });
    });

    it("has the metrics of its queues for a caller with a token", async () => {
      await enqueue("measured", { payload: 1 });
      expect((await ask("GET", "/metrics", { as: null })).status).toBe(401);
      const { status, body } = await ask("GET", "/metrics?queues=measured");
      expect(status).toBe(200);
      expect(body).toContain('\nsluice_queue_tasks{queue="measured",state="pending"} 1\n');
      expect(body).toMatch(/\n# EOF\n$/);
    });

    it("promotes a delayed task when cron calls", async () => {
      const id = await enqueue("later", { payload: 1, delay: 20 });
      expect(await task("later", id)).toMatchObject({ state: "delayed" });
      await after(30);
      await deployed.cron();
      await expect.poll(async () => (await task("later", id)).state, { timeout: 10_000 }).toBe("pending");
    });

    it("reclaims an expired lease when cron calls, and its late holder gets lease_lost", async () => {
      const id = await enqueue("lost", { payload: 1, lease: 1 });
      const [{ receipt }] = await pull("lost");
      await after(5);
      await deployed.cron();
      await expect.poll(async () => (await task("lost", id)).state, { timeout: 10_000 }).toBe("pending");
      expect(await pull("lost", { lease: "1m" })).toMatchObject([{ id, attempt: 2 }]);
      expect(await settle("lost", { receipt, outcome: "complete" })).toMatchObject({ code: "lease_lost" });
    });

    it("keeps dead letters: one rejected, one whose last lease expired", async () => {
      const rejected = await enqueue("dead", { payload: 1 });
      const [{ receipt }] = await pull("dead");
      await settle("dead", { receipt, outcome: "reject", error: "no such address" });
      expect(await task("dead", rejected)).toMatchObject({ state: "rejected", error: "no such address" });
      const expired = await enqueue("dead", { payload: 2, lease: 1, maxAttempts: 1 });
      await pull("dead");
      await after(5);
      await deployed.cron();
      await expect
        .poll(() => task("dead", expired), { timeout: 10_000 })
        .toMatchObject({ state: "rejected", reason: "lease_expired" });
      expect((await ask("GET", "/v1/queues/dead")).body).toMatchObject({
        rejected: 2,
        pending: 0,
        working: 0,
      });
    });

    it("sweeps on request over HTTP: for an admin, or for an external cron with its secret", async () => {
      const id = await enqueue("asked", { payload: 1, delay: 1 });
      await after(5);
      expect((await ask("POST", "/v1/sweep")).body).toMatchObject({ promoted: 1, failed: [] });
      expect(await task("asked", id)).toMatchObject({ state: "pending" });
      expect(await ask("GET", "/v1/sweep", { as: "cron" })).toMatchObject({ status: 200 });
      expect((await ask("GET", "/v1/sweep", { as: "admin" })).status).toBe(403);
    });

    it("works on tasks that its own producer enqueues", async () => {
      const { status, body } = await ask("POST", "/say?text=hello", { as: null });
      expect([status, body.created]).toEqual([201, true]);
      if (!worksAfterResponse) await deployed.cron();
      expect(await task("work", body.id, "10s")).toMatchObject({
        state: "completed",
        result: { said: "hello", attempt: 1 },
      });
    });

    it("works on tasks enqueued over HTTP, retries failed ones, and rejects those that cannot succeed", async () => {
      const flaky = await enqueue("work", { payload: { say: "at last", failures: 2 }, maxAttempts: 3 });
      const hopeless = await enqueue("work", { payload: { say: "never", hopeless: true } });
      await expect
        .poll(
          async () => {
            await deployed.cron();
            return [(await task("work", flaky)).state, (await task("work", hopeless)).state];
          },
          { timeout: 20_000 },
        )
        .toEqual(["completed", "rejected"]);
      expect(await task("work", flaky)).toMatchObject({ result: { said: "at last", attempt: 3 } });
      expect(await task("work", hopeless)).toMatchObject({
        attempt: 1,
        error: { message: "nothing can be done" },
      });
    });

    it("serves the dashboard: its page, a cookie for a token, and with the cookie the routes of /v1", async () => {
      const page = await ask("GET", "/dashboard", { as: null });
      expect([page.status, page.headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"]);
      expect(page.headers.get("content-security-policy")).toContain("script-src 'self'");
      const [, script = ""] = /src="(dashboard\/assets\/[^"]+\.js)"/.exec(page.body) ?? [];
      const asset = await ask("GET", `/${script}`, { as: null });
      expect([asset.status, asset.headers.get("cache-control")]).toEqual([
        200,
        "public, max-age=31536000, immutable",
      ]);
      if (compresses) expect(asset.headers.get("content-encoding")).toBe("gzip");
      const signIn = (origin: string) =>
        ask("POST", "/dashboard/session", { as: null, json: { token: secrets.all }, headers: { origin } });
      const refused = await signIn("https://evil.test");
      expect([refused.status, refused.body.code]).toEqual([403, "foreign_origin"]);
      // The platform's emulator chose the host.
      const [, host = ""] = /the host (\S+),/.exec(refused.body.detail) ?? [];
      const signedIn = await signIn(`http://${host}`);
      const [cookie = "", ...attributes] = signedIn.headers.getSetCookie().join("; ").split("; ");
      expect([signedIn.status, cookie]).toEqual([204, `sluice_session=${secrets.all}`]);
      expect(attributes).toEqual(expect.arrayContaining(["HttpOnly", "SameSite=Strict"]));
      const headers = { cookie, origin: `http://${host}` };
      const added = { as: null, headers, json: { payload: "seen", id: "seen" } };
      expect((await ask("POST", "/dashboard/api/v1/queues/seen/tasks", added)).status).toBe(201);
      const read = await ask("GET", "/dashboard/api/v1/queues/seen/tasks/seen?payload=true", {
        as: null,
        headers,
      });
      expect(read.body).toMatchObject({ state: "pending", payload: "seen" });
      expect((await ask("GET", "/v1/queues/seen", { as: null, headers })).status).toBe(401);
    });

    it("drains a queue when a signed POST wakes it, and no other POST", async () => {
      const id = await enqueue("work", { payload: { say: "woken" }, delay: 20 });
      await after(30);
      const body = JSON.stringify({ type: "sluice.wake", data: { queue: "work" } });
      const headers = await signedHeaders(await signingKey(wakeSecret), "wake_1", body);
      const wake = (signed: Record<string, string>) =>
        ask("POST", "/wake", { as: null, raw: body, headers: signed });
      expect((await wake({ ...headers, "webhook-id": "wake_2" })).status).toBe(401);
      expect((await wake({})).status).toBe(401);
      expect([200, 202]).toContain((await wake(headers)).status);
      expect(await task("work", id, "10s")).toMatchObject({ state: "completed", result: { said: "woken" } });
    });
  });
}
