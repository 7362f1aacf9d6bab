import { describe, expect, test } from "vitest";
import { outcomeJson } from "../../src/local/gateway/reply.ts";
import { failed, ok, sha1, useStack } from "./stack.ts";

const { its, run, direct } = useStack();

// What any transport gives back of scripts, with the gateway too: test/proofs/conformance.
describe("a script's reply is the same as without the gateway", () => {
  const scripts: Readonly<Record<string, string>> = {
    nothing: "",
    bytes: String.raw`return '\255\0\128'`,
    "a status": "return {ok = 'FINE'}",
    OK: "return {ok = 'OK'}",
    "an error table": "return {err = 'MINE is an error'}",
    "a table cut at nil": "return {1, 2, nil, 4}",
    "nested tables": "return {1, {2, {3.7, {'x', {}}}}, {ok = 'IN'}, {err = 'IN error'}}",
    "several values, of which the first counts": "return 1, 2, 3",
    "a RESP3 double": "redis.setresp(3) return {double = 3.25}",
    "a RESP3 map": "redis.setresp(3) return {map = {a = 1}}",
    "no varargs": "return select('#', ...)",
    "a RESP3 reply":
      "redis.setresp(3) redis.call('HSET', KEYS[1], 'a', 1) return redis.call('HGETALL', KEYS[1])",
    "a call compared": "return redis.call('INCR', KEYS[1]) == 1 and 'first' or 'later'",
    "two calls": "return redis.call('INCR', KEYS[1]), redis.call('INCR', KEYS[1])",
    "pcall's error, returned": "return redis.pcall('INCR', 'text')",
    "Lua's pcall around a failing call":
      "local ok, e = pcall(redis.call, 'INCR', 'text') return {ok, type(e), e}",
    "a coroutine":
      "local co = coroutine.wrap(function() coroutine.yield(redis.call('INCR', KEYS[1])) end) return co()",
    cjson: "return cjson.encode({1, {a = 'b'}})",
    "a comment at the end": "return 1 -- the end",
    "a long comment": "--[==[ return redis.call('NOPE') ]] ]==] return 'x'",
    "words in texts":
      "local t = [[\nreturn redis.call('X') end end end]] return t .. 'return redis.call end' .. \"\\\"end\"",
    "a local called call": "local call = redis.call return call('INCR', KEYS[1])",
    "an own local redis": "local redis = {call = function() return 1, 2 end} return redis.call('x')",
    "repeat until": "local n = 0 repeat n = n + 1 until n > 3 return n",
    "150 locals": `${Array.from({ length: 150 }, (_, i) => `local v${i} = ${i}`).join("\n")}\nreturn v0 + v149`,
    "a failing call on line 3": "local x = 1\n\nreturn redis.call('INCR', 'text')",
    "a failing call that is not returned": "local x = 1\nredis.call('INCR', 'text')\nreturn x",
    "a failing call in a function":
      "local function f()\n  local n = redis.call('INCR', 'text')\n  return n\nend\nlocal m = f()\nreturn m",
    "a failing call by another name": "local call = redis.call\nlocal n = 1\nreturn call('INCR', 'text')",
    "a failing call in a coroutine":
      "local co = coroutine.wrap(function()\n return redis.call('INCR', 'text') end)\nreturn co()",
    "pcall's error, raised": "local e = redis.pcall('INCR', 'text')\n\nerror(e)",
    "an unknown command": "return redis.call('NOPE')",
    "a command that scripts may not run": "return redis.call('SUBSCRIBE', 'x')",
    "no command": "return redis.call()",
    "error with a text": "local x\nerror('boom')",
    "error with an error table": "\nerror({err = 'MINE went wrong'})",
    "error with nothing": "error()",
    "a nil that is indexed": "local x\nreturn x.y",
    "a function that is not there": "return redis.nope()",
    "a global that is set": "\nnope = 1",
    "redis that is changed": "redis.call = nil",
    "a wrong argument of a Lua function": "return tonumber()",
    "code that is no Lua": "return ] x",
    "a missing end": "if true then\nreturn 1",
    "an end too many": "return 1 end",
    "code that would end the function around it": "return 1 end, function() return 2",
    "an unfinished comment": "--[[ x",
    "a flag that Redis does not know": "#!lua flags=nope\nreturn 1",
    "a flag that Redis knows": "#!lua flags=no-writes\nlocal x = 1\nreturn redis.call('SET', KEYS[1], 'x')",
  };

  test.each(Object.entries(scripts))("%s", async (_, source) => {
    const command = ["EVAL", source, "1", "key", "argument"] as const;
    const state = async () => {
      const keys = ((await direct("KEYS", "*")) as Buffer[]).map(String).toSorted();
      return Promise.all(keys.map(async (key) => [key, await direct("DUMP", key)]));
    };
    const prepare = async () => {
      await direct("FLUSHALL");
      await direct("SET", "text", "x");
    };

    await prepare();
    const reply = await direct(...command);
    const expected = [reply instanceof Error ? 400 : 200, outcomeJson({ reply }, "base64"), await state()];

    await prepare();
    const base64 = { headers: { "upstash-encoding": "base64" } };
    const evaluated = await its.stack.rest("/", command, base64);
    expect([evaluated.status, evaluated.text, await state()]).toEqual(expected);

    if (reply instanceof Error && /compiling|shebang|engine/i.test(reply.message)) return;
    await prepare();
    const bySha = await its.stack.rest("/", ["EVALSHA", sha1(source), ...command.slice(2)], base64);
    expect([bySha.status, bySha.text, await state()]).toEqual(expected);

    await prepare();
    const inTransaction = await its.stack.rest("/multi-exec", [command], base64);
    expect([inTransaction.text, await state()]).toEqual([`[${String(expected[1])}]`, expected[2]]);
  });

  test("a large one", async () => {
    const value = Buffer.alloc(8 * 1024 * 1024, "é");
    await direct("SET", "large", value);
    const reply = await its.stack.rest("/", ["EVAL", "return {redis.call('GET', KEYS[1])}", 1, "large"]);
    expect(reply.json).toEqual({ result: [value.toString()] });
  });
});

test("a thrown value that is no error message gives an error; Redis 7.0 would crash", async () => {
  expect(await run(["EVAL", "error({1, 2})", 0])).toEqual(
    failed(`ERR unknown error script: ${sha1("error({1, 2})")}, on @user_script:1.`),
  );
});

test("an error of Redis about a script names it by the client's SHA", async () => {
  await direct("CONFIG", "SET", "busy-reply-threshold", "10");
  const source = "while true do end";
  const evaluated = run(["EVAL", source, 0]);
  while ((await direct("SCRIPT", "KILL")) instanceof Error);
  const killed = `^ERR .*Script killed by user with SCRIPT KILL.* script: ${sha1(source)}, on @user_script:1\\.$`;
  expect(await evaluated).toEqual(failed(expect.stringMatching(killed)));
});

describe("the script cache", () => {
  const source = "return redis.call('INCR', KEYS[1])";
  const noScript = failed("NOSCRIPT No matching script. Please use EVAL.");

  test("knows a script once it was sent or loaded, by the SHA of the client's text, until SCRIPT FLUSH", async () => {
    expect(await run(["EVALSHA", sha1(source), 1, "n"])).toEqual(noScript);
    expect(await run(["EVAL", source, 1, "n"])).toEqual(ok(1));
    expect(await run(["EVALSHA", sha1(source).toUpperCase(), 1, "n"])).toEqual(ok(2));
    const other = "return ARGV[1]";
    const exist = () => run(["SCRIPT", "EXISTS", sha1(source), sha1(other)]);
    expect(await exist()).toEqual(ok([1, 0]));
    expect(await run(["SCRIPT", "LOAD", other])).toEqual(ok(sha1(other)));
    expect(await run(["EVALSHA_RO", sha1(other), 0, "x"])).toEqual(ok("x"));
    expect(await exist()).toEqual(ok([1, 1]));
    expect(await run(["SCRIPT", "FLUSH"])).toEqual(ok("OK"));
    expect(await exist()).toEqual(ok([0, 0]));
    expect(await run(["EVALSHA", sha1(source), 1, "n"])).toEqual(noScript);
  });

  test("does not take a script that is no Lua", async () => {
    const broken = "return ] x";
    const error = "ERR Error compiling script (new function): user_script:1: unexpected symbol near ']'";
    expect(await run(["SCRIPT", "LOAD", broken])).toEqual(failed(error));
    expect(await run(["EVALSHA", sha1(broken), 0])).toEqual(noScript);
  });

  test("leaves wrong arguments to Redis", async () => {
    await run(["SCRIPT", "LOAD", source]);
    expect(await run(["EVALSHA", sha1(source)])).toEqual(
      failed("ERR wrong number of arguments for 'evalsha' command"),
    );
    expect(await run(["EVAL", source, 2, "n"])).toEqual(
      failed("ERR Number of keys can't be greater than number of args"),
    );
  });
});
