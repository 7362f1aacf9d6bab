import { setImmediate } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { serve, type Server } from "../../serverless/node.ts";
import { type ClientQueue, createClient } from "../../src/client/index.ts";
import { embedded, EmbeddedDatabase } from "../../src/embedded/index.ts";
import { databases, Operator, type PublishedEvent, Queue, type Transport } from "../../src/index.ts";
import { type Gateway, startGateway } from "../../src/local/index.ts";
import { resp } from "../../src/transports/resp.ts";
import { upstash } from "../../src/transports/upstash.ts";
import { secrets, tokens } from "../http/served.ts";
import { collectGarbage } from "../support/garbage.ts";
import { startRedis, type TestRedis } from "../support/redis.ts";
import { type Proxy, startProxy } from "../transports/proxy.ts";

// The events of a queue whose connection is lost.

const CHANNEL = "sluice:{q}:events";

let redis: TestRedis;
let gateway: Gateway;
let server: Server;
let proxy: Proxy;
let transport: ReturnType<typeof resp>;
beforeAll(async () => {
  redis = await startRedis();
  gateway = await startGateway({ redisUrl: redis.url });
  server = await serve({
    env: { REDIS_URL: redis.url, SLUICE_TOKENS: JSON.stringify(tokens) },
    port: 0,
    hostname: "127.0.0.1",
    signals: false,
    every: "1d",
    logger: "silent",
  });
});
afterAll(async () => {
  await server.close();
  await gateway.close();
  await redis.stop();
});
beforeEach(async () => {
  transport = resp(redis.url);
});
afterEach(async () => {
  const listening = async () => transport.send([["PUBSUB", "NUMSUB", CHANNEL]]);
  await expect.poll(listening).toEqual([{ reply: [CHANNEL, 0] }]);
  await transport.close();
  await proxy.stop();
});

interface Listener {
  readonly port: () => number;
  readonly queue: (at: string) => Pick<Queue | ClientQueue, "events">;
}

const listeners: Readonly<Record<string, Listener>> = {
  "the library over TCP": {
    port: () => redis.port,
    queue(at) {
      const own = resp(`redis://${at}`);
      onTestFinished(() => own.close());
      return new Queue("q", { transport: own });
    },
  },
  "the library over HTTP": {
    port: () => Number(new URL(gateway.url).port),
    queue: (at) => new Queue("q", { transport: upstash({ url: `http://${at}`, token: gateway.token }) }),
  },
  "two databases": {
    port: () => redis.port,
    queue(at) {
      const [lost, other] = [resp(`redis://${at}`), embedded(new EmbeddedDatabase())];
      onTestFinished(async () => {
        await Promise.all([lost.close(), other.close()]);
      });
      return new Queue("q", { transport: databases([lost, other]) });
    },
  },
  "the client": {
    port: () => Number(new URL(server.url).port),
    queue: (at) => createClient({ url: `http://${at}`, token: secrets.all }).queue("q"),
  },
};

const event = (id: string): PublishedEvent => ({ event: "enqueued", at: 1, ids: [id] });
const gap = { event: "gap", at: expect.any(Number), ids: [] };
const publish = (id: string) => transport.send([["PUBLISH", CHANNEL, `enqueued 1 ${id}`]]);

describe.each(Object.entries(listeners))("the events of %s", (_, { port, queue }) => {
  const listen = async (signal?: AbortSignal) => {
    proxy = await startProxy(port());
    const events = await queue(new URL(proxy.url).host).events({ signal });
    const iterator = events[Symbol.asyncIterator]();
    const next = async () => (await iterator.next()).value as PublishedEvent;
    await publish("first");
    expect(await next()).toEqual(event("first"));
    return { iterator, next };
  };

  it("go on after the connection was cut, and say that some are missing", async () => {
    const { iterator, next } = await listen();
    for (const id of ["second", "third"]) {
      proxy.breakAll();
      expect(await next()).toEqual(gap);
      await publish(id);
      expect(await next()).toEqual(event(id));
    }
    await iterator.return?.();
  });

  it("are all there if they are first read after garbage was collected", async () => {
    proxy = await startProxy(port());
    const events = (await queue(new URL(proxy.url).host).events())[Symbol.asyncIterator]();
    for (let turn = 0; turn < 5; turn++) {
      collectGarbage();
      await setImmediate();
    }
    await publish("first");
    expect((await events.next()).value).toEqual(event("first"));
    await events.return?.();
  });

  it("go on after redis-server has restarted", async () => {
    const { iterator, next } = await listen();
    const missing = next();
    await redis.kill();
    await redis.restart();
    expect(await missing).toEqual(gap);
    await publish("second");
    expect(await next()).toEqual(event("second"));
    await iterator.return?.();
  });

  it("end with their signal, and with the loop, while nothing can be reached", async () => {
    const ending = new AbortController();
    const { iterator } = await listen(ending.signal);
    const pending = iterator.next();
    const { port: closed } = new URL(proxy.url);
    await proxy.stop();
    ending.abort();
    expect(await pending).toEqual({ done: true, value: undefined });
    proxy = await startProxy(Number(closed));
    const other = await listen();
    const waiting = other.iterator.next();
    await proxy.stop();
    await other.iterator.return?.();
    expect(await waiting).toEqual({ done: true, value: undefined });
  });
});

it.each([
  ["TCP", (own: Transport) => own],
  ["two databases", (own: Transport) => databases([own, embedded(new EmbeddedDatabase())])],
])("the events over %s end when a transport closes, also while it connects again", async (_, transportOf) => {
  proxy = await startProxy(redis.port);
  const own = resp(proxy.url);
  const queue = new Queue("q", { transport: transportOf(own) });
  const open = (await queue.events())[Symbol.asyncIterator]().next();
  await proxy.stop();
  await own.close();
  expect(await open).toEqual({ done: true, value: undefined });
});

it("the events throw what does not pass: a server that refuses the token, and a Redis that refuses the password", async () => {
  proxy = await startProxy(redis.port);
  const own = resp(proxy.url);
  onTestFinished(() => own.close());
  const direct = (await new Queue("q", { transport: own }).events())[Symbol.asyncIterator]();
  await transport.send([["CONFIG", "SET", "requirepass", "new"]]);
  proxy.breakAll();
  await expect(direct.next()).rejects.toMatchObject({ code: "redis_unauthorized" });
  await transport.send([["CONFIG", "SET", "requirepass", ""]]);

  let opened = 0;
  const fetch = async () => {
    if (++opened > 1) return Response.json({ code: "unauthorized" }, { status: 401 });
    return new Response("retry: 1000\n\n");
  };
  const queue = createClient({ url: "http://sluice.test", token: "t", fetch }).queue("q");
  const events = (await queue.events({ warn: false }))[Symbol.asyncIterator]();
  await expect(events.next()).rejects.toMatchObject({ code: "unauthorized" });
});

it("the client says in its log that a queue publishes no events, the server does not, and events come once it does", async () => {
  proxy = await startProxy(redis.port);
  const warn = vi.spyOn(console, "warn").mockImplementation(() => {});
  onTestFinished(() => warn.mockRestore());
  const queue = createClient({ url: server.url, token: secrets.all }).queue("q");
  const events = (await queue.events())[Symbol.asyncIterator]();
  await expect
    .poll(() => warn.mock.calls)
    .toEqual([[expect.stringMatching(/^\{"queue":"q","events":"off"/)]]);
  await new Operator("q", { transport }).configure({ events: true });
  onTestFinished(async () => {
    const own = resp(redis.url);
    await new Operator("q", { transport: own }).configure({ events: false });
    await own.close();
  });
  await queue.enqueue(1, { id: "heard" });
  expect((await events.next()).value).toMatchObject({ event: "enqueued", ids: ["heard"] });
  await events.return?.();
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const quiet = (await queue.events({ warn: false }))[Symbol.asyncIterator]();
  const asked = vi.spyOn(globalThis, "fetch");
  await vi.advanceTimersByTimeAsync(2_000);
  expect(asked).not.toHaveBeenCalled();
  asked.mockRestore();
  await quiet.return?.();
  expect(warn.mock.calls).toHaveLength(1);
});

it("a stream of the server that is silent for 20 s is opened again", async () => {
  proxy = await startProxy(redis.port);
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const left: boolean[] = [];
  const fetch = async () => {
    const text = `data: ${JSON.stringify(event(`of stream ${left.length}`))}\n\n`;
    const at = left.push(false) - 1;
    const source = new ReadableStream({
      start: (controller) => controller.enqueue(new TextEncoder().encode(text)),
      cancel: () => void (left[at] = true),
    });
    return new Response(source);
  };
  const queue = createClient({ url: "http://sluice.test", token: "t", fetch }).queue("q");
  const events = (await queue.events({ warn: false }))[Symbol.asyncIterator]();
  expect((await events.next()).value).toEqual(event("of stream 0"));
  const next = events.next();
  await vi.advanceTimersByTimeAsync(20_000 - 1);
  expect(left).toEqual([false]);
  await vi.advanceTimersByTimeAsync(1 + 200);
  expect((await next).value).toEqual(gap);
  expect((await events.next()).value).toEqual(event("of stream 1"));
  expect(left).toEqual([true, false]);
  await events.return?.();
});

it("a stream is asked for again if the server does not answer for 20 s", async () => {
  proxy = await startProxy(redis.port);
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const asked: AbortSignal[] = [];
  const fetch = (_: string, { signal }: RequestInit) => {
    asked.push(signal as AbortSignal);
    if (asked.length === 2) return new Promise<never>(() => {});
    return Promise.resolve(new Response(`data: ${JSON.stringify(event(`of stream ${asked.length}`))}\n\n`));
  };
  const queue = createClient({ url: "http://sluice.test", token: "t", fetch }).queue("q");
  const events = (await queue.events({ warn: false }))[Symbol.asyncIterator]();
  expect((await events.next()).value).toEqual(event("of stream 1"));
  const next = events.next();
  await vi.advanceTimersByTimeAsync(200 + 20_000 + 400);
  expect(asked.map(({ aborted }) => aborted)).toEqual([false, true, false]);
  expect((await next).value).toEqual(gap);
  expect((await events.next()).value).toEqual(event("of stream 3"));
  await events.return?.();
});
