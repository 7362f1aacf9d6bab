import { describe, expect, test } from "vitest";
import { failed, ok, unavailable, useStack } from "./stack.ts";

const { its, ask, run, direct } = useStack();
const NOT_INTEGER = "ERR value is not an integer or out of range";

describe("a command in the body", () => {
  test("is run, and its reply has RESP2 shapes", async () => {
    const replies: [command: string | unknown[], result: unknown][] = [
      ["set text bar", "OK"],
      [["RPUSH", "list", "a", 2, 2.5, true], 4],
      [
        ["LRANGE", "list", 0, -1],
        ["a", "2", "2.5", "true"],
      ],
      ["HMGET hash f g", [null, null]],
      ["XADD stream 1-1 a b", "1-1"],
      ["XREAD COUNT 1 STREAMS stream 0", [["stream", [["1-1", ["a", "b"]]]]]],
      // No blocking read: the stream is named so.
      ["XREAD STREAMS block 0", null],
    ];
    for (const [command, result] of replies) expect(await run(command)).toEqual(ok(result));
  });

  test("keeps integers beyond 2^53 exact, both ways", async () => {
    const texts = [
      ['["SET","n",9007199254740993]', '"OK"'],
      ['["GET","n"]', '"9007199254740993"'],
      ['["INCRBY","n",2]', "9007199254740995"],
      ['["INCRBY","n",-18014398509481990]', "-9007199254740995"],
      ['["SET","d",1.10]', '"OK"'],
      ['["GET","d"]', '"1.10"'],
    ];
    for (const [body, result] of texts)
      expect((await its.stack.rest("/", body)).text).toBe(`{"result":${result}}`);
  });

  const noArray = "ERR a command must be a JSON array of its name and arguments";
  const noWord = "ERR the words of a command must be strings, numbers or booleans";
  test.each<[string, unknown, string]>([
    ["fails", ["INCR", "text"], NOT_INTEGER],
    ["has too few words", ["GET"], "ERR wrong number of arguments for 'get' command"],
    ["has no such subcommand", ["XGROUP", "NOPE"], "ERR unknown subcommand 'NOPE'. Try XGROUP HELP."],
    ["is nothing", "", "ERR the request body must be JSON"],
    ["is half an array", '["GET"', "ERR the request body must be JSON"],
    ["is an object", { command: "GET" }, noArray],
    ["is an empty array", [], noArray],
    ["has an empty name", [""], "ERR empty command"],
    ["has a null argument", ["GET", null], noWord],
    ["has an array argument", ["GET", ["a"]], noWord],
  ])("is answered with 400 and the error if it %s", async (_, body, error) => {
    await run("SET text bar");
    expect(await ask("/", body)).toEqual(failed(error));
  });

  const notOverRest = `
    NOPE x; BLPOP list 1; bzpopmin z 1; XREAD BLOCK 1 STREAMS s 0; XREADGROUP GROUP g c block 1 STREAMS s >; WATCH a;
    MULTI; EXEC; SUBSCRIBE ch; MONITOR; SELECT 1; AUTH x; HELLO 3; CLIENT ID; CONFIG GET *; SHUTDOWN; CLUSTER INFO;
    SWAPDB 0 1; migrate 127.0.0.1 6379 a 0 1; MOVE a 1; RESTORE-ASKING a 0 x; ROLE; LASTSAVE; LATENCY LATEST;
    CONFIG HELP; SLOWLOG HELP; MODULE HELP; MEMORY DOCTOR; MEMORY PURGE; SCRIPT DEBUG YES`;
  test.each(notOverRest.split(";").map((command) => command.trim()))(
    "is refused if REST cannot do %s",
    async (command) => {
      expect(await run(command)).toEqual(unavailable(command.split(" ")[0]!.toUpperCase()));
    },
  );

  test("over 10 MiB is refused with both sizes", async () => {
    const body = JSON.stringify(["SET", "large", "x".repeat(10 * 1024 * 1024)]);
    const error = `ERR max request size exceeded. Limit: 10485760 bytes, Actual: ${body.length} bytes. See https://upstash.com/docs/redis/troubleshooting/max_request_size_exceeded for details`;
    expect(await ask("/", body)).toEqual(failed(error, 413));
    expect(await run("EXISTS large")).toEqual(ok(0));
  });

  test("of exactly 10 MiB comes back whole", async () => {
    const value = "é".repeat(5 * 1024 * 1024 - 10);
    expect(await run(["SET", "large", value])).toEqual(ok("OK"));
    expect(await run("GET large")).toEqual(ok(value));
  });
});

describe("a command in the path", () => {
  test("is run by GET, POST, PUT and HEAD, and no other method", async () => {
    expect(await ask("/set/foo/bar")).toEqual(ok("OK"));
    for (const method of ["GET", "POST", "PUT"])
      expect(await ask("/get/foo", undefined, { method })).toEqual(ok("bar"));
    const head = await its.stack.rest("/set/foo/head", undefined, { method: "HEAD" });
    expect([head.status, head.text]).toEqual([200, ""]);
    expect(await ask("/get/foo")).toEqual(ok("head"));
    for (const method of ["DELETE", "PATCH", "OPTIONS"]) {
      const error = `ERR HTTP method ${method} is not allowed, only HEAD, GET, POST and PUT`;
      expect(await ask("/get/foo", undefined, { method })).toEqual(failed(error, 405));
    }
  });

  test("takes the body as its last argument, followed by query parameters", async () => {
    expect(await ask("/set/foo?EX=100&NX", '{"a":"b/c"}')).toEqual(ok("OK"));
    expect(await ask("/get/foo")).toEqual(ok('{"a":"b/c"}'));
    expect(await ask("/ttl/foo")).toEqual(ok(100));
    expect(await ask("/set/foo?NX", "again")).toEqual(ok(null));
    expect(await ask("/set/foo/bar/EX/50")).toEqual(ok("OK"));
    expect(await ask("/ttl/foo")).toEqual(ok(50));
  });

  test("is percent-decoded word by word, and may not be empty", async () => {
    expect(await ask("/set/a%2Fb%20c/%C3%A9%00")).toEqual(ok("OK"));
    expect(await run(["GET", "a/b c"])).toEqual(ok("é\0"));
    expect(await ask("/get/%E0%A4")).toEqual(failed("ERR the path must be percent-encoded UTF-8"));
    expect(await ask("/")).toEqual(failed("ERR empty command"));
  });

  test("stores a body of any bytes unchanged", async () => {
    const bytes = Uint8Array.from({ length: 256 }, (_, index) => index);
    expect(await ask("/set/bytes", undefined, { method: "POST", body: bytes })).toEqual(ok("OK"));
    expect(await direct("GET", "bytes")).toEqual(Buffer.from(bytes));
  });
});

describe("headers", () => {
  const base64 = { headers: { "Upstash-Encoding": "base64" } };
  const encode = (text: string) => Buffer.from(text).toString("base64");

  test("Upstash-Encoding: base64 encodes every string except a status OK", async () => {
    const script = "return {1, 'a', {ok = 'OK'}, {'b', {'é'}}, false, ''}";
    const replies: [command: unknown[], result: unknown][] = [
      [["SET", "key", "OK"], "OK"],
      [["GET", "key"], encode("OK")],
      [["PING"], encode("PONG")],
      [["INCR", "n"], 1],
      [["GET", "none"], null],
      [
        ["EVAL", script, 0],
        [1, encode("a"), encode("OK"), [encode("b"), [encode("é")]], null, ""],
      ],
    ];
    for (const [command, result] of replies) expect(await ask("/", command, base64)).toEqual(ok(result));
    expect(await ask("/", ["INCR", "key"], base64)).toEqual(failed(NOT_INTEGER));
    const commands = [
      ["SET", "key", "a"],
      ["GET", "key"],
      ["INCR", "key"],
    ];
    expect(await ask("/multi-exec", commands, base64)).toEqual([
      200,
      [{ result: "OK" }, { result: encode("a") }, { error: NOT_INTEGER }],
    ]);
  });

  test("without it, bytes that are no UTF-8 become replacement characters", async () => {
    const bytes = Buffer.from([0x61, 0xff, 0x00, 0xc3]);
    await direct("SET", "bytes", bytes);
    expect(await ask("/get/bytes")).toEqual(ok("a\uFFFD\0\uFFFD"));
    expect(await ask("/get/bytes", undefined, base64)).toEqual(ok(bytes.toString("base64")));
  });

  test.each([
    ["Upstash-Encoding", "hex", failed("ERR Upstash-Encoding hex is not supported, only base64")],
    [
      "Upstash-Response-Format",
      "xml",
      failed("ERR Upstash-Response-Format xml is not supported, only json and resp2"),
    ],
    ["Upstash-Response-Format", "json", ok(null)],
  ])("only a known encoding or format is taken: %s: %s", async (name, value, answer) => {
    expect(await ask("/get/a", undefined, { headers: { [name]: value } })).toEqual(answer);
  });

  const tokenOf = ({ headers }: { headers: Headers }) => headers.get("upstash-sync-token");
  test("each response has a sync token, which a client may send", async () => {
    const first = await its.stack.rest("/get/a");
    const token = tokenOf(first) ?? "";
    expect(token).toMatch(/^\S+$/);
    expect(first.headers.get("content-type")).toBe("application/json");
    for (const sent of [token, "abc"]) {
      const next = await its.stack.rest("/get/a", undefined, { headers: { "upstash-sync-token": sent } });
      expect([next.status, tokenOf(next)]).toEqual([200, token]);
    }
  });

  const read = ["GET", "a"];
  const write = ["SET", "a", "1"];
  const script = "return redis.call('SET', KEYS[1], 1)";
  test.each<[string, string, unknown, boolean]>([
    ["a write", "/", write, true],
    ["a write that fails", "/", ["SET", "a"], false],
    ["a read", "/", read, false],
    ["a write in a pipeline", "/pipeline", [read, write], true],
    ["reads in a pipeline", "/pipeline", [read, read], false],
    ["a write in a transaction", "/multi-exec", [read, write], true],
    ["a script", "/", ["EVAL", script, 1, "a"], true],
    ["a script that only reads", "/", ["EVAL_RO", "return 1", 0], false],
  ])("the sync token changes only by writes: %s", async (_, path, body, changes) => {
    const before = tokenOf(await its.stack.rest("/get/a"));
    const after = tokenOf(await its.stack.rest(path, body));
    expect([after !== before, tokenOf(await its.stack.rest("/get/a"))]).toEqual([changes, after]);
  });
});
