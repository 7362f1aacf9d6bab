import { describe, expect, test } from "vitest";
import { unavailable, useStack } from "./stack.ts";

const { its, ask } = useStack();

describe("a command in the body", () => {
  test("is run, and its reply has RESP2 shapes", async () => {
    expect(await ask("/", ["SET", "text", "bar"])).toEqual([200, { result: "OK" }]);
    expect(await ask("/", ["get", "text"])).toEqual([200, { result: "bar" }]);
    expect(await ask("/", ["GET", "none"])).toEqual([200, { result: null }]);
    expect(await ask("/", ["RPUSH", "list", "a", 2, 2.5, true])).toEqual([200, { result: 4 }]);
    expect(await ask("/", ["LRANGE", "list", 0, -1])).toEqual([200, { result: ["a", "2", "2.5", "true"] }]);
    expect(await ask("/", ["LRANGE", "none", 0, -1])).toEqual([200, { result: [] }]);
    expect(await ask("/", ["HSET", "hash", "f", "v"])).toEqual([200, { result: 1 }]);
    expect(await ask("/", ["HGETALL", "hash"])).toEqual([200, { result: ["f", "v"] }]);
    expect(await ask("/", ["HMGET", "hash", "f", "g"])).toEqual([200, { result: ["v", null] }]);
    expect(await ask("/", ["PING"])).toEqual([200, { result: "PONG" }]);
    expect(await ask("/", ["TYPE", "hash"])).toEqual([200, { result: "hash" }]);
    expect(await ask("/", ["LPOP", "none", 2])).toEqual([200, { result: null }]);
    expect(await ask("/", ["XADD", "stream", "1-1", "a", "b"])).toEqual([200, { result: "1-1" }]);
    expect(await ask("/", ["XREAD", "COUNT", 1, "STREAMS", "stream", "0"])).toEqual([
      200,
      { result: [["stream", [["1-1", ["a", "b"]]]]] },
    ]);
  });

  test("keeps integers beyond 2^53 exact, both ways", async () => {
    expect((await its.stack.rest("/", '["SET","n",9007199254740993]')).status).toBe(200);
    expect((await its.stack.rest("/", ["GET", "n"])).text).toBe('{"result":"9007199254740993"}');
    expect((await its.stack.rest("/", ["INCRBY", "n", 2])).text).toBe('{"result":9007199254740995}');
    expect((await its.stack.rest("/", '["INCRBY","n",-18014398509481990]')).text).toBe(
      '{"result":-9007199254740995}',
    );
    expect((await its.stack.rest("/", '["SET","d",1.10]')).status).toBe(200);
    expect((await its.stack.rest("/", ["GET", "d"])).text).toBe('{"result":"1.10"}');
  });

  test("fails with 400 and the error of Redis", async () => {
    await ask("/", ["SET", "text", "bar"]);
    expect(await ask("/", ["INCR", "text"])).toEqual([
      400,
      { error: "ERR value is not an integer or out of range" },
    ]);
    expect(await ask("/", ["GET"])).toEqual([
      400,
      { error: "ERR wrong number of arguments for 'get' command" },
    ]);
    expect(await ask("/", ["XGROUP", "NOPE"])).toEqual([
      400,
      { error: "ERR unknown subcommand 'NOPE'. Try XGROUP HELP." },
    ]);
  });

  test.each([
    ["nothing", "", "ERR the request body must be JSON"],
    ["half an array", '["GET"', "ERR the request body must be JSON"],
    ["an object", { command: "GET" }, "ERR a command must be a JSON array of its name and arguments"],
    ["an empty array", [], "ERR a command must be a JSON array of its name and arguments"],
    ["an empty name", [""], "ERR empty command"],
    ["a null argument", ["GET", null], "ERR the words of a command must be strings, numbers or booleans"],
    ["an array argument", ["GET", ["a"]], "ERR the words of a command must be strings, numbers or booleans"],
  ])("is refused with 400 if it is %s", async (_, body, error) => {
    expect(await ask("/", body)).toEqual([400, { error }]);
  });

  test.each([
    [["NOPE", "x"], "NOPE"],
    [["BLPOP", "list", "1"], "BLPOP"],
    [["bzpopmin", "z", "1"], "BZPOPMIN"],
    [["XREAD", "BLOCK", "1", "STREAMS", "s", "0"], "XREAD"],
    [["XREADGROUP", "GROUP", "g", "c", "block", "1", "STREAMS", "s", ">"], "XREADGROUP"],
    [["WATCH", "a"], "WATCH"],
    [["MULTI"], "MULTI"],
    [["EXEC"], "EXEC"],
    [["SUBSCRIBE", "ch"], "SUBSCRIBE"],
    [["MONITOR"], "MONITOR"],
    [["SELECT", "1"], "SELECT"],
    [["AUTH", "x"], "AUTH"],
    [["HELLO", "3"], "HELLO"],
    [["CLIENT", "ID"], "CLIENT"],
    [["CONFIG", "GET", "*"], "CONFIG"],
    [["SHUTDOWN"], "SHUTDOWN"],
    [["CLUSTER", "INFO"], "CLUSTER"],
    [["SWAPDB", "0", "1"], "SWAPDB"],
    [["migrate", "127.0.0.1", "6379", "a", "0", "1"], "MIGRATE"],
    [["MOVE", "a", "1"], "MOVE"],
    [["RESTORE-ASKING", "a", "0", "x"], "RESTORE-ASKING"],
    [["ROLE"], "ROLE"],
    [["LASTSAVE"], "LASTSAVE"],
    [["LATENCY", "LATEST"], "LATENCY"],
    [["CONFIG", "HELP"], "CONFIG"],
    [["SLOWLOG", "HELP"], "SLOWLOG"],
    [["MODULE", "HELP"], "MODULE"],
    [["MEMORY", "DOCTOR"], "MEMORY"],
    [["MEMORY", "PURGE"], "MEMORY"],
    [["SCRIPT", "DEBUG", "YES"], "SCRIPT"],
  ])("is refused if REST cannot do %j", async (command, name) => {
    expect(await ask("/", command)).toEqual(unavailable(name));
  });

  test("may be a non-blocking read of a stream named block", async () => {
    expect(await ask("/", ["XREAD", "STREAMS", "block", "0"])).toEqual([200, { result: null }]);
  });

  test("over 10 MiB is refused with both sizes", async () => {
    const body = JSON.stringify(["SET", "large", "x".repeat(10 * 1024 * 1024)]);
    expect(await ask("/", body)).toEqual([
      413,
      {
        error: `ERR max request size exceeded. Limit: 10485760 bytes, Actual: ${body.length} bytes. See https://upstash.com/docs/redis/troubleshooting/max_request_size_exceeded for details`,
      },
    ]);
    expect(await ask("/", ["EXISTS", "large"])).toEqual([200, { result: 0 }]);
  });

  test("of exactly 10 MiB comes back whole", async () => {
    const value = "é".repeat(5 * 1024 * 1024 - 10);
    expect(await ask("/", ["SET", "large", value])).toEqual([200, { result: "OK" }]);
    expect(await ask("/", ["GET", "large"])).toEqual([200, { result: value }]);
  });
});

describe("a command in the path", () => {
  test("is run by GET, POST, PUT and HEAD", async () => {
    expect(await ask("/set/foo/bar")).toEqual([200, { result: "OK" }]);
    expect(await ask("/get/foo")).toEqual([200, { result: "bar" }]);
    expect(await ask("/get/foo", undefined, { method: "POST" })).toEqual([200, { result: "bar" }]);
    expect(await ask("/get/foo", undefined, { method: "PUT" })).toEqual([200, { result: "bar" }]);
    const head = await its.stack.rest("/set/foo/head", undefined, { method: "HEAD" });
    expect([head.status, head.text]).toEqual([200, ""]);
    expect(await ask("/get/foo")).toEqual([200, { result: "head" }]);
  });

  test("takes the body as its last argument, followed by query parameters", async () => {
    expect(await ask("/set/foo?EX=100&NX", '{"a":"b/c"}')).toEqual([200, { result: "OK" }]);
    expect(await ask("/get/foo")).toEqual([200, { result: '{"a":"b/c"}' }]);
    expect(await ask("/ttl/foo")).toEqual([200, { result: 100 }]);
    expect(await ask("/set/foo?NX", "again")).toEqual([200, { result: null }]);
    expect(await ask("/set/foo/bar/EX/50")).toEqual([200, { result: "OK" }]);
    expect(await ask("/ttl/foo")).toEqual([200, { result: 50 }]);
  });

  test("is percent-decoded word by word", async () => {
    expect(await ask("/set/a%2Fb%20c/%C3%A9%00")).toEqual([200, { result: "OK" }]);
    expect(await ask("/", ["GET", "a/b c"])).toEqual([200, { result: "é\0" }]);
    expect(await ask("/get/%E0%A4")).toEqual([400, { error: "ERR the path must be percent-encoded UTF-8" }]);
  });

  test("stores a body of any bytes unchanged", async () => {
    const bytes = Uint8Array.from({ length: 256 }, (_, index) => index);
    expect(await ask("/set/bytes", undefined, { method: "POST", body: bytes })).toEqual([
      200,
      { result: "OK" },
    ]);
    expect(await its.stack.direct.send(["GET", "bytes"])).toEqual(Buffer.from(bytes));
  });

  test("may not be empty", async () => {
    expect(await ask("/")).toEqual([400, { error: "ERR empty command" }]);
  });

  test("is refused with 405 by other methods", async () => {
    for (const method of ["DELETE", "PATCH", "OPTIONS"]) {
      expect(await ask("/get/foo", undefined, { method })).toEqual([
        405,
        { error: `ERR HTTP method ${method} is not allowed, only HEAD, GET, POST and PUT` },
      ]);
    }
  });
});

describe("headers", () => {
  const base64 = { headers: { "Upstash-Encoding": "base64" } };
  const encode = (text: string) => Buffer.from(text).toString("base64");

  test("Upstash-Encoding: base64 encodes every string except a status OK", async () => {
    expect(await ask("/", ["SET", "key", "OK"], base64)).toEqual([200, { result: "OK" }]);
    expect(await ask("/", ["GET", "key"], base64)).toEqual([200, { result: encode("OK") }]);
    expect(await ask("/", ["PING"], base64)).toEqual([200, { result: encode("PONG") }]);
    expect(await ask("/", ["INCR", "n"], base64)).toEqual([200, { result: 1 }]);
    expect(await ask("/", ["GET", "none"], base64)).toEqual([200, { result: null }]);
    const script = "return {1, 'a', {ok = 'OK'}, {'b', {'é'}}, false, ''}";
    expect(await ask("/", ["EVAL", script, 0], base64)).toEqual([
      200,
      { result: [1, encode("a"), encode("OK"), [encode("b"), [encode("é")]], null, ""] },
    ]);
    expect(await ask("/", ["INCR", "key"], base64)).toEqual([
      400,
      { error: "ERR value is not an integer or out of range" },
    ]);
    expect(
      await ask(
        "/multi-exec",
        [
          ["SET", "key", "a"],
          ["GET", "key"],
          ["INCR", "key"],
        ],
        base64,
      ),
    ).toEqual([
      200,
      [{ result: "OK" }, { result: encode("a") }, { error: "ERR value is not an integer or out of range" }],
    ]);
  });

  test("without it, bytes that are no UTF-8 become replacement characters", async () => {
    const bytes = Buffer.from([0x61, 0xff, 0x00, 0xc3]);
    await its.stack.direct.send(["SET", "bytes", bytes]);
    expect(await ask("/get/bytes")).toEqual([200, { result: "a\uFFFD\0\uFFFD" }]);
    expect(await ask("/get/bytes", undefined, base64)).toEqual([200, { result: bytes.toString("base64") }]);
  });

  test("an unknown encoding or format is refused with 400", async () => {
    const refused = async (headers: Record<string, string>) => await ask("/get/a", undefined, { headers });
    expect(await refused({ "Upstash-Encoding": "hex" })).toEqual([
      400,
      { error: "ERR Upstash-Encoding hex is not supported, only base64" },
    ]);
    expect(await refused({ "Upstash-Response-Format": "xml" })).toEqual([
      400,
      { error: "ERR Upstash-Response-Format xml is not supported, only json and resp2" },
    ]);
    expect(await refused({ "Upstash-Response-Format": "json" })).toEqual([200, { result: null }]);
  });

  test("each response has a sync token, which a client may send", async () => {
    const first = await its.stack.rest("/get/a");
    const token = first.headers.get("upstash-sync-token") ?? "";
    expect(token).toMatch(/^\S+$/);
    expect(first.headers.get("content-type")).toBe("application/json");
    for (const sent of [token, "abc"]) {
      const next = await its.stack.rest("/get/a", undefined, { headers: { "upstash-sync-token": sent } });
      expect([next.status, next.headers.get("upstash-sync-token")]).toEqual([200, token]);
    }
  });

  const write = ["SET", "a", "1"];
  const script = "return redis.call('SET', KEYS[1], 1)";
  test.each<[string, string, unknown, boolean]>([
    ["a write", "/", write, true],
    ["a write that fails", "/", ["SET", "a"], false],
    ["a read", "/", ["GET", "a"], false],
    ["a write in a pipeline", "/pipeline", [["GET", "a"], write], true],
    [
      "reads in a pipeline",
      "/pipeline",
      [
        ["GET", "a"],
        ["GET", "b"],
      ],
      false,
    ],
    ["a write in a transaction", "/multi-exec", [["GET", "a"], write], true],
    ["a script", "/", ["EVAL", script, 1, "a"], true],
    ["a script that only reads", "/", ["EVAL_RO", "return 1", 0], false],
  ])("the sync token changes only by writes: %s", async (_, path, body, changes) => {
    const tokenOf = ({ headers }: { headers: Headers }) => headers.get("upstash-sync-token");
    const before = tokenOf(await its.stack.rest("/get/a"));
    const after = tokenOf(await its.stack.rest(path, body));
    expect([after !== before, tokenOf(await its.stack.rest("/get/a"))]).toEqual([changes, after]);
  });
});
