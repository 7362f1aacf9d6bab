import { createServer, type ServerResponse } from "node:http";
import { afterEach, describe, expect, it, vi } from "vitest";
import { serve, type Server, type ServeOptions } from "../../serverless/node.ts";
import { Queue } from "../../src/index.ts";
import { serveSluice } from "../cli/process.ts";
import { runHere } from "../cli/run-here.ts";
import { listening } from "../support/listening.ts";
import { consoleLines } from "../support/console-lines.ts";
import { useOwnRedis } from "../support/own-redis.ts";
import { startProxy } from "../transports/proxy.ts";

const redis = useOwnRedis();

describe("a server of Node", () => {
  let server: Server | undefined;
  afterEach(async () => {
    await server?.close();
    server = undefined;
  });
  const start = async (options: ServeOptions = {}) =>
    (server = await serve({
      env: { REDIS_URL: redis.url },
      port: 0,
      hostname: "127.0.0.1",
      signals: false,
      ...options,
    }));
  const stateOf = async (queue: Queue, id: string) => (await queue.get(id))?.state;

  it("sweeps when it starts, and then at its interval", async () => {
    const queue = new Queue("swept", { transport: redis.transport });
    const early = await queue.enqueue(1, { delay: 1 });
    await start({ every: "1s" });
    await expect.poll(() => stateOf(queue, early.id)).toBe("pending");
    const late = await queue.enqueue(1, { delay: 1 });
    await expect.poll(() => stateOf(queue, late.id)).toBe("pending");
  });

  it("has the tools of its fetch for code outside of requests: an enqueue starts the consumer", async () => {
    const handled: unknown[] = [];
    const { queue, schedules } = await start({
      every: "1h",
      consumers: { tools: ({ payload }) => void handled.push(payload) },
    });
    const { id } = await queue("tools").enqueue("now");
    expect(await queue("tools").wait(id, { for: "10s" })).toMatchObject({ state: "completed" });
    expect(handled).toEqual(["now"]);
    await schedules("tools").put("daily", { every: "1d", payload: "later" });
    expect(await schedules("tools").get("daily")).toMatchObject({ every: 86_400_000, payload: "later" });
  });

  it("lets requests for one task each share a request to Redis while another is under way", async () => {
    const proxy = await startProxy(redis.port);
    const began = vi.fn();
    const { url } = await start({
      env: { REDIS_URL: proxy.url },
      async fetch(_, { queue }) {
        began();
        return Response.json(await queue("mine").enqueue(1));
      },
    });
    const enqueue = async () => (await fetch(`${url}/enqueue`)).json() as Promise<{ created: boolean }>;
    await enqueue();
    const evaluations = async () => {
      const [outcome] = await redis.transport.send([["INFO", "commandstats"]]);
      const text = outcome && "reply" in outcome ? String(outcome.reply) : "";
      return Number(/^cmdstat_evalsha:calls=(\d+)/m.exec(text)?.[1]);
    };
    const before = await evaluations();
    void proxy.hold();
    const answers = Array.from({ length: 40 }, enqueue);
    await expect.poll(() => began.mock.calls.length).toBe(41);
    proxy.release();
    expect(await Promise.all(answers)).toMatchObject(Array.from({ length: 40 }, () => ({ created: true })));
    expect((await evaluations()) - before).toBeLessThan(20);
    await server?.close();
    await proxy.stop();
  });

  /** Closes the server, and lets so much time pass. */
  async function closedAfter(ms: number) {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
    const closed = vi.fn();
    void server?.close().then(closed);
    await vi.advanceTimersByTimeAsync(ms);
    vi.useRealTimers();
    // What it waits for now would not come before the end of the test.
    await expect.poll(() => closed.mock.calls.length).toBe(1);
  }

  it("has closed two seconds after its grace, even if Redis is silent", async () => {
    const proxy = await startProxy(redis.port);
    const handled = vi.fn();
    await start({
      env: { REDIS_URL: proxy.url },
      grace: "500ms",
      consumers: { silent: () => new Promise(handled) },
    });
    const queue = new Queue("silent", { transport: redis.transport });
    const { id } = await queue.enqueue(1);
    await redis.transport.send([["HDEL", "sluice:{silent}:tasks", "~wake"]]);
    const { url } = server as Server;
    await expect.poll(() => handled.mock.calls.length).toBe(1);
    void proxy.hold();
    await closedAfter(2_600);
    await expect(fetch(url)).rejects.toThrow("fetch failed");
    proxy.release();
    // What its drain still sends belongs to this test.
    await expect.poll(() => stateOf(queue, id)).toBe("delayed");
    await proxy.stop();
  });

  it("runs one sweep at a time, and none once it closes", async () => {
    const asked: ServerResponse[] = [];
    const upstash = createServer((_, response) => void asked.push(response));
    const url = `http://127.0.0.1:${await listening(upstash)}`;
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    await start({ every: "1s", env: { UPSTASH_REDIS_REST_URL: url, UPSTASH_REDIS_REST_TOKEN: "t" } });
    vi.advanceTimersByTime(10_000);
    await expect.poll(() => asked.length).toBe(1);
    // It ends the unanswered sweep long before the seven seconds of its grace.
    await closedAfter(2_100);
    expect(asked).toHaveLength(1);
    upstash.closeAllConnections();
    upstash.close();
  });

  it("works on a queue with one drain at a time, so that its concurrency holds", async () => {
    const queue = new Queue<number>("single", { transport: redis.transport });
    let [running, most, done] = [0, 0, 0];
    const handler = async () => {
      most = Math.max(most, ++running);
      await new Promise((resolve) => setTimeout(resolve, 100));
      running--;
      done++;
    };
    const { url } = await start({
      every: "1s",
      consumers: { single: { concurrency: 1, handler } },
      fetch: async (_, { queue }) => Response.json(await queue("single").enqueue(1)),
    });
    for (let i = 0; i < 10; i++) {
      expect((await fetch(`${url}/enqueue`)).status).toBe(200);
      // As if no consumer was awake: each enqueue wakes one.
      await redis.transport.send([["HDEL", "sluice:{single}:tasks", "~wake"]]);
    }
    await expect.poll(() => done).toBe(10);
    expect(most).toBe(1);
    expect(await queue.counts()).toMatchObject({ pending: 0, working: 0 });
  });

  it("serves its own pages, and answers an error of theirs with a bare 500", async () => {
    const { url } = await start({
      fetch: ({ url: asked }) => {
        if (asked.endsWith("/broken")) throw new Error("s3cret");
        return new Response("mine");
      },
    });
    expect(await (await fetch(`${url}/page`)).text()).toBe("mine");
    const lines = consoleLines("error");
    const broken = await fetch(`${url}/broken`);
    expect(lines).toEqual([
      { fetch: "failed", error: "s3cret", stack: expect.stringMatching(/^Error: s3cret\n +at fetch /) },
    ]);
    expect([broken.status, await broken.text()]).toEqual([500, "Internal Server Error"]);
    expect((await fetch(`${url}/health`)).status).toBe(200);
  });

  it("compresses the files of the dashboard for who accepts it, and no other response", async () => {
    const { url } = await start({ dashboard: true });
    const page = await fetch(`${url}/dashboard`, { headers: { "accept-encoding": "gzip" } });
    expect(page.headers.get("content-encoding")).toBeNull();
    const [, script = ""] = /src="([^"]+\.js)"/.exec(await page.text()) ?? [];
    const load = async (encoding: string, method = "GET") => {
      const response = await fetch(`${url}/${script}`, { method, headers: { "accept-encoding": encoding } });
      const { status, headers } = response;
      const text = await response.text();
      return { status, text, coding: headers.get("content-encoding"), vary: headers.get("vary") };
    };
    const plain = await load("identity");
    expect(plain).toMatchObject({ status: 200, coding: null, vary: "Accept-Encoding" });
    for (const encoding of ["gzip, deflate, br", "br;q=1, GZIP ;q=0.5", "*"]) {
      expect(await load(encoding)).toEqual({ ...plain, coding: "gzip" });
    }
    for (const encoding of ["gzip;q=0", "*, gzip; q=0.00", "br", "x-gzip"]) {
      expect(await load(encoding)).toEqual(plain);
    }
    expect(await load("gzip", "HEAD")).toEqual({ ...plain, text: "" });
    for (const [path, status] of [
      ["session", 200],
      ["assets/none.js", 404],
    ] as const) {
      const other = await fetch(`${url}/dashboard/${path}`, { headers: { "accept-encoding": "gzip" } });
      expect([other.status, other.headers.get("content-encoding")]).toEqual([status, null]);
    }
  });

  it("closes once, however many calls of close", async () => {
    const { url, close } = await start();
    await Promise.all([close(), close()]);
    await close();
    await expect(fetch(url)).rejects.toThrow("fetch failed");
  });

  it.each<[string, ServeOptions, string]>([
    ["an unknown option", { prot: 1 } as ServeOptions, "prot"],
    ["no port", { port: 65_536 }, "port"],
    ["a sweep too often", { every: 999 }, "every"],
    ["an invalid grace", { grace: "soon" as never }, "grace"],
    ["an invalid budget", { budget: "1ms" }, "budget"],
    ["an invalid PORT", { port: undefined, env: { PORT: "http" } }, "PORT"],
    ["an environment without Redis", { env: {} }, "UPSTASH_REDIS_REST_URL"],
  ])("does not start with %s, and says what is wrong", async (_, options, path) => {
    await expect(start(options)).rejects.toMatchObject({ code: "invalid_argument", path });
  });

  it("does not start if the port is in use", async () => {
    const { url } = await start();
    const message = /^port \d+ is in use \(EADDRINUSE\); set PORT or the option port /;
    await expect(start({ port: Number(new URL(url).port) })).rejects.toMatchObject({
      code: "EADDRINUSE",
      message: expect.stringMatching(message) as string,
    });
  });
});

describe("`sluice serve`", () => {
  it.each([
    ["SIGTERM", [], 404],
    ["SIGINT", ["--dashboard"], 200],
  ] as const)("serves and sweeps without any code, until %s; %j", async (signal, more, dashboard) => {
    const queue = new Queue("cli", { transport: redis.transport, prefix: signal });
    const { id } = await queue.enqueue(1, { delay: 1 });
    const args = ["--port", "0", "--host", "127.0.0.1", "--every", "5s", ...more];
    const env = { REDIS_URL: redis.url, SLUICE_PREFIX: signal };
    const last = dashboard === 200 ? /Its dashboard is .*\n/ : /Sluice answers at .*\n/;
    const { out, end } = await serveSluice(["serve", ...args], env, last);
    const [url = ""] = /http:\S+/.exec(out) ?? [];
    expect(await (await fetch(`${url}/health`)).json()).toEqual({ status: "ok" });
    expect((await fetch(`${url}/dashboard`)).status).toBe(dashboard);
    if (dashboard === 200) expect(out).toContain(`\nIts dashboard is ${url}/dashboard\n`);
    await expect.poll(async () => (await queue.get(id))?.state).toBe("pending");
    expect(await end(signal)).toMatchObject({
      code: 0,
      err: "SLUICE_TOKENS is not set, so no request is let in; sluice token makes tokens\n",
    });
  });

  it.each([
    [["--port", "many"], {}, 2, /--port must be a number from 0 to 65535\nSee `sluice serve --help`\.\n$/],
    [["--nope"], {}, 2, /'--nope'/],
    [["--every", "now"], { REDIS_URL: "redis://127.0.0.1:1" }, 2, /every must be a duration/],
    [[], {}, 2, /UPSTASH_REDIS_REST_URL and UPSTASH_REDIS_REST_TOKEN must be set, or REDIS_URL/],
    [[], { REDIS_URL: "redis://127.0.0.1:1", PORT: "x" }, 2, /PORT must be a number/],
    [
      [],
      { REDIS_URL: "redis://127.0.0.1/one" },
      2,
      /REDIS_URL cannot be read; it must be of the form redis:/,
    ],
  ])("with %j and %j ends with %i and says why", async (args, env, code, complaint) => {
    const ended = await runHere(["serve", ...args], env);
    expect(ended.code).toBe(code);
    expect(ended.err).toMatch(complaint);
  });
});
