import { AsyncLocalStorage } from "node:async_hooks";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { serve } from "../../serverless/node.ts";
import { sluice, type ServiceOptions } from "../../serverless/vercel.ts";
import { startGateway, type Gateway } from "../../src/local/index.ts";
import { startRedis, type TestRedis } from "../support/redis.ts";

// An application that keeps its tenant in an AsyncLocalStorage, as many do for logs and access.

let redis: TestRedis;
let gateway: Gateway;
beforeAll(async () => {
  redis = await startRedis();
  gateway = await startGateway({ redisUrl: redis.url });
});
afterAll(async () => {
  await gateway.close();
  await redis.stop();
});

const tenant = new AsyncLocalStorage<string>();
let queueName: string;
let seen: { readonly what: string; readonly as: string | undefined }[];
let letBothGo: () => void;
let both: Promise<void>;
let count = 0;
beforeEach(() => {
  queueName = `tasks-${++count}`;
  seen = [];
  both = new Promise((resolve) => (letBothGo = resolve));
});
afterEach(() => vi.unstubAllEnvs());

function app(): ServiceOptions {
  const note = (what: string) => void seen.push({ what, as: tenant.getStore() });
  return {
    consumers: {
      [queueName]: {
        concurrency: 5,
        handler: async ({ payload }: { payload: unknown }) => {
          note(`began ${String(payload)}`);
          // The task of the second request runs in the drain that the first has started.
          await both;
          note(`ended ${String(payload)}`);
          if (payload === "ben") throw new Error("no");
        },
      },
    },
    onDeadLetter: ({ id }) => note(`dead ${id}`),
    fetch: async (request, { queue }) => {
      const as = new URL(request.url).searchParams.get("as") ?? "";
      const delay = as === "later" ? 1 : 0;
      return tenant.run(as, async () => {
        const enqueued = await queue(queueName).enqueue(as, { id: as, delay, maxAttempts: 1 });
        note(`enqueued ${as}`);
        return Response.json(enqueued);
      });
    },
  };
}

const outside = (...what: string[]) => what.map((one) => ({ what: one, as: undefined }));
const ofRequests = ["anna", "ben"].map((as) => ({ what: `enqueued ${as}`, as }));
const bySubject = () => seen.toSorted((a, b) => (a.what < b.what ? -1 : 1));
const until = (what: string) =>
  expect.poll(() => seen.map((one) => one.what), { timeout: 30_000 }).toContain(what);

async function command(...words: string[]): Promise<void> {
  const headers = { authorization: `Bearer ${gateway.token}` };
  const response = await fetch(gateway.url, { method: "POST", headers, body: JSON.stringify(words) });
  expect(response.status).toBe(200);
}

async function serves(fetch: (path: string) => Promise<Response>): Promise<void> {
  expect((await fetch("/own?as=anna")).status).toBe(200);
  await until("began anna");
  // So that the second enqueue wakes the consumer too, whose drain is running.
  await command("HDEL", `sluice:{${queueName}}:tasks`, "~wake");
  expect((await fetch("/own?as=ben")).status).toBe(200);
  await until("began ben");
  letBothGo();
  await until("dead ben");
  await until("ended anna");
  expect(bySubject()).toEqual([
    ...outside("began anna", "began ben", "dead ben", "ended anna", "ended ben"),
    ...ofRequests,
  ]);
}

describe("handlers and hooks run in the context of no request", () => {
  const start = () => {
    const around = { env: { REDIS_URL: redis.url }, port: 0, hostname: "127.0.0.1", signals: false };
    return serve({ ...app(), ...around });
  };

  it("in serve, also when an alarm that a request has set rings", async () => {
    const server = await start();
    await serves((path) => fetch(server.url + path));
    seen = [];
    await fetch(`${server.url}/own?as=later`);
    await until("ended later");
    await server.close();
    expect(bySubject()).toEqual([
      ...outside("began later", "ended later"),
      { what: "enqueued later", as: "later" },
    ]);
  });

  it("in serve that was started within a context: they have that", async () => {
    const server = await tenant.run("start", start);
    letBothGo();
    await fetch(`${server.url}/own?as=anna`);
    await until("ended anna");
    await server.close();
    expect(bySubject()).toEqual([
      { what: "began anna", as: "start" },
      { what: "ended anna", as: "start" },
      { what: "enqueued anna", as: "anna" },
    ]);
  });

  const onVercel = () => {
    vi.stubEnv("UPSTASH_REDIS_REST_URL", gateway.url);
    vi.stubEnv("UPSTASH_REDIS_REST_TOKEN", gateway.token);
    const { GET } = sluice(app());
    const working: Promise<unknown>[] = [];
    const waitUntil = (work: Promise<unknown>) => void working.push(work);
    const call = (path: string) => GET(new Request(`https://sluice.test${path}`), { waitUntil });
    return { call, working };
  };

  it("on Vercel within a request that calls the deployment in a context of its own", async () => {
    const { call, working } = onVercel();
    await serves((path) => tenant.run("outer", () => call(path)));
    await Promise.all(working);
  });

  it.each([
    ["throws", () => expect.unreachable("edge")],
    ["has no such module", () => undefined],
  ])("and where process.getBuiltinModule %s, a deployment works without it", async (_, builtin) => {
    vi.spyOn(process, "getBuiltinModule").mockImplementation(builtin);
    const { call, working } = onVercel();
    letBothGo();
    expect((await call("/own?as=anna")).status).toBe(200);
    await until("ended anna");
    await Promise.all(working);
    vi.restoreAllMocks();
  });
});
