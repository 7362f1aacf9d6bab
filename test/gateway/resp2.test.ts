import { connect } from "node:net";
import { beforeEach, describe, expect, test } from "vitest";
import { token, useStack, words } from "./stack.ts";

const { its, direct } = useStack();
beforeEach(async () => {
  await direct("SET", "text", "naïve");
  await direct("SET", "bytes", Buffer.from([0, 0xff, 0x0d, 0x0a]));
});

const [binary, json] = ["application/octet-stream", "application/json"];

/** Status, type and the bytes of the body, one character each. */
async function ask(path: string, body?: unknown, headers: Record<string, string> = {}) {
  const response = await fetch(its.stack.gateway.url + path, {
    method: body === undefined ? "GET" : "POST",
    body: body === undefined ? null : JSON.stringify(body),
    headers: { authorization: `Bearer ${token}`, "Upstash-Response-Format": "resp2", ...headers },
  });
  const bytes = Buffer.from(await response.arrayBuffer());
  return [response.status, response.headers.get("content-type"), bytes.toString("latin1")];
}

/** What Redis itself sends, one character for each byte. */
async function redisSends(command: readonly unknown[]): Promise<string> {
  return await new Promise((resolve, reject) => {
    const socket = connect(its.stack.redis.port, "127.0.0.1");
    let reply = "";
    socket.on("data", (chunk: Buffer) => (reply += chunk.toString("latin1")));
    socket.on("error", reject);
    socket.on("close", () => resolve(reply.replace(/\+OK\r\n$/, "")));
    for (const sent of [command, ["QUIT"]]) {
      socket.write(`*${sent.length}\r\n`);
      for (const word of sent.map(String)) socket.write(`$${Buffer.byteLength(word)}\r\n${word}\r\n`);
    }
  });
}

describe("in resp2 a command's reply is what Redis itself sends", () => {
  test.each([
    "PING",
    "SET key x",
    "GET text",
    "GET bytes",
    "GET none",
    "STRLEN text",
    "MGET text none bytes",
    "LRANGE none 0 -1",
    "TYPE text",
    ["EVAL", "return {1, 'a', {ok = 'fine'}, {'b', {}}, false, '', 9007199254740993}", "0"],
    "ECHO 12",
  ])("%j", async (command) => {
    expect(await ask("/", words(command))).toEqual([200, binary, await redisSends(words(command))]);
  });

  test.each([
    ["INCR text", /^-ERR value is not an integer or out of range\r\n$/],
    ["GET", /^-ERR wrong number of arguments for 'get' command\r\n$/],
    ["LPUSH text x", /^-WRONGTYPE Operation against a key holding the wrong kind of value\r\n$/],
    // Of several lines, and one reply.
    [["EVAL", "return redis.error_reply('ERR one\\r\\ntwo')", "0"], /^-ERR one {2}two.*\r\n$/],
    [["EVAL", "error({ err = 'ERR one\\n\\ntwo' })", "0"], /^-ERR one {2}two.*\r\n$/],
  ])("%j, an error, with 400", async (command, error) => {
    const sent = await redisSends(words(command));
    expect(sent).toMatch(error);
    expect(await ask("/", words(command))).toEqual([400, binary, sent]);
  });
});

test("a pipeline answers with one array, in which errors are errors", async () => {
  const commands = ["SET key x", "INCR key", "GET none", "BLPOP l 0", "MGET key"].map(words);
  expect(await ask("/pipeline", commands)).toEqual([
    200,
    binary,
    "*5\r\n+OK\r\n-ERR value is not an integer or out of range\r\n$-1\r\n" +
      "-ERR Command is not available: 'BLPOP'. See https://upstash.com/docs/redis/overall/rediscompatibility for details\r\n" +
      "*1\r\n$1\r\nx\r\n",
  ]);
});

test("a transaction answers in JSON, as on Upstash, and so does a fault of the request itself", async () => {
  const transaction = await ask("/multi-exec", ["INCR n", "GET n"].map(words));
  expect(transaction).toEqual([200, json, '[{"result":1},{"result":"1"}]']);
  const noCommand = '{"error":"ERR a command must be a JSON array of its name and arguments"}';
  expect(await ask("/", { a: 1 })).toEqual([400, json, noCommand]);
  expect((await ask("/get/text", undefined, { authorization: "" })).slice(0, 2)).toEqual([401, json]);
  expect(await ask("/get/text", undefined, { "Upstash-Encoding": "base64" })).toEqual([
    400,
    json,
    '{"error":"ERR Upstash-Encoding base64 is not supported with Upstash-Response-Format resp2"}',
  ]);
});

test("its bytes are counted, and faults affect it", async () => {
  await ask("/get/text");
  expect(its.stack.gateway.usage().bytesOut).toBe(12);
  its.stack.gateway.faults.add({ kind: "quota" });
  const error = expect.stringMatching(/^-ERR max requests limit .*\r\n$/) as string;
  expect(await ask("/get/text")).toEqual([400, binary, error]);
  its.stack.gateway.faults.add({ kind: "cut-body" });
  await expect(ask("/get/bytes")).rejects.toThrow(TypeError);
});
