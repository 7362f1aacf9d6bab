import { createHash } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Argument } from "../../src/local/gateway/redis-client.ts";
import { type Stack, startStack } from "./stack.ts";

let stack: Stack;
let always: Stack;
beforeAll(async () => {
  stack = await startStack();
  always = await startStack({ strictKeys: "always" });
});
afterAll(() => Promise.all([stack.stop(), always.stop()]));
beforeEach(async () => {
  for (const { direct } of [stack, always]) {
    await direct.send(["FLUSHALL"]);
    await direct.send(["SCRIPT", "FLUSH"]);
  }
});

const sha1 = (text: string) => createHash("sha1").update(text).digest("hex");
const ask = async (body: unknown, of = stack) => {
  const { status, json } = await of.rest("/", body);
  return [status, json];
};

describe("a script with allow-key-locking", () => {
  const flag = "#!lua flags=allow-key-locking\n";
  const dynamic = (key: string) => [
    400,
    {
      error: `ERR Dynamic keys are not allowed in Lua scripts when 'allow-key-locking' flag is set. Key was: ${key}`,
    },
  ];

  test("runs, and its lines keep their numbers", async () => {
    const source = `${flag}local n = 1\nreturn redis.call('INCRBY', KEYS[1], n + 1)`;
    expect(await ask(["EVAL", source, 1, "n"])).toEqual([200, { result: 2 }]);
    expect(await ask(["EVALSHA", sha1(source), 1, "n"])).toEqual([200, { result: 4 }]);
    await stack.direct.send(["SET", "text", "x"]);
    expect(await ask(["EVALSHA", sha1(source), 1, "text"])).toEqual([
      400,
      { error: `ERR value is not an integer or out of range script: ${sha1(source)}, on @user_script:3.` },
    ]);
  });

  test("keeps its other flags", async () => {
    const source = "#!lua flags=no-writes,allow-key-locking\nreturn redis.call('SET', KEYS[1], 'x')";
    const [status, body] = await ask(["EVAL", source, 1, "a"]);
    expect([status, body]).toEqual([
      400,
      { error: expect.stringMatching(/^ERR Write commands are not allowed from read-only scripts/) },
    ]);
  });

  test("counts as read-only if it has that flag", async () => {
    expect(await ask(["EVAL_RO", `${flag}return redis.call('GET', KEYS[1])`, 1, "a"])).toEqual([
      200,
      { result: null },
    ]);
  });

  const foreign: readonly (readonly [command: readonly Argument[], key: string])[] = [
    [["GET", "x"], "x"],
    [["set", "x", "1"], "x"],
    [["MGET", "a", "x"], "x"],
    [["DEL", "a", "b", "x"], "x"],
    [["MSET", "a", "1", "x", "2"], "x"],
    [["RPOPLPUSH", "a", "x"], "x"],
    [["EXISTS", "a", "x"], "x"],
    [["HMGET", "x", "a"], "x"],
    [["ZUNION", "2", "a", "x"], "x"],
    [["ZUNIONSTORE", "x", "1", "a"], "x"],
    [["ZUNIONSTORE", "a", "2", "b", "x"], "x"],
    [["ZMPOP", "2", "a", "x", "MIN"], "x"],
    [["SINTERCARD", "2", "a", "x"], "x"],
    [["BLPOP", "a", "x", "1"], "x"],
    [["XREAD", "COUNT", "1", "STREAMS", "a", "x", "0", "0"], "x"],
    [["SORT", "a", "STORE", "x"], "x"],
    [["GEORADIUS", "a", "1", "1", "1", "m", "STORE", "x"], "x"],
    [["OBJECT", "ENCODING", "x"], "x"],
    [["XGROUP", "CREATE", "x", "g", "$", "MKSTREAM"], "x"],
    [["BITOP", "AND", "a", "b", "x"], "x"],
    [["COPY", "a", "x"], "x"],
  ];
  const literal = (command: readonly Argument[]) => command.map((word) => `'${word.toString()}'`).join(", ");

  test.each(foreign)("may not use an undeclared key in %j", async (command, key) => {
    for (const call of ["call", "pcall"]) {
      const named = `${flag}return redis.${call}(${literal(command)})`;
      expect(await ask(["EVAL", named, 2, "a", "b"])).toEqual(dynamic(key));
    }
    const composed = `${flag}return redis.call(unpack(ARGV))`;
    expect(await ask(["EVAL", composed, 2, "a", "b", ...command])).toEqual(dynamic(key));
    expect(await stack.direct.send(["DBSIZE"])).toBe("0");
  });

  test.each(foreign)("may use declared keys in %j", async (command) => {
    const source = `${flag}return redis.pcall(${literal(command)})`;
    const reply = await stack.rest("/", ["EVAL", source, 3, "a", "b", "x"]);
    expect(reply.text).not.toContain("Dynamic keys");
  });

  test.each([
    [["TIME"]],
    [["PING"]],
    [["ECHO", "x"]],
    [["PUBLISH", "x", "y"]],
    [["GET", "a"]],
    [["SPUBLISH", "x", "y"]],
    [["NOPE", "x"]],
    [["GET"]],
    [[]],
  ])("is not stopped by arguments of %j that are no keys", async (command) => {
    const reply = await stack.rest("/", [
      "EVAL",
      `${flag}return redis.pcall(unpack(ARGV))`,
      1,
      "a",
      ...command,
    ]);
    expect(reply.text).not.toContain("Dynamic keys");
  });

  test("may build a declared key, as text or as number", async () => {
    const source = `${flag}return redis.call('INCR', 'a' .. 1) + redis.call('INCR', 7)`;
    expect(await ask(["EVAL", source, 2, "a1", "7"])).toEqual([200, { result: 2 }]);
  });

  test("keeps what it wrote before the undeclared key", async () => {
    const source = `${flag}redis.call('SET', KEYS[1], 'x') redis.call('SET', 'other', 'x')`;
    expect(await ask(["EVAL", source, 1, "a"])).toEqual(dynamic("other"));
    expect(await stack.direct.send(["KEYS", "*"])).toEqual([Buffer.from("a")]);
  });

  test("is not needed if strictKeys is always", async () => {
    const source = "return redis.call('GET', 'x')";
    expect(await ask(["EVAL", source, 1, "a"])).toEqual([200, { result: null }]);
    expect(await ask(["EVAL", source, 1, "a"], always)).toEqual(dynamic("x"));
    expect(await ask(["EVAL", source, 1, "x"], always)).toEqual([200, { result: null }]);
  });
});
