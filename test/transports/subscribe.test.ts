import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { connectRedis, type RedisConnection } from "../../src/local/gateway/redis.ts";
import { startGateway, type Gateway } from "../../src/local/index.ts";
import type { Transport } from "../../src/kernel/transport.ts";
import { resp } from "../../src/transports/resp.ts";
import type { RetryOptions } from "../../src/transports/retry.ts";
import { upstash } from "../../src/transports/upstash.ts";
import { sharedRedis, type SharedRedis } from "../support/shared-redis.ts";
import { startProxy, type Proxy } from "./proxy.ts";

// One suite for every transport: what a subscriber may rely on.

let redis: SharedRedis;
let gateway: Gateway;
let direct: RedisConnection;
const open: ReturnType<typeof resp>[] = [];

beforeAll(async () => {
  redis = await sharedRedis();
  gateway = await startGateway({ redisUrl: redis.url, readOnlyToken: "read-only" });
  direct = await connectRedis(redis.url, () => {});
});
beforeEach(() => gateway.faults.clear());
afterEach(async () => {
  for (const each of open.splice(0)) await each.close();
  await untilListening(0);
});
afterAll(async () => {
  await gateway.close();
  direct.close();
  await redis.stop();
});

const CHANNEL = "sluice:{a,b}:events";

function overTcp(options: Parameters<typeof resp>[0]) {
  const transport = resp(options);
  open.push(transport);
  return transport;
}

const transports: readonly (readonly [string, (retry?: RetryOptions) => Transport])[] = [
  ["upstash", (retry) => upstash(gateway, { retry })],
  ["resp", (retry) => overTcp({ url: redis.url, retry })],
];

/** Resolves when that many connections listen, by Redis's count, not that of the code under test. */
async function untilListening(count: number): Promise<void> {
  const listening = async () => {
    const list = String(await direct.send(["CLIENT", "LIST", "TYPE", "pubsub"]));
    return list.split("\n").filter((line) => line !== "").length;
  };
  await vi.waitUntil(async () => (await listening()) === count, { timeout: 20_000, interval: 5 });
}

const publish = (message: string, channel = CHANNEL) => direct.send(["PUBLISH", channel, message]);

async function subscribed(transport: Transport, signal?: AbortSignal, channel = CHANNEL) {
  const messages = await transport.subscribe?.(channel, { signal });
  if (!messages) throw new Error("the transport cannot subscribe");
  const iterator = messages[Symbol.asyncIterator]();
  return { iterator, next: async () => (await iterator.next()).value as string | undefined };
}

const lost = expect.objectContaining({ code: "redis_unreachable" });

describe.each(transports)("%s", (_, create) => {
  test("delivers each message published after its confirmation, in order and unchanged", async () => {
    const transport = create();
    const { iterator, next } = await subscribed(transport);
    const messages = ["enqueued 1 a b", "a,b", "", "  x  ", "👩‍👩‍👧 naïve", "a\nb\n\n c\n", "x".repeat(300_000)];
    for (const message of messages) await publish(message);
    expect(await transport.send([["PING"]])).toEqual([{ reply: "PONG" }]);
    for (const message of messages) expect(await next()).toBe(message);
    await iterator.return?.();
  });

  test("ends at once and without an error when its signal aborts, also if it is not iterated", async () => {
    const waiting = new AbortController();
    const { next } = await subscribed(create(), waiting.signal);
    const pending = next();
    waiting.abort();
    expect(await pending).toBeUndefined();
    const idle = new AbortController();
    const unused = await subscribed(create(), idle.signal);
    await untilListening(1);
    idle.abort();
    await untilListening(0);
    expect(await unused.next()).toBeUndefined();
  });

  test("is not opened for a signal that has aborted, nor while it aborts", async () => {
    const opening = create().subscribe?.(CHANNEL, { signal: AbortSignal.abort() });
    await expect(opening).rejects.toMatchObject({ code: "aborted" });
    const during = new AbortController();
    const cut = create().subscribe?.(CHANNEL, { signal: during.signal });
    during.abort();
    await expect(cut).rejects.toMatchObject({ code: "aborted" });
    await untilListening(0);
  });

  test("delivers the messages that came before its connection ended, then throws; another can be opened", async () => {
    const transport = create();
    const { next } = await subscribed(transport);
    await publish("last");
    await direct.send(["CLIENT", "KILL", "TYPE", "pubsub"]);
    expect(await next()).toBe("last");
    await expect(next()).rejects.toEqual(lost);
    expect(await next()).toBeUndefined();
    const again = await subscribed(transport);
    await publish("anew");
    expect(await again.next()).toBe("anew");
    await again.iterator.return?.();
  });
});

describe("upstash", () => {
  test("tries again if a subscription did not open", async () => {
    gateway.faults.add({ kind: "cut", match: { command: "SUBSCRIBE", times: 2 } });
    gateway.faults.add({ kind: "http", status: 502, body: "<html>", contentType: "text/html" });
    const { iterator, next } = await subscribed(upstash(gateway));
    await publish("x");
    expect(await next()).toBe("x");
    await iterator.return?.();
  });

  test("throws when its stream breaks in the middle of a message", async () => {
    gateway.faults.add({ kind: "cut-body", match: { command: "SUBSCRIBE" } });
    const { next } = await subscribed(upstash(gateway));
    await publish("half of it is lost");
    await expect(next()).rejects.toEqual(lost);
  });

  test.each([
    ["redis_unauthorized", { token: "read-only" }],
    ["redis_unauthorized", { token: "wrong" }],
    ["redis_unreachable", { url: "http://127.0.0.1:1" }],
  ])("is refused with %s, and shows no token: %o", async (code, wrong) => {
    const transport = upstash({ url: gateway.url, token: gateway.token, ...wrong }, { retry: { tries: 2 } });
    const opening = transport.subscribe?.(CHANNEL);
    await expect(opening).rejects.toMatchObject({ code });
    await expect(opening).rejects.not.toThrow(/read-only|wrong/);
  });

  test("refuses an answer that is no subscription", async () => {
    gateway.faults.add({ kind: "http", status: 200, body: '{"result":"OK"}' });
    const opening = upstash(gateway, { retry: { tries: 1 } }).subscribe?.(CHANNEL);
    await expect(opening).rejects.toMatchObject({ code: "redis_unreachable" });
  });

  test("waits no longer than its deadline for a confirmation", async () => {
    gateway.faults.add({ kind: "delay", ms: 300, match: { command: "SUBSCRIBE", times: "always" } });
    const opening = upstash(gateway, { retry: { tryTimeout: 20, deadline: 60 } }).subscribe?.(CHANNEL);
    await expect(opening).rejects.toMatchObject({ code: "redis_unreachable" });
  });
});

describe("resp", () => {
  test("is refused in Redis's words", async () => {
    await direct.send(["ACL", "SETUSER", "quiet", "on", ">secret", "~*", "resetchannels", "+@all"]);
    const transport = overTcp(redis.url.replace("//", "//quiet:secret@"));
    await expect(transport.subscribe?.(CHANNEL)).rejects.toMatchObject({ code: "redis_unauthorized" });
    const wrong = overTcp(redis.url.replace("//", "//quiet:wrong@"));
    await expect(wrong.subscribe?.(CHANNEL)).rejects.toMatchObject({ code: "redis_unauthorized" });
  });

  test("shares one connection with all others, and ends alone", async () => {
    const transport = overTcp(redis.url);
    const on = (channel: string) => subscribed(transport, undefined, channel);
    const [a, again, b, c] = await Promise.all(["a", "a", "b", "c"].map(on));
    for (const channel of ["a", "b", "c"]) await publish(`first of ${channel}`, channel);
    const first = await Promise.all([a, again, b, c].map((each) => each!.next()));
    expect(first).toEqual(["a", "a", "b", "c"].map((channel) => `first of ${channel}`));
    const byName = async () => String(await direct.send(["PUBSUB", "CHANNELS"]));
    await untilListening(1);
    // Of a channel with two readers one ends; of the others the only one.
    for (const each of [a, b, c]) await each!.iterator.return?.();
    await vi.waitUntil(async () => (await byName()) === "a", { timeout: 20_000, interval: 5 });
    // One channel is subscribed to anew, and one while it is being left.
    const anew = await on("b");
    await publish("anew", "b");
    expect(await anew.next()).toBe("anew");
    await anew.iterator.return?.();
    const atOnce = await on("b");
    await untilListening(1);
    for (const channel of ["a", "b", "c"]) await publish(`to ${channel}`, channel);
    expect(await again!.next()).toBe("to a");
    expect(await atOnce.next()).toBe("to b");
    for (const each of [a, b, c, anew]) expect(await each!.next()).toBeUndefined();
    await again!.iterator.return?.();
    await publish("last", "b");
    expect(await atOnce.next()).toBe("last");
    await atOnce.iterator.return?.();
    await untilListening(0);
    const later = await on("a");
    await publish("later", "a");
    expect(await later.next()).toBe("later");
  });

  test("that is aborted while it is being opened leaves no channel to the connection of the others", async () => {
    const proxy = await startProxy(redis.port);
    const transport = overTcp(proxy.url);
    const { next } = await subscribed(transport);
    const held = proxy.hold();
    const during = new AbortController();
    const cut = transport.subscribe?.("cut", { signal: during.signal });
    await held;
    during.abort();
    await expect(cut).rejects.toMatchObject({ code: "aborted" });
    proxy.release();
    await publish("to the others");
    expect(await next()).toBe("to the others");
    // Redis has answered what the connection sent before.
    await subscribed(transport, undefined, "after");
    const counts = (await direct.send(["PUBSUB", "NUMSUB", CHANNEL, "cut", "after"])) as unknown[];
    expect(counts.map(String)).toEqual([CHANNEL, "1", "cut", "0", "after", "1"]);
    await proxy.stop();
  });

  test("that is refused leaves the others", async () => {
    const command = "ACL SETUSER some on >secret ~* resetchannels &a +@all";
    await direct.send(command.split(" "));
    const transport = overTcp(redis.url.replace("//", "//some:secret@"));
    const { next } = await subscribed(transport, undefined, "a");
    await expect(transport.subscribe?.("b")).rejects.toMatchObject({ code: "redis_unauthorized" });
    await publish("to a", "a");
    expect(await next()).toBe("to a");
    await untilListening(1);
  });

  describe("over a connection whose other side is silent", () => {
    let proxy: Proxy;
    beforeEach(async () => {
      vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
      proxy = await startProxy(redis.port);
    });
    afterEach(async () => {
      vi.useRealTimers();
      await proxy.stop();
    });
    const pings = async () => {
      const stats = String(await direct.send(["INFO", "commandstats"]));
      return Number(/cmdstat_ping:calls=(\d+)/.exec(stats)?.[1] ?? 0);
    };
    /** Lets the time of a keep-alive pass, and waits until its PING has an answer. */
    const keptAlive = async (next: () => Promise<unknown>) => {
      const before = await pings();
      vi.advanceTimersByTime(10_000);
      await vi.waitUntil(async () => (await pings()) > before, { timeout: 20_000, interval: 5 });
      // Behind the answer.
      await publish("alive");
      expect(await next()).toBe("alive");
    };

    test("throws within 20 s; an idle one whose other side answers does not", async () => {
      const { next } = await subscribed(overTcp(proxy.url));
      for (let i = 0; i < 3; i++) await keptAlive(next);
      const silent = proxy.hold();
      vi.advanceTimersByTime(10_000);
      await silent;
      const pending = next();
      vi.advanceTimersByTime(10_000);
      await expect(pending).rejects.toEqual(lost);
      // The next one has a connection of its own.
      proxy.release();
      const again = await subscribed(overTcp(proxy.url));
      await publish("anew");
      expect(await again.next()).toBe("anew");
    });

    test("does not keep another from being opened", async () => {
      const transport = overTcp({ url: proxy.url, retry: { tryTimeout: 200, deadline: 60_000 } });
      const { next } = await subscribed(transport);
      void proxy.hold();
      const other = await subscribed(transport, undefined, "other");
      await publish("to the other", "other");
      expect(await other.next()).toBe("to the other");
      const pending = next();
      vi.advanceTimersByTime(10_000);
      await new Promise((resolve) => setTimeout(resolve, 0));
      vi.advanceTimersByTime(10_000);
      await expect(pending).rejects.toEqual(lost);
    });
  });

  test("throws when its reader falls 1 MB behind, and closes its connection", async () => {
    const { next } = await subscribed(overTcp(redis.url));
    const message = "x".repeat(100_000);
    for (let i = 0; i < 12; i++) await publish(message);
    await untilListening(0);
    for (let i = 0; i < 10; i++) expect(await next()).toHaveLength(message.length);
    await expect(next()).rejects.toEqual(lost);
  });

  test("ends without an error when its transport closes, which then subscribes no more", async () => {
    const transport = overTcp(redis.url);
    const { next } = await subscribed(transport);
    const pending = next();
    await transport.close();
    expect(await pending).toBeUndefined();
    await expect(transport.subscribe?.(CHANNEL)).rejects.toEqual(lost);
  });

  test("is not opened if no server answers", async () => {
    const transport = overTcp({ url: "redis://127.0.0.1:1", retry: { tries: 2 } });
    await expect(transport.subscribe?.(CHANNEL)).rejects.toEqual(lost);
  });
});
