import { describe, expect, test, vi } from "vitest";
import { Deployment, overHttp } from "../../src/deploy/deployment.ts";
import { startGateway } from "../../src/local/index.ts";
import { pubSubWaker, Queue } from "../../src/index.ts";
import { memoryHeld } from "../support/garbage.ts";
import { wakeSecret } from "../platforms/place.ts";
import { enqueue, enqueues, gate, useServers } from "./servers.ts";

const { redis, listeners, publishes, start, state } = useServers();

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

test("a server with a waker of its own still listens to others", async () => {
  const { begun, open, handler } = gate();
  const woken: string[] = [];
  const api = await start({ fetch: enqueues });
  const own = await start({
    consumers: { work: handler("b") },
    wake: () => ({ wake: (queue) => void woken.push(queue) }),
    fetch: async (_, { queue }) => Response.json(await queue("elsewhere").enqueue(1)),
  });
  await listeners(1);
  await enqueue(api);
  await expect.poll(() => begun).toEqual(["b"]);
  await enqueue(own);
  expect(woken).toEqual(["elsewhere"]);
  open();
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

test("a server that works keeps nothing of the wakes that it hears meanwhile", async () => {
  const { begun, open, handler } = gate();
  const heard = vi.fn();
  await start({ consumers: { work: { concurrency: 1, handler: handler("a") }, last: heard } });
  await listeners(1);
  await new Queue("work", { transport: redis.transport, wake: pubSubWaker(redis.transport) }).enqueue(1);
  await expect.poll(() => begun).toEqual(["a"]);
  const last = new Queue("last", { transport: redis.transport, wake: pubSubWaker(redis.transport) });
  const wakes = Array.from({ length: 10_000 }, () => ["PUBLISH", "sluice:wakes", "work 0 other"] as const);
  const held: number[] = [];
  for (const round of [1, 2]) {
    await redis.transport.send(wakes);
    await last.enqueue(1);
    await expect.poll(() => heard.mock.calls.length).toBe(round);
    held.push(memoryHeld());
  }
  expect((held[1] ?? 0) - (held[0] ?? 0)).toBeLessThan(2_000_000);
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
      { transport: overHttp, budget: "1m", afterResponse: "none" },
    );
    const real = globalThis.fetch;
    const wakes: Promise<Response>[] = [];
    vi.spyOn(globalThis, "fetch").mockImplementation((to, init) => {
      const request = new Request(to, init);
      if (new URL(request.url).host !== "edge.test") return real(request);
      const woken = edge.fetch(request, env);
      wakes.push(woken);
      return woken;
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
    // A wake is answered when its drain has ended, which needs the gateway.
    await Promise.all(wakes);
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
