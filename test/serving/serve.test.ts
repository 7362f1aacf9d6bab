import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { serve, type Server, type ServeOptions } from "../../serverless/node.ts";
import { Queue } from "../../src/index.ts";
import { resp } from "../../src/transport/resp.ts";
import { essentials } from "../support/environment.ts";
import { startRedis, type TestRedis } from "../support/redis.ts";
import { startProxy } from "../transport/proxy.ts";

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
    const queue = new Queue("swept", { transport });
    const early = await queue.enqueue(1, { delay: 1 });
    await start({ every: "1s" });
    await expect.poll(() => stateOf(queue, early.id), { timeout: 10_000 }).toBe("pending");
    const late = await queue.enqueue(1, { delay: 1 });
    await expect.poll(() => stateOf(queue, late.id), { timeout: 10_000 }).toBe("pending");
  });

  it("lets requests for one task each share a request to Redis while another is under way", async () => {
    const proxy = await startProxy(redis.port);
    const { url } = await start({
      env: { REDIS_URL: proxy.url },
      async fetch(_, { queue }) {
        return Response.json(await queue("mine").enqueue(1));
      },
    });
    const enqueue = async () => (await fetch(`${url}/enqueue`)).json() as Promise<{ created: boolean }>;
    await enqueue();
    const evaluations = async () => {
      const [outcome] = await transport.send([["INFO", "commandstats"]]);
      const text = outcome && "reply" in outcome ? String(outcome.reply) : "";
      return Number(/^cmdstat_evalsha:calls=(\d+)/m.exec(text)?.[1]);
    };
    const before = await evaluations();
    void proxy.hold();
    const answers = Array.from({ length: 40 }, enqueue);
    await new Promise((resolve) => setTimeout(resolve, 200));
    proxy.release();
    expect(await Promise.all(answers)).toMatchObject(Array.from({ length: 40 }, () => ({ created: true })));
    expect((await evaluations()) - before).toBeLessThan(20);
    await server?.close();
    await proxy.stop();
  });

  it("has closed two seconds after its grace, even if Redis is silent", async () => {
    const proxy = await startProxy(redis.port);
    const handled = vi.fn();
    const closing = await start({
      env: { REDIS_URL: proxy.url },
      every: "1s",
      grace: "500ms",
      consumers: {
        async emails() {
          handled();
          await new Promise(() => {});
        },
      },
    });
    await new Queue("emails", { transport }).enqueue(1);
    await expect.poll(() => handled.mock.calls.length, { timeout: 10_000 }).toBe(1);
    void proxy.hold();
    const began = performance.now();
    await closing.close();
    // Not two times two seconds, one after the other.
    expect(performance.now() - began).toBeLessThan(4_000);
    proxy.release();
    await proxy.stop();
  });

  it("runs one sweep at a time, and none once it closes", async () => {
    const asked: ServerResponse[] = [];
    const upstash = createServer((_, response) => void asked.push(response)).listen(0, "127.0.0.1");
    await once(upstash, "listening");
    const url = `http://127.0.0.1:${(upstash.address() as AddressInfo).port}`;
    await start({ every: "1s", env: { UPSTASH_REDIS_REST_URL: url, UPSTASH_REDIS_REST_TOKEN: "t" } });
    await new Promise((resolve) => setTimeout(resolve, 2_500));
    expect(asked).toHaveLength(1);
    // It ends the unanswered sweep long before the seven seconds of its grace.
    const began = performance.now();
    await server?.close();
    expect(performance.now() - began).toBeLessThan(3_500);
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    expect(asked).toHaveLength(1);
    upstash.closeAllConnections();
    upstash.close();
  });

  it("works on a queue with one drain at a time, so that its concurrency holds", async () => {
    const queue = new Queue<number>("single", { transport });
    let [running, most, done] = [0, 0, 0];
    const { url } = await start({
      every: "1s",
      env: {
        REDIS_URL: redis.url,
        SLUICE_TOKENS: JSON.stringify([{ token: "a-token-of-16-bytes", scopes: ["enqueue"], queues: "*" }]),
      },
      consumers: {
        single: {
          concurrency: 1,
          handler: async () => {
            most = Math.max(most, ++running);
            await new Promise((resolve) => setTimeout(resolve, 100));
            running--;
            done++;
          },
        },
      },
    });
    const enqueue = async () => {
      const response = await fetch(`${url}/v1/queues/single/tasks`, {
        method: "POST",
        headers: { authorization: "Bearer a-token-of-16-bytes", "content-type": "application/json" },
        body: JSON.stringify({ payload: 1 }),
      });
      expect(response.status).toBe(201);
      // As if no consumer was awake: each enqueue wakes one.
      await resetWake();
    };
    const resetWake = () => transport.send([["HDEL", "sluice:{single}:tasks", "~wake"]]);
    for (let i = 0; i < 10; i++) await enqueue();
    await expect.poll(() => done, { timeout: 10_000 }).toBe(10);
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
    const log = vi.spyOn(console, "error").mockImplementation(() => {});
    const broken = await fetch(`${url}/broken`);
    expect(log).toHaveBeenCalledExactlyOnceWith(new Error("s3cret"));
    log.mockRestore();
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
    const api = await fetch(`${url}/dashboard/session`, { headers: { "accept-encoding": "gzip" } });
    expect([api.status, api.headers.get("content-encoding")]).toEqual([200, null]);
    const missing = await fetch(`${url}/dashboard/assets/none.js`, {
      headers: { "accept-encoding": "gzip" },
    });
    expect([missing.status, missing.headers.get("content-encoding")]).toEqual([404, null]);
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
    const { port } = new URL(url);
    await expect(
      serve({ env: { REDIS_URL: redis.url }, port: Number(port), hostname: "127.0.0.1", signals: false }),
    ).rejects.toMatchObject({
      code: "EADDRINUSE",
      message: expect.stringMatching(
        /^port \d+ is in use \(EADDRINUSE\); set PORT or the option port /,
      ) as string,
    });
  });
});

describe("`sluice serve`", () => {
  const main = fileURLToPath(new URL("../../src/cli/main.ts", import.meta.url));
  let child: ChildProcess | undefined;
  afterEach(() => child?.kill("SIGKILL"));
  const run = (args: readonly string[], env: Record<string, string> = {}) => {
    const started = spawn(process.execPath, [main, "serve", ...args], {
      env: { ...essentials, ...env },
    });
    child = started;
    const printed = { out: "", err: "" };
    started.stdout.on("data", (chunk: Buffer) => (printed.out += chunk.toString()));
    started.stderr.on("data", (chunk: Buffer) => (printed.err += chunk.toString()));
    return {
      printed,
      ended: once(started, "close").then(([code]) => ({ code: code as number, ...printed })),
    };
  };

  it.each(["SIGTERM", "SIGINT"] as const)("serves and sweeps without any code, until %s", async (signal) => {
    const queue = new Queue("cli", { transport, prefix: signal });
    const { id } = await queue.enqueue(1, { delay: 1 });
    const env = { REDIS_URL: redis.url, SLUICE_PREFIX: signal };
    const { printed, ended } = run(["--port", "0", "--host", "127.0.0.1", "--every", "5s"], env);
    await expect.poll(() => printed.out, { timeout: 20_000 }).toMatch(/^Sluice answers at http:.*\n/);
    const [url = ""] = /http:\S+/.exec(printed.out) ?? [];
    expect(await (await fetch(`${url}/health`)).json()).toEqual({ status: "ok" });
    expect((await fetch(`${url}/dashboard`)).status).toBe(404);
    await expect.poll(async () => (await queue.get(id))?.state, { timeout: 10_000 }).toBe("pending");
    child?.kill(signal);
    const note = "SLUICE_TOKENS is not set, so no request is let in; sluice token makes tokens\n";
    expect(await ended).toMatchObject({ code: 0, err: note });
  });

  it("serves the dashboard with --dashboard, and prints its address", async () => {
    const env = { REDIS_URL: redis.url, SLUICE_PREFIX: "dashboard" };
    const { printed } = run(["--port", "0", "--host", "127.0.0.1", "--dashboard"], env);
    await expect.poll(() => printed.out, { timeout: 20_000 }).toMatch(/\nIts dashboard is http:.*\n$/);
    const [, url = ""] = /dashboard is (\S+)/.exec(printed.out) ?? [];
    expect((await fetch(url)).status).toBe(200);
  });

  it.each([
    [["--port", "many"], {}, 2, /--port must be a number from 0 to 65535\nSee `sluice serve --help`\.\n$/],
    [["--nope"], {}, 2, /'--nope'/],
    [["--every", "now"], { REDIS_URL: "redis://127.0.0.1:1" }, 2, /every must be a duration/],
    [[], {}, 2, /UPSTASH_REDIS_REST_URL and UPSTASH_REDIS_REST_TOKEN must be set, or REDIS_URL/],
    [[], { REDIS_URL: "redis://127.0.0.1:1", PORT: "x" }, 2, /PORT must be a number/],
  ])("with %j and %j ends with %i and says why", async (args, env, code, complaint) => {
    const ended = await run(args, env).ended;
    expect(ended.code).toBe(code);
    expect(ended.err).toMatch(complaint);
  });
});
