import { beforeAll, describe, expect, test } from "vitest";

import type { Command, Reply, Transport } from "../../../src/kernel/transport.ts";
import { upstash } from "../../../src/transports/upstash.ts";
import { script } from "../../transports/script.ts";
import { call, count, echo, reply, store, useTransports } from "./transports.ts";

const { its, all, overTcp, run: runOnRedis } = useTransports();

describe.each(all)("$name", ({ connect, run }) => {
  let transport: Transport;
  beforeAll(() => {
    transport = connect();
  });

  describe("a script", () => {
    test("runs once, known to Redis or not", async () => {
      for (let runs = 1; runs <= 3; runs++) {
        expect(await transport.send([call(count, [], ["{q}:n"])])).toEqual([reply(runs)]);
      }
    });

    test("runs once after SCRIPT FLUSH", async () => {
      await transport.send([call(count, [], ["{q}:n"])]);
      await run([["SCRIPT", "FLUSH"]]);
      expect(await transport.send([call(count, [], ["{q}:n"])])).toEqual([reply(2)]);
    });

    test("that is not known runs at any place in a pipeline", async () => {
      await transport.send([call(store, ["known"], ["{q}:s"])]);
      expect(
        await transport.send([
          call(count, [], ["{q}:n"]),
          call(store, ["again"], ["{q}:s"]),
          ["SET", "{q}:plain", "1"],
          call(count, [], ["{q}:n"]),
          call(echo, ["x"]),
        ]),
      ).toEqual([reply(1), reply("again"), reply("OK"), reply(2), reply(["x"])]);
    });

    test("gets its keys and arguments in order", async () => {
      const both = script("both", "return { KEYS, ARGV, #KEYS, #ARGV }");
      expect(await transport.send([call(both, ["1", "", "3"], ["{q}:b", "{q}:a"])])).toEqual([
        reply([["{q}:b", "{q}:a"], ["1", "", "3"], 2, 3]),
      ]);
    });

    test("is not marked as a resend if resends are off", async () => {
      const twice: Command = { script: echo, keys: [], args: ["first"], resendArgs: ["again"] };
      expect(await transport.send([twice])).toEqual([reply(["first"])]);
      expect(await transport.send([twice])).toEqual([reply(["first"])]);
    });
  });

  describe("a reply", () => {
    test.each<[string, Reply]>([
      ["nil", null],
      ["false", null],
      ["true", 1],
      ["0", 0],
      ["-7", -7],
      ["4503599627370497", 4_503_599_627_370_497],
      ["3.99", 3],
      ["''", ""],
      ["'9007199254740993'", "9007199254740993"],
      ["{}", []],
      ["{ 1, 'a', { 2, { 'b', {} } } }", [1, "a", [2, ["b", []]]]],
      ["{ false, 1, false }", [null, 1, null]],
      ["{ 'OK', { 'OK', { 'OK' } } }", ["OK", ["OK", ["OK"]]]],
      ["redis.status_reply('FINE')", "FINE"],
      ["redis.call('SET', KEYS[1], 'v')", "OK"],
    ])("return %s", async (source, expected) => {
      const given = script("given", `return ${source}`);
      expect(await transport.send([call(given, [], ["{q}:k"])])).toEqual([reply(expected)]);
      expect(await transport.send([call(given, [], ["{q}:k"]), ["ECHO", "x"]])).toEqual([
        reply(expected),
        reply("x"),
      ]);
    });

    test("of 5,000 elements arrives whole", async () => {
      const many = script("many", "local t = {} for i = 1, 5000 do t[i] = 'e' .. i end return t");
      expect(await transport.send([call(many)])).toEqual([
        reply(Array.from({ length: 5_000 }, (_, index) => `e${index + 1}`)),
      ]);
    });
  });

  describe("a text comes back identical:", () => {
    test.each<[string, string]>([
      ["nothing", ""],
      ["a number", "42"],
      ["a number with zeros", "007"],
      ["a number too large", "12345678901234567890"],
      ["null", "null"],
      ["true", "true"],
      ["OK", "OK"],
      ["JSON", '{"a":[1,"\\u0000",null]}'],
      ["base64", "T0s="],
      ["NUL", "a\u0000b\u0000"],
      ["control characters", "\u0001\u0007\u001b\u007f\u0085"],
      ["line breaks", "a\r\nb\n\r\n*1\r\n$1\r\nx\r\n"],
      ["quotes and backslashes", `"'\\"\\\\`],
      ["emoji", "😀👩‍👩‍👧‍👦🏳️‍🌈"],
      ["a byte order mark", "\uFEFFa\uFEFF"],
      ["line separators", "\u2028\u2029"],
      ["the last code point", "\u{10FFFF}"],
      ["1 MB", "0123456789abcdef".repeat(65_536)],
      ["1 MB of emoji", "a😀".repeat(209_715)],
    ])("%s", async (_, text) => {
      // Known to Redis from here on, so that the pipeline is not sent in two parts.
      await transport.send([call(store, ["-"], ["{q}:t"]), call(echo)]);
      const outcomes = await transport.send([
        call(store, [text], ["{q}:t"]),
        call(echo, [text, text]),
        ["GET", "{q}:t"],
        ["HMGET", "{q}:h", text.slice(0, 10)],
      ]);
      // Not toEqual: for megabytes its message would be as long.
      const same = (value: Reply | undefined) => value === text;
      const replies = outcomes.map((outcome) => ("reply" in outcome ? outcome.reply : undefined));
      expect(same(replies[0])).toBe(true);
      expect(Array.isArray(replies[1]) && replies[1].length === 2 && replies[1].every(same)).toBe(true);
      expect(same(replies[2])).toBe(true);
      expect(replies[3]).toEqual([null]);
      const [stored] = await run([["GET", "{q}:t"]]);
      expect(stored && "reply" in stored && same(stored.reply)).toBe(true);
    });
  });

  describe("a plain command", () => {
    test("is sent unchanged", async () => {
      await run([
        ["RPUSH", "{q}:l", "a", "b"],
        ["HSET", "{q}:h", "f", "1"],
        ["ZADD", "{q}:z", "1.5", "m"],
      ]);
      expect(
        await transport.send([
          ["LRANGE", "{q}:l", "0", "-1"],
          ["HGETALL", "{q}:h"],
          ["ZRANGE", "{q}:z", "0", "-1", "WITHSCORES"],
          ["GET", "{q}:none"],
          ["EXISTS", "{q}:l", "{q}:none"],
        ]),
      ).toEqual([reply(["a", "b"]), reply(["f", "1"]), reply(["m", "1.5"]), reply(null), reply(1)]);
    });
  });

  describe("a pipeline", () => {
    test("without commands sends nothing", async () => {
      expect(await transport.send([])).toEqual([]);
    });

    test("of 1,000 keeps its order", async () => {
      const commands = Array.from(
        { length: 1_000 },
        (_, index) => ["APPEND", "{q}:a", String(index % 10)] as const,
      );
      const outcomes = await transport.send(commands);
      expect(outcomes).toEqual(commands.map((_, index) => reply(index + 1)));
      expect(await run([["GET", "{q}:a"]])).toEqual([reply("0123456789".repeat(100))]);
    });

    test("goes on after a command that failed", async () => {
      await transport.send([call(echo), call(count, [], ["{q}:n"])]);
      const failing = script(
        "failing",
        "redis.call('SET', KEYS[1], ARGV[1]) return redis.call('INCR', KEYS[1])",
      );
      const outcomes = await transport.send([
        call(count, [], ["{q}:n"]),
        call(failing, ["the-secret-payload"], ["{q}:f"]),
        ["HGET", "{q}:n", "f"],
        ["NOSUCH", "the-secret-payload"],
        call(count, [], ["{q}:n"]),
      ]);
      expect(outcomes).toMatchObject([
        reply(2),
        { error: { name: "SluiceError", code: "redis_error" } },
        { error: { name: "SluiceError", code: "redis_error" } },
        { error: { name: "SluiceError", code: "redis_error" } },
        reply(3),
      ]);
      const messages = outcomes.map((outcome) => ("error" in outcome ? `${outcome.error.stack}` : ""));
      expect(messages[1]).toContain("ERR value is not an integer or out of range");
      expect(messages[2]).toContain("WRONGTYPE Operation against a key holding the wrong kind of value");
      expect(messages[3]).toContain("NOSUCH");
      expect(messages.join()).not.toContain("the-secret-payload");
    });
  });

  test("200 requests at the same time all get their own answers", async () => {
    const sends = Array.from({ length: 200 }, (_, index) =>
      transport.send([call(store, [`v${index}`], [`{q}:${index}`]), ["ECHO", `e${index}`]]),
    );
    expect(await Promise.all(sends)).toEqual(
      sends.map((_, index) => [reply(`v${index}`), reply(`e${index}`)]),
    );
  });
});

describe("a script that touches a key it does not declare", () => {
  const stray = script("stray", "return redis.call('INCR', '{q}:' .. ARGV[1])");

  test("is refused with key locking, and has changed nothing", async () => {
    const outcomes = await upstash(its.gateway).send([call(stray, ["stray"], ["{q}:declared"])]);
    expect(outcomes).toMatchObject([{ error: { code: "redis_error" } }]);
    expect(`${outcomes[0] && "error" in outcomes[0] && outcomes[0].error.message}`).toContain(
      "Dynamic keys are not allowed in Lua scripts when 'allow-key-locking' flag is set. Key was: {q}:stray",
    );
    expect(await runOnRedis([["EXISTS", "{q}:stray"]])).toEqual([reply(0)]);
  });

  test("runs without key locking", async () => {
    const transport = upstash(its.gateway, { keyLocking: false });
    expect(await transport.send([call(stray, ["stray"], ["{q}:declared"])])).toEqual([reply(1)]);
  });

  test("with key locking is refused by a Redis that does not know the flag", async () => {
    const transport = overTcp({ url: its.redis.url, keyLocking: true });
    expect(await transport.send([call(count, [], ["{q}:n"])])).toMatchObject([
      { error: { code: "redis_error" } },
    ]);
  });
});
