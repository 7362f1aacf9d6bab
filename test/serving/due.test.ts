import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { serve, type Server, type ServeOptions } from "../../serverless/node.ts";
import { start as startProcess } from "../../serverless/process/process.ts";
import { Queue, Schedules, type Task } from "../../src/index.ts";
import { resp } from "../../src/transport/resp.ts";
import { startRedis, type TestRedis } from "../support/redis.ts";
import { wakeSecret } from "../platforms/place.ts";

// A server starts what is due at its time. Its cron runs at the start and each minute, so not during a test.

/** How late a task may start, ms: usually some milliseconds. Cron alone would start it a minute later. */
const PROMPT = 30_000;

let redis: TestRedis;
let transport: ReturnType<typeof resp>;
beforeAll(async () => {
  redis = await startRedis();
  transport = resp(redis.url);
});
afterAll(async () => {
  await transport.close();
  await redis.stop();
});

let servers: Server[] = [];
afterEach(async () => {
  await Promise.all(servers.map((server) => server.close()));
  servers = [];
  vi.restoreAllMocks();
});

const token = "a-token-of-16-bytes";
async function start(options: ServeOptions, env: Readonly<Record<string, string>> = {}) {
  const SLUICE_TOKENS = JSON.stringify([{ token, scopes: ["enqueue", "consume", "admin"], queues: "*" }]);
  vi.spyOn(console, "log").mockImplementation(() => {});
  vi.spyOn(console, "error").mockImplementation(() => {});
  const server = await serve({
    env: { REDIS_URL: redis.url, SLUICE_TOKENS, ...env },
    port: 0,
    hostname: "127.0.0.1",
    signals: false,
    ...options,
  });
  servers.push(server);
  const request = async (method: string, path: string, json: object = {}) => {
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const response = await fetch(server.url + path, { method, headers, body: JSON.stringify(json) });
    return [response.status, await response.json()] as const;
  };
  return { ...server, request };
}

/** Waits until a task has completed, and returns when it was enqueued and when each of its attempts began. */
async function timesOf(queue: string, id: string) {
  const found = () => new Queue(queue, { transport }).get(id);
  await expect.poll(async () => (await found())?.state, { timeout: 60_000 }).toBe("completed");
  const { enqueuedAt = 0, transitions = [] } = (await found()) ?? {};
  const at = (state: string) =>
    transitions.filter(({ to }) => to === state).map((transition) => transition.at);
  return { enqueuedAt, begun: at("working"), delayed: at("delayed") };
}

/** By Redis's clock, the time from when a task was due until it began. */
const expectPrompt = (due: number, begun: number | undefined) => {
  expect((begun ?? 0) - due).toBeGreaterThanOrEqual(0);
  expect((begun ?? 0) - due).toBeLessThan(PROMPT);
};

test("a delayed task starts when it is due, enqueued over HTTP or by the deployment", async () => {
  const { url, request } = await start({
    consumers: { due: () => {} },
    fetch: async (_, { queue }) => Response.json(await queue("due").enqueue(1, { delay: "2s" })),
  });
  const [status, { id }] = await request("POST", "/v1/queues/due/tasks", { payload: 1, delay: "3s" });
  expect(status).toBe(201);
  const { id: own } = (await (await fetch(`${url}/own`)).json()) as { id: string };
  const [over, by] = [await timesOf("due", id), await timesOf("due", own)];
  expectPrompt(over.enqueuedAt + 3_000, over.begun[0]);
  expectPrompt(by.enqueuedAt + 2_000, by.begun[0]);
});

test("a failed task is tried again when its backoff is over, also while another handler runs", async () => {
  let release = () => {};
  const { request } = await start({
    consumers: {
      retried: {
        backoff: ["2s"],
        handler: async ({ payload, attempt }: Task) => {
          if (payload === "long") await new Promise<void>((resolve) => (release = resolve));
          else if (attempt === 1) throw new Error("once");
        },
      },
    },
  });
  const tasks = [{ payload: "long" }, { payload: "flaky", id: "flaky" }];
  await request("POST", "/v1/queues/retried/tasks", { tasks });
  const { begun, delayed } = await timesOf("retried", "flaky");
  release();
  expect(begun).toHaveLength(2);
  expectPrompt((delayed[0] ?? 0) + 2_000, begun[1]);
});

test("an occurrence of a schedule is enqueued at its time, with a consumer and without", async () => {
  await start({ consumers: { daily: () => {} } });
  const { request } = await start({});
  const from = Date.now() + 3_000;
  const put = (queue: string) =>
    request("PUT", `/v1/queues/${queue}/schedules/nine`, { every: "1d", from, payload: 1 });
  expect((await put("daily"))[0]).toBe(201);
  expect((await put("pulled"))[0]).toBe(201);
  const pulled = () => new Queue("pulled", { transport }).get(`nine.${from}`);
  await expect.poll(async () => (await pulled())?.state, { timeout: 60_000 }).toBe("pending");
  expectPrompt(from, (await pulled())?.enqueuedAt);
  expectPrompt(from, (await new Queue("daily", { transport }).get(`nine.${from}`))?.enqueuedAt);
});

test("what was delayed before a server has started is known to it from its first sweep on", async () => {
  const queue = new Queue("before", { transport });
  const { id } = await queue.enqueue(1, { delay: "3s" });
  await new Schedules("before", { transport }).put("x", {
    every: "1d",
    from: Date.now() + 3_000,
    payload: 1,
  });
  await start({ consumers: { before: () => {} } });
  const { enqueuedAt, begun } = await timesOf("before", id);
  expectPrompt(enqueuedAt + 3_000, begun[0]);
});

test("a server without consumers wakes another one when a task is due", async () => {
  const env = { SLUICE_WAKE_SECRET: wakeSecret };
  const { url } = await start({ consumers: { remote: () => {} } }, env);
  const producer = await start({}, { ...env, SLUICE_WAKE_URL: `${url}/wake` });
  const [, { id }] = await producer.request("POST", "/v1/queues/remote/tasks", { payload: 1, delay: "2s" });
  const { enqueuedAt, begun } = await timesOf("remote", id);
  expectPrompt(enqueuedAt + 2_000, begun[0]);
});

test("two servers start each task once, when it is due", async () => {
  const begun: string[] = [];
  const consumers = { shared: ({ id }: Task) => void begun.push(id) };
  const [first, second] = [await start({ consumers }), await start({ consumers })];
  const ids: string[] = [];
  for (const [i, { request }] of [first, second, first, second].entries()) {
    const tasks = Array.from({ length: 10 }, () => ({ payload: i, delay: "2s" }));
    const [, body] = await request("POST", "/v1/queues/shared/tasks", { tasks });
    ids.push(...body.tasks.map(({ id }: { id: string }) => id));
  }
  for (const id of ids) {
    const times = await timesOf("shared", id);
    expectPrompt(times.enqueuedAt + 2_000, times.begun[0]);
  }
  expect(begun.toSorted()).toEqual(ids.toSorted());
});

test("a server that closes does not wait for what is due later", async () => {
  const { request, close } = await start({ consumers: { left: () => {} } });
  await request("POST", "/v1/queues/left/tasks", { payload: 1, delay: "20s" });
  await close();
  expect(await new Queue("left", { transport }).counts()).toMatchObject({ delayed: 1 });
});

test("the cron of a platform lasts until what is due within it has started, so that the instance stays", async () => {
  let cron = async () => {};
  const begun: string[] = [];
  const server = await startProcess(
    {
      grace: "1s",
      cron: (work) => void (cron = work),
      listen: async () => ({ port: 1, stop: async () => {} }),
    },
    {
      env: { REDIS_URL: redis.url },
      signals: false,
      consumers: { platform: ({ id }: Task) => void begun.push(id) },
    },
  );
  servers.push(server);
  vi.spyOn(console, "log").mockImplementation(() => {});
  const queue = new Queue("platform", { transport });
  await queue.enqueue(1, { id: "soon", delay: "2s" });
  await queue.enqueue(1, { id: "late", delay: "1h" });
  await cron();
  expect(begun).toEqual(["soon"]);
});
