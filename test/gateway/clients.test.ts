import { Ratelimit } from "@upstash/ratelimit";
import { Redis } from "@upstash/redis";
import { describe, expect, test } from "vitest";
import { token, useStack } from "./stack.ts";

const { its } = useStack();

const client = (options: { responseEncoding?: false; enableAutoPipelining?: boolean } = {}) =>
  new Redis({ url: its.stack.gateway.url, token, enableTelemetry: false, ...options });

describe.each([
  ["by default", {}],
  ["without base64", { responseEncoding: false }],
  ["without auto-pipelining", { enableAutoPipelining: false }],
] as const)("the stock @upstash/redis %s", (_, options) => {
  test("reads back what it wrote", async () => {
    const redis = client(options);
    expect(await redis.set("text", "naïve 🎉 \0")).toBe("OK");
    expect(await redis.set("json", { a: [1, "zwei", null], b: { c: true } }, { ex: 100 })).toBe("OK");
    expect(await redis.mget("text", "json", "none")).toEqual([
      "naïve 🎉 \0",
      { a: [1, "zwei", null], b: { c: true } },
      null,
    ]);
    expect(await redis.ttl("json")).toBe(100);
    expect(await redis.hset("hash", { f: "v", n: 1, o: { p: 2 } })).toBe(3);
    expect(await redis.hgetall("hash")).toEqual({ f: "v", n: 1, o: { p: 2 } });
    await redis.zadd("zset", { score: 1.5, member: "a" }, { score: 2, member: "b" });
    expect(await redis.zrange("zset", 0, -1, { withScores: true })).toEqual(["a", 1.5, "b", 2]);
    const id = await redis.xadd("stream", "*", { field: "value" });
    expect(await redis.xrange("stream", "-", "+")).toEqual({ [id]: { field: "value" } });
  });

  test("scans keys with their types, and copies a key to itself as Upstash does", async () => {
    const redis = client(options);
    await redis.set("text", "x");
    await redis.rpush("list", "x");
    const withTypes = (match: string) => ({ match, count: 100, withType: true }) as const;
    const [cursor, found] = await redis.scan(0, withTypes("*t*"));
    const list = { key: "list", type: "list" };
    expect([cursor, new Set(found)]).toEqual(["0", new Set([list, { key: "text", type: "string" }])]);
    const transaction = redis.multi().rpush("list", "y").scan(0, withTypes("list"));
    expect(await transaction.exec()).toEqual([2, ["0", [list]]]);
    const copies = [
      ["text", "text"],
      ["none", "none"],
      ["text", "other"],
    ] as const;
    const copied = await Promise.all(copies.map(([from, to]) => redis.copy(from, to)));
    expect(copied).toEqual(["NOT_COPIED", "NOT_COPIED", "COPIED"]);
  });

  test("runs pipelines and transactions", async () => {
    const redis = client(options);
    const pipeline = redis.pipeline().set("key", { a: 1 }).get("key").incr("n").get("none");
    expect(await pipeline.exec()).toEqual(["OK", { a: 1 }, 1, null]);
    const transaction = redis.multi().incr("n").hset("hash", { a: "b" }).hgetall("hash");
    expect(await transaction.exec()).toEqual([2, 1, { a: "b" }]);
    await expect(redis.multi().set("key", "x").lpush("key", "y").exec()).rejects.toThrow(/WRONGTYPE/);
    const kept = await redis.pipeline().get("key").incr("key").exec({ keepErrors: true });
    expect(kept).toEqual([
      { result: "x", error: undefined },
      { result: undefined, error: expect.stringMatching(/^ERR value is not an integer/) },
    ]);
  });

  test("runs scripts, and sends the source if the SHA is not known", async () => {
    const redis = client(options);
    const script = redis.createScript<[string, number]>(
      "redis.call('SET', KEYS[1], ARGV[1]) return {redis.call('GET', KEYS[1]), redis.call('STRLEN', KEYS[1])}",
    );
    expect(await script.exec(["key"], ["value"])).toEqual(["value", 5]);
    expect(await script.evalsha(["key"], ["other"])).toEqual(["other", 5]);
    const sha = await redis.scriptLoad("return ARGV[1]");
    expect(await redis.evalsha(sha, [], ["x"])).toBe("x");
    expect(await redis.scriptExists(sha, "0".repeat(40))).toEqual([1, 0]);
    await expect(redis.eval("return redis.call('INCR', KEYS[1])", ["key"], [])).rejects.toThrow(
      /ERR value is not an integer/,
    );
  });
});

test("many commands at once are one pipeline of the client's", async () => {
  const redis = client();
  const counts = await Promise.all(Array.from({ length: 50 }, () => redis.incr("n")));
  expect(counts).toEqual(Array.from({ length: 50 }, (_, index) => index + 1));
  expect(its.stack.gateway.usage()).toMatchObject({ requests: 1, commands: 50 });
});

describe("the stock @upstash/ratelimit", () => {
  const plain = { analytics: false, ephemeralCache: false } as const;
  test.each([
    ["fixedWindow", () => Ratelimit.fixedWindow(3, "1000 d")],
    ["slidingWindow", () => Ratelimit.slidingWindow(3, "1000 d")],
    ["tokenBucket", () => Ratelimit.tokenBucket(3, "1000 d", 3)],
  ])("lets a %s's worth through, and no more", async (_, limiter) => {
    const limit = new Ratelimit({ redis: client(), limiter: limiter(), ...plain });
    const allowed: boolean[] = [];
    for (let index = 0; index < 5; index++) allowed.push((await limit.limit("someone")).success);
    expect(allowed).toEqual([true, true, true, false, false]);
    expect((await limit.limit("someone else")).success).toBe(true);
    await limit.resetUsedTokens("someone");
    expect((await limit.limit("someone")).success).toBe(true);
  });

  test("costs 3 commands for the first request of a fixed window, as Upstash says", async () => {
    const limiter = Ratelimit.fixedWindow(3, "1000 d");
    const limit = new Ratelimit({ redis: client(), limiter, ...plain });
    await limit.limit("warm-up");
    its.stack.gateway.resetUsage();
    await limit.limit("someone");
    expect(its.stack.gateway.usage().commands).toBe(3);
  });
});
