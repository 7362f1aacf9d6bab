import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Server, ServeOptions } from "../../serverless/node.ts";
import { start as startProcess } from "../../src/deploy/process/process.ts";
import type { Runtime } from "../../src/deploy/process/types.ts";
import { embedded, EmbeddedDatabase } from "../../src/embedded/index.ts";
import { Queue, Schedules, type Task, type Transport } from "../../src/index.ts";
import { wakeSecret } from "../platforms/place.ts";
import { useSimulatedTime } from "../support/simulated-time.ts";

// A server starts what is due at its time. Its cron runs at the start and each minute, so not during a test.

const time = useSimulatedTime();
let database: EmbeddedDatabase;
let transport: Transport;
/** What answers requests to `http://other.test`. */
let other: (request: Request) => Promise<Response>;

let begin: number;
let servers: Server[];
beforeEach(() => {
  begin = time.now;
  servers = [];
  database = new EmbeddedDatabase({ now: () => time.now, keyLocking: true });
  transport = time.through(embedded(database));
  vi.spyOn(console, "info").mockImplementation(() => {});
  vi.spyOn(console, "error").mockImplementation(() => {});
  vi.spyOn(globalThis, "fetch").mockImplementation(async (input, init) => {
    const request = new Request(input, init);
    return new URL(request.url).host === "redis.test" ? answerOfRedis(request) : other(request);
  });
});
afterEach(() => Promise.all(servers.map((server) => server.close())));

/** The answer to a pipeline of the REST protocol. */
async function answerOfRedis(request: Request): Promise<Response> {
  const commands = (await time.during(request.json())) as [string, ...string[]][];
  const outcomes = commands.map((command) => {
    try {
      return { result: database.call(...command) };
    } catch (error) {
      return { error: (error as Error).message };
    }
  });
  return Response.json(outcomes);
}

const token = "a-token-of-16-bytes";
const redis = { UPSTASH_REDIS_REST_URL: "http://redis.test", UPSTASH_REDIS_REST_TOKEN: "t" };
const SLUICE_TOKENS = JSON.stringify([{ token, scopes: ["enqueue", "consume", "admin"], queues: "*" }]);

/** Starts a server, whose requests a test makes in the process. */
async function start(options: ServeOptions, env: object = {}, runtime: Partial<Runtime> = {}) {
  let answer: Parameters<Runtime["listen"]>[0];
  const listen: Runtime["listen"] = async (fetch) => {
    answer = fetch;
    return { port: 1, stop: async () => {} };
  };
  const server = await startProcess(
    { grace: "1s", listen, ...runtime },
    { env: { ...redis, SLUICE_TOKENS, ...env }, signals: false, ...options },
  );
  servers.push(server);
  const fetch = (request: Request) => time.during(answer(request));
  async function request(method: string, path: string, json: object = {}) {
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const url = `http://sluice.test${path}`;
    const response = await fetch(new Request(url, { method, headers, body: JSON.stringify(json) }));
    return response.json();
  }
  return { ...server, fetch, request };
}

/** How late an alarm rings, ms, so that the task is due by Redis's clock too. */
const LATE = 10;

const pass = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** When each attempt of a task began, ms after the beginning of the test. */
async function begun(queue: string, id: string): Promise<number[]> {
  const { transitions = [] } = (await new Queue(queue, { transport }).get(id)) ?? {};
  return transitions.filter(({ to }) => to === "working").map(({ at }) => at - begin);
}

test("a delayed task starts when it is due, enqueued over HTTP or by the deployment", async () => {
  const { request } = await start({
    consumers: { due: () => {} },
    fetch: async (_, { queue }) => Response.json(await queue("due").enqueue(1, { id: "own", delay: "2s" })),
  });
  await request("POST", "/v1/queues/due/tasks", { payload: 1, id: "over-http", delay: "3s" });
  await request("POST", "/own");
  await pass(10_000);
  expect([await begun("due", "over-http"), await begun("due", "own")]).toEqual([
    [3_000 + LATE],
    [2_000 + LATE],
  ]);
});

test("a failed task is tried again when its backoff is over, also while another handler runs", async () => {
  const handler = async ({ payload, attempt }: Task) => {
    if (payload === "long") await pass(30_000);
    else if (attempt === 1) throw new Error("once");
  };
  const { request } = await start({ consumers: { retried: { backoff: ["2s"], handler } } });
  const tasks = [{ payload: "long" }, { payload: "flaky", id: "flaky" }];
  await request("POST", "/v1/queues/retried/tasks", { tasks });
  await pass(10_000);
  // The first attempt is settled a second after it failed, in case others end meanwhile.
  expect(await begun("retried", "flaky")).toEqual([0, 1_000 + 2_000 + LATE]);
});

test("an occurrence of a schedule is enqueued at its time, with a consumer and without", async () => {
  await start({ consumers: { daily: () => {} } });
  const { request } = await start({});
  const from = begin + 3_000;
  for (const queue of ["daily", "pulled"])
    await request("PUT", `/v1/queues/${queue}/schedules/nine`, { every: "1d", from, payload: 1 });
  await pass(10_000);
  for (const queue of ["daily", "pulled"])
    expect(await new Queue(queue, { transport }).get(`nine.${from}`)).toMatchObject({
      enqueuedAt: from + LATE,
    });
});

test("what was delayed before a server has started is known to it from its first sweep on", async () => {
  await new Queue("before", { transport }).enqueue(1, { id: "a", delay: "3s" });
  const schedule = { every: "1d", from: begin + 3_000, payload: 1 } as const;
  await new Schedules("before", { transport }).put("x", schedule);
  await start({ consumers: { before: () => {} } });
  await pass(10_000);
  expect(await begun("before", "a")).toEqual([3_000 + LATE]);
  expect(await begun("before", `x.${begin + 3_000}`)).toEqual([3_000 + LATE]);
});

test("a server without consumers wakes another one when a task is due", async () => {
  const env = { SLUICE_WAKE_SECRET: wakeSecret };
  ({ fetch: other } = await start({ consumers: { remote: () => {} } }, env));
  const { request } = await start({}, { ...env, SLUICE_WAKE_URL: "http://other.test/wake" });
  await request("POST", "/v1/queues/remote/tasks", { payload: 1, id: "a", delay: "2s" });
  await pass(10_000);
  expect(await begun("remote", "a")).toEqual([2_000 + LATE]);
});

test("two servers start each task once, when it is due", async () => {
  const handled: string[] = [];
  const consumers = { shared: ({ id }: Task) => void handled.push(id) };
  const [first, second] = [await start({ consumers }), await start({ consumers })];
  const ids = Array.from({ length: 40 }, (_, i) => `t${i}`);
  for (const [i, { request }] of [first, second, first, second].entries()) {
    const tasks = ids.slice(10 * i, 10 * i + 10).map((id) => ({ payload: i, id, delay: "2s" }));
    await request("POST", "/v1/queues/shared/tasks", { tasks });
  }
  await pass(10_000);
  for (const id of ids) expect(await begun("shared", id)).toEqual([2_000 + LATE]);
  expect(handled.toSorted()).toEqual(ids.toSorted());
});

test("a server that closes does not wait for what is due later", async () => {
  const { request, close } = await start({ consumers: { left: () => {} } });
  await request("POST", "/v1/queues/left/tasks", { payload: 1, delay: "20s" });
  await close();
  expect(time.now - begin).toBeLessThan(20_000);
  await pass(60_000);
  expect(await new Queue("left", { transport }).counts()).toMatchObject({ delayed: 1 });
});

test("the cron of a platform lasts until what is due within it has started, so that the instance stays", async () => {
  const handled: string[] = [];
  const consumers = { platform: ({ id }: Task) => void handled.push(id) };
  let cron = async () => {};
  await start({ consumers }, {}, { cron: (work) => void (cron = work) });
  const queue = new Queue("platform", { transport });
  await queue.enqueue(1, { id: "soon", delay: "2s" });
  await queue.enqueue(1, { id: "late", delay: "1h" });
  await cron();
  expect([handled, time.now - begin]).toEqual([["soon"], 2_000 + LATE]);
});
