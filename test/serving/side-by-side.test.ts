import { createClient } from "@redis/client";
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { serve, type ServeOptions, type Server } from "../../serverless/node.ts";
import { Deployment, overHttp } from "../../src/deploy/deployment.ts";
import { startGateway } from "../../src/local/index.ts";
import { Operator, pubSubWaker, Queue, type Task } from "../../src/index.ts";
import { wakeSecret } from "../platforms/place.ts";
import { useOwnRedis } from "../support/own-redis.ts";
import { startCluster } from "../support/redis-cluster.ts";

// Servers beside each other. Their cron runs at the start, and not again during a test: what starts, was woken.

const redis = useOwnRedis();

let servers: Server[];
beforeEach(async () => {
  servers = [];
  await command("FLUSHALL");
  await command("CONFIG", "RESETSTAT");
  vi.spyOn(console, "info").mockImplementation(() => {});
  vi.spyOn(console, "error").mockImplementation(() => {});
});
afterEach(async () => {
  await Promise.all(servers.map((server) => server.close()));
  vi.restoreAllMocks();
});

async function command(...words: [string, ...string[]]) {
  const [outcome] = await redis.transport.send([words]);
  return outcome && "reply" in outcome ? outcome.reply : outcome;
}

/** Waits until so many servers listen. */
const listeners = (count: number, channel = "sluice:wakes") =>
  expect.poll(() => command("PUBSUB", "NUMSUB", channel)).toEqual([channel, count]);

async function publishes(): Promise<number> {
  const stats = await command("INFO", "commandstats");
  return Number(/^cmdstat_publish:calls=(\d+)/m.exec(stats as string)?.[1] ?? 0);
}

async function start(options: ServeOptions = {}, env: Record<string, string> = {}): Promise<Server> {
  const server = await serve({
    env: { REDIS_URL: redis.url, ...env },
    port: 0,
    hostname: "127.0.0.1",
    signals: false,
    every: "1d",
    ...options,
  });
  servers.push(server);
  return server;
}

/** Enqueues so many tasks by any request. */
const enqueues: ServeOptions["fetch"] = async (request, { queue }) => {
  const payloads = Array.from(
    { length: Number(new URL(request.url).searchParams.get("tasks")) },
    (_, i) => i,
  );
  return Response.json(await queue("work").enqueueMany(payloads.map((payload) => ({ payload }))));
};

const enqueue = async ({ url }: Server, tasks = 1) => {
  await (await fetch(`${url}/enqueue?tasks=${tasks}`)).json();
};

/** Handlers that end together: which server has begun which tasks, and what ends them. */
function gate() {
  const begun: string[] = [];
  let open = () => {};
  const opened = new Promise<void>((resolve) => (open = resolve));
  const handler = (server: string) => async (task: Task<never>) => {
    begun.push(server);
    await opened;
    return task.id;
  };
  return { begun, open: () => open(), handler };
}

const state = async () => {
  const { pending, working } = await new Queue("work", { transport: redis.transport }).counts();
  const { tasks } = await new Operator("work", { transport: redis.transport }).list({ state: "completed" });
  return { pending, working, completed: tasks.length };
};

test("a burst spreads over all servers, as far as each has free handlers", async () => {
  const { begun, open, handler } = gate();
  const consumers = (name: string) => ({ work: { concurrency: 5, handler: handler(name) } });
  const first = await start({ consumers: consumers("a"), fetch: enqueues });
  for (const name of ["b", "c"]) await start({ consumers: consumers(name) });
  await listeners(3);
  await enqueue(first, 20);
  await expect.poll(() => begun.length).toBe(15);
  expect(begun.toSorted().join("")).toBe("aaaaabbbbbccccc");
  expect(await state()).toEqual({ pending: 5, working: 15, completed: 0 });
  open();
  await expect.poll(state).toEqual({ pending: 0, working: 0, completed: 20 });
});

test("single tasks go to another server when the first has no free handler", async () => {
  const { begun, open, handler } = gate();
  const first = await start({
    consumers: { work: { concurrency: 1, handler: handler("a") } },
    fetch: enqueues,
  });
  await start({ consumers: { work: { concurrency: 2, handler: handler("b") } } });
  await listeners(2);
  for (const count of [1, 2, 3]) {
    await enqueue(first);
    await expect.poll(() => begun.length).toBe(count);
  }
  expect(begun).toEqual(["a", "b", "b"]);
  open();
  await expect.poll(state).toEqual({ pending: 0, working: 0, completed: 3 });
});

test("a server without the consumer wakes one that has it, with one PUBLISH for a burst", async () => {
  const { begun, open, handler } = gate();
  const api = await start({ consumers: { others: () => {} }, fetch: enqueues });
  await start({ consumers: { work: { concurrency: 10, handler: handler("b") } } });
  await listeners(2);
  await enqueue(api, 5);
  await expect.poll(() => begun.length).toBe(5);
  expect(await publishes()).toBe(1);
  open();
  await expect.poll(state).toEqual({ pending: 0, working: 0, completed: 5 });
});

test("a server with free handlers publishes nothing", async () => {
  const only = await start({ consumers: { work: { concurrency: 10, handler: () => {} } }, fetch: enqueues });
  await listeners(1);
  for (let i = 1; i <= 3; i++) {
    await enqueue(only);
    await expect.poll(state).toEqual({ pending: 0, working: 0, completed: i });
  }
  expect(await publishes()).toBe(0);
});

test("what a server hands back when it closes starts elsewhere at once", async () => {
  const { begun, open, handler } = gate();
  const first = await start({
    consumers: { work: { concurrency: 1, batch: 3, handler: handler("a") } },
    fetch: enqueues,
  });
  await listeners(1);
  await enqueue(first, 3);
  await expect.poll(() => begun).toEqual(["a"]);
  await start({ consumers: { work: { concurrency: 5, handler: handler("b") } } });
  await listeners(2);
  const closed = first.close();
  await expect.poll(() => begun).toEqual(["a", "b", "b"]);
  open();
  await closed;
  await expect.poll(state).toEqual({ pending: 0, working: 0, completed: 3 });
});

test("without pub/sub, a server that closes hands its tasks over by URL", async () => {
  const { begun, open, handler } = gate();
  const settings = { SLUICE_WAKE_SECRET: wakeSecret, SLUICE_WAKE_PUBSUB: "off" };
  const second = await start({ consumers: { work: { concurrency: 5, handler: handler("b") } } }, settings);
  const env = { ...settings, SLUICE_WAKE_URL: `${second.url}/wake` };
  let end = () => {};
  const first = await start(
    {
      consumers: {
        work: {
          concurrency: 1,
          batch: 3,
          handler: () => {
            begun.push("a");
            return new Promise<void>((resolve) => (end = resolve));
          },
        },
      },
      fetch: enqueues,
    },
    env,
  );
  await enqueue(first, 4);
  // It has taken three of them, of which two wait.
  await expect.poll(() => begun).toEqual(["a"]);
  // A wake is not sent again within 100 ms.
  await new Promise((resolve) => setTimeout(resolve, 150));
  const closed = first.close();
  end();
  await closed;
  await expect.poll(() => begun.toSorted()).toEqual(["a", "b", "b", "b"]);
  open();
  await expect.poll(state).toEqual({ pending: 0, working: 0, completed: 4 });
});

test("a subscription that was cut is opened again, and what was missed meanwhile is found", async () => {
  const { begun, open, handler } = gate();
  await start({ consumers: { work: handler("b") } });
  await listeners(1);
  await command("CLIENT", "KILL", "TYPE", "pubsub");
  await listeners(0);
  await new Queue("work", { transport: redis.transport }).enqueue(1);
  await expect.poll(() => begun, { timeout: 10_000 }).toEqual(["b"]);
  open();
});

describe("a producer with pubSubWaker", () => {
  test("wakes a server, also for tasks that are due soon", async () => {
    const { begun, open, handler } = gate();
    await start({ consumers: { work: { concurrency: 5, handler: handler("b") } } });
    await listeners(1);
    const work = new Queue("work", { transport: redis.transport, wake: pubSubWaker(redis.transport) });
    await work.enqueue(1);
    await expect.poll(() => begun.length).toBe(1);
    await work.enqueue(2, { delay: 500 });
    await expect.poll(() => begun.length, { timeout: 10_000 }).toBe(2);
    await work.enqueue(3, { delay: "1h" });
    expect(await publishes()).toBe(2);
    open();
  });
});

describe("functions", () => {
  test("wake servers with pubSubWaker, and servers wake functions with SLUICE_WAKE_URL", async () => {
    const gateway = await startGateway({ redisUrl: redis.url });
    const { begun, open, handler } = gate();
    const settings = { SLUICE_WAKE_SECRET: wakeSecret, SLUICE_PREFIX: "mine" };
    const env = {
      UPSTASH_REDIS_REST_URL: gateway.url,
      UPSTASH_REDIS_REST_TOKEN: gateway.token,
      ...settings,
    };
    const edge = new Deployment(
      {
        consumers: { edge: handler("function") },
        wake: (toRedis) => pubSubWaker(toRedis),
        fetch: async (_, { queue }) => Response.json(await queue("work").enqueue(1)),
      },
      () => ({ transport: overHttp, budget: "1m", afterResponse: "none" }),
    );
    const real = globalThis.fetch;
    vi.spyOn(globalThis, "fetch").mockImplementation((to, init) => {
      const request = new Request(to, init);
      return new URL(request.url).host === "edge.test" ? edge.fetch(request, env) : real(request);
    });
    await start({ consumers: { work: handler("server") } }, settings);
    const api = await start(
      { fetch: async (_, { queue }) => Response.json(await queue("edge").enqueue(1)) },
      { ...settings, SLUICE_WAKE_URL: "http://edge.test/wake" },
    );
    await listeners(1, "mine:wakes");
    await edge.fetch(new Request("http://edge.test/enqueue"), env);
    await expect.poll(() => begun).toEqual(["server"]);
    await enqueue(api);
    await expect.poll(() => begun).toEqual(["server", "function"]);
    open();
    await gateway.close();
  });
});

test("SLUICE_WAKE_PUBSUB=off turns it off", async () => {
  const server = await start(
    { consumers: { others: () => {} }, fetch: enqueues },
    { SLUICE_WAKE_PUBSUB: "off" },
  );
  await enqueue(server);
  await listeners(0);
  expect(await publishes()).toBe(0);
  await expect(start({}, { SLUICE_WAKE_PUBSUB: "yes" })).rejects.toMatchObject({
    code: "invalid_argument",
    path: "SLUICE_WAKE_PUBSUB",
    message: expect.stringContaining("must be on or off"),
  });
});

test("in a cluster every server hears, whichever node it listens to", async () => {
  const cluster = await startCluster();
  onTestFinished(() => cluster.stop());
  const env = { REDIS_URL: cluster.url };
  const { begun, open, handler } = gate();
  const consumers = (name: string) => ({ work: { concurrency: 1, handler: handler(name) } });
  const first = await start({ consumers: consumers("a"), fetch: enqueues }, env);
  for (const name of ["b", "c"]) await start({ consumers: consumers(name) }, env);
  const listening = async () => {
    const counts = cluster.members.map(async ({ port }) => {
      const client = createClient({ url: `redis://127.0.0.1:${port}` });
      await client.connect();
      const reply = await client.sendCommand(["PUBSUB", "NUMSUB", "sluice:wakes"]);
      client.destroy();
      return (reply as unknown as [string, number])[1];
    });
    return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0);
  };
  await expect.poll(listening).toBe(3);
  await enqueue(first, 3);
  await expect.poll(() => begun.toSorted()).toEqual(["a", "b", "c"]);
  open();
});

test("a Redis user without channels costs one line, and tasks start as without wakes", async () => {
  await command("ACL", "SETUSER", "silent", "on", ">secret", "~*", "resetchannels", "+@all");
  const env = { REDIS_URL: redis.url.replace("://", "://silent:secret@") };
  const warned = vi.spyOn(console, "warn").mockImplementation(() => {});
  const { begun, open, handler } = gate();
  const server = await start({ consumers: { work: handler("a") }, fetch: enqueues }, env);
  await enqueue(server);
  await expect.poll(() => begun).toEqual(["a"]);
  await expect
    .poll(() => warned.mock.calls)
    .toEqual([[expect.stringMatching(/^\{"wakes":"failed","failed":".*NOPERM/)]]);
  open();
});
