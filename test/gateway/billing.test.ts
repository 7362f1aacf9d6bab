import { beforeEach, describe, expect, test } from "vitest";
import { dollars } from "../../src/local/index.ts";
import { dice } from "../support/dice.ts";
import { useStreams } from "./event-stream.ts";
import { sha1, words } from "./stack.ts";

const { its, direct, stream } = useStreams();
beforeEach(async () => {
  await direct("SET", "text", "x");
  await direct("CONFIG", "RESETSTAT");
});

/** Calls by command as Redis itself counts them since the last reset, without those that are free of charge. */
async function redisCalls(): Promise<Record<string, number>> {
  const info = String(await direct("INFO", "commandstats"));
  const calls = [...info.matchAll(/^cmdstat_(\S+?):calls=(\d+)/gm)].map(
    ([, name, count]) => [(name as string).toUpperCase(), Number(count)] as const,
  );
  const unbilled = new Set(["INFO", "PING", "CLIENT|LIST", "CONFIG|RESETSTAT", "COMMAND|GETKEYS", "BLPOP"]);
  return Object.fromEntries(calls.filter(([name, count]) => count > 0 && !unbilled.has(name)));
}

const bill = async (command: readonly unknown[], path = "/") => {
  await its.stack.rest(path, command);
  const { commands, byCommand } = its.stack.gateway.usage();
  return { commands, byCommand };
};

test("the error of a script that is no Lua costs nothing more", async () => {
  const once = { commands: 1, byCommand: { EVAL: 1 } };
  expect(await bill(["EVAL", "return ] x", 0])).toEqual(once);
});

test("a stream counts 1 when it opens, however many channels it has and messages it brings", async () => {
  const [subscriber, ofPatterns, monitor] = await Promise.all(
    ["/subscribe/a/b", "/psubscribe/*/c*", "/monitor"].map((path) => stream(path)),
  );
  await bill(["PUBLISH a 1", "PUBLISH b 2"].map(words), "/pipeline");
  await subscriber!.take(4);
  await ofPatterns!.take(4);
  await monitor!.take(3);
  const { commands, byCommand } = its.stack.gateway.usage();
  expect(commands).toBe(5);
  expect(byCommand).toEqual({ MONITOR: 1, PSUBSCRIBE: 1, PUBLISH: 2, SUBSCRIBE: 1 });
  expect(await redisCalls()).toEqual(byCommand);
});

test("PUBLISH counts 1 alone, in a transaction and in a script, and is delivered", async () => {
  const subscriber = await stream("/subscribe/chat");
  const source = "#!lua flags=allow-key-locking\nfor i = 1, 2 do redis.call('PUBLISH', 'chat', ARGV[1]) end";
  await bill(["PUBLISH", "chat", "a"]);
  await bill([["PUBLISH", "chat", "b"]], "/multi-exec");
  const byCommand = { EVAL: 1, EXEC: 1, MULTI: 1, PUBLISH: 4, SUBSCRIBE: 1 };
  expect(await bill(["EVAL", source, 0, "c"])).toEqual({ commands: 8, byCommand });
  expect(await redisCalls()).toEqual(byCommand);
  const messages = ["a", "b", "c", "c"].map((message) => `message,chat,${message}`);
  expect(await subscriber.take(5)).toEqual(["subscribe,chat,1", ...messages]);
  const events = "data: subscribe,chat,1\n\n".length + 4 * "data: message,chat,a\n\n".length;
  const answers = '{"result":1}[{"result":1}]{"result":null}'.length;
  expect(its.stack.gateway.usage().bytesOut).toBe(events + answers);
});

test("requests and bytes are counted; the counts can be read and reset over HTTP", async () => {
  const sent = JSON.stringify(["SET", "key", "é"]);
  const { text } = await its.stack.rest("/", sent);
  await its.stack.rest("/get/key");
  const usage = {
    commands: 2,
    requests: 2,
    bytesIn: Buffer.byteLength(sent),
    bytesOut: text.length + Buffer.byteLength('{"result":"é"}'),
    byCommand: { GET: 1, SET: 1 },
    dollars: dollars(2),
  };
  expect((await its.stack.rest("/-/usage")).json).toEqual(usage);
  expect(its.stack.gateway.usage()).toEqual(usage);
  const reset = await its.stack.rest("/-/usage", undefined, { method: "DELETE" });
  const nothing = { commands: 0, requests: 0, bytesIn: 0, bytesOut: 0, byCommand: {}, dollars: 0 };
  expect(reset.json).toEqual(nothing);
  expect((await its.stack.rest("/-/nope")).status).toBe(404);
});

test("100,000 commands cost 0.20 dollars", () => {
  expect(dollars(100_000)).toBeCloseTo(0.2, 10);
});

describe("under a mixed concurrent load", () => {
  const flag = "#!lua flags=allow-key-locking\n";
  const scripts = {
    loop: "for i = 1, tonumber(ARGV[1]) do redis.call('HINCRBY', KEYS[1], 'f' .. i, i) end return redis.call('HGETALL', KEYS[1])",
    mixedCase:
      "redis.call('rpush', KEYS[1], 'a') redis.call('RPush', KEYS[1], 'b') return redis.call('RPUSH', KEYS[1], 'c')",
    failing:
      "redis.call('SET', 'other', 'x')\nredis.call('LPUSH', 'text', 'x')\nredis.call('SET', 'never', 'x')",
    caught: "local n = 0 for i = 1, 3 do if redis.pcall('INCR', 'text').err then n = n + 1 end end return n",
    luaCaught:
      "local ok = pcall(redis.call, 'SADD', 'text', 'x') redis.call('SCARD', 'set') return ok and 1 or 0",
    free: "redis.call('PING') redis.call('BLPOP', 'x', 1) redis.pcall('SUBSCRIBE', 'x')",
    refused: "redis.pcall('NOPE') redis.pcall('GET') redis.pcall('HSET', 'h', 'a') return redis.call('TIME')",
    subcommands:
      "redis.pcall('XGROUP', 'CREATE', KEYS[1], 'g', '$', 'MKSTREAM') redis.call('object', 'Encoding', KEYS[1]) return 1",
    composed: "return redis.call(ARGV[1], KEYS[1], ARGV[2])",
    locked: `${flag}redis.call('ZADD', KEYS[1], 1, 'a') redis.call('ZADD', KEYS[1], 2, 'b') return redis.call('ZCARD', KEYS[1])`,
    dynamic: `${flag}redis.call('ZADD', KEYS[1], 1, 'a') redis.call('ZADD', 'undeclared', 1, 'a')`,
    reading: "return {redis.call('GET', 'text'), redis.call('STRLEN', 'text')}",
    writing: "return redis.call('SET', KEYS[1], 'x')",
  };
  const plain = [
    ..."SET k:1 x; GET k:1; GET k:2; INCR text; LPUSH text x; HSET h a; HSET h a 1 b 2; GET; NOPE x; BLPOP x 1; PING; INFO".split(
      "; ",
    ),
    ..."XADD stream * a 1; XGROUP CREATE stream g $; XGROUP NOPE; XREAD COUNT 1 STREAMS stream 0".split("; "),
    `SCRIPT EXISTS ${sha1(scripts.loop)}`,
    "EVALSHA abc",
  ].map(words);
  const wrong = [
    ["SCRIPT", "LOAD", scripts.caught],
    ["EVAL", "return 1", "x"],
    ["EVAL", "return 1", 2, "one"],
  ];

  function request(roll: () => number): readonly [path: string, body: unknown] {
    const pick = <T>(list: readonly T[]): T => list[Math.floor(roll() * list.length)] as T;
    const script = (): readonly unknown[] => {
      const [name, source] = pick(Object.entries(scripts));
      const composed = pick([
        ["APPEND", "x"],
        ["setrange", "1"],
        ["Lrem", "x"],
      ]);
      const args = name === "composed" ? composed : [String(Math.floor(roll() * 20))];
      const rest = ["1", `${name}:${Math.floor(roll() * 7)}`, ...args];
      const forms = [
        ["EVAL", source, ...rest],
        ["EVALSHA", sha1(source), ...rest],
        ["evalsha", sha1(`${source} `), ...rest],
      ];
      if (name === "reading" || name === "writing") forms.push(["EVAL_RO", source, ...rest]);
      return pick(forms);
    };
    const any = () => (roll() < 0.5 ? script() : pick([...plain, ...wrong]));
    const several = () => Array.from({ length: 1 + Math.floor(roll() * 8) }, any);
    const form = roll();
    if (form < 0.5) return ["/", any()];
    return [form < 0.75 ? "/pipeline" : "/multi-exec", several()];
  }

  test.each([1, 2])("each command's count is that of Redis (seed %i)", async (seed) => {
    const roll = dice(seed);
    const requests = Array.from({ length: 800 }, () => request(roll));
    const statuses = new Set<number>();
    const worker = async () => {
      for (let one = requests.pop(); one; one = requests.pop()) {
        const { status } = await its.stack.rest(...one);
        statuses.add(status);
      }
    };
    await Promise.all(Array.from({ length: 25 }, worker));
    const { byCommand, commands } = its.stack.gateway.usage();
    const calls = await redisCalls();
    expect(byCommand).toEqual(calls);
    expect(commands).toBe(Object.values(calls).reduce((sum, count) => sum + count, 0));
    expect(commands).toBeGreaterThan(2_000);
    expect(statuses).toEqual(new Set([200, 400]));
    expect(Object.keys(byCommand)).toEqual(
      expect.arrayContaining(["EVALSHA", "MULTI", "XGROUP|CREATE", "OBJECT|ENCODING"]),
    );
  });
});
