import { createHash } from "node:crypto";
import { createClient } from "@redis/client";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { startRedis, type TestRedis } from "../support/redis.ts";

/**
 * The Lua that runs the scripts; `npm run test:portable` sets it. Then the redis-server of this folder is
 * tested, otherwise the real one. Except for the name of the Lua, both must do the same.
 */
const LUA = process.env["SLUICE_TEST_LUA"] ?? "C Lua";
const WHICH =
  "return (rawget(_G, '_GOPHER_LUA_VERSION') or rawget(_G, '_printregs')) and 'GopherLua' or 'C Lua'";
const sha1 = (text: string) => createHash("sha1").update(text).digest("hex");

let redis: TestRedis;
let send: (...args: string[]) => Promise<unknown>;
let close: () => void;
beforeAll(async () => {
  redis = await startRedis();
  const client = createClient({ url: redis.url, RESP: 2 });
  await client.connect();
  send = (...args) => client.sendCommand(args);
  close = () => client.destroy();
});
beforeEach(async () => {
  await send("FLUSHALL");
  await send("SCRIPT", "FLUSH");
});
afterAll(async () => {
  close();
  await redis.stop();
});

const refusal = (...args: string[]) => send(...args).catch((error: Error) => error.message);

describe("the Lua that a run names runs the scripts", () => {
  test.each(["EVAL", "EVAL_RO"])("by %s", async (command) => {
    expect(await send(command, WHICH, "0")).toBe(LUA);
  });

  test.each(["EVALSHA", "EVALSHA_RO"])("by %s, loaded before", async (command) => {
    expect(await send("SCRIPT", "LOAD", WHICH)).toBe(sha1(WHICH));
    expect(await send(command, sha1(WHICH), "0")).toBe(LUA);
  });

  test("in a transaction", async () => {
    await send("MULTI");
    expect(await send("SET", "k", "v")).toBe("QUEUED");
    expect(await send("EVAL", WHICH, "0")).toBe("QUEUED");
    expect(await send("GET", "k")).toBe("QUEUED");
    expect(await send("EXEC")).toEqual(["OK", LUA, "v"]);
  });
});

describe("a script", () => {
  test("gets keys and arguments, and returns replies of each kind", async () => {
    const source =
      "return {KEYS[1], ARGV[1], #ARGV, 3.9, redis.call('SET', KEYS[1], 'v'), redis.call('GET', 'none'), " +
      "{redis.call('GET', KEYS[1])}, true, redis.status_reply('FINE'), redis.sha1hex('a'), nil, 1}";
    expect(await send("EVAL", source, "1", "k", "\0é")).toEqual([
      "k",
      "\0é",
      1,
      3,
      "OK",
      null,
      ["v"],
      1,
      "FINE",
      sha1("a"),
    ]);
  });

  test("that Redis does not know is NOSCRIPT, also after SCRIPT FLUSH", async () => {
    const [, sha] = [await send("EVAL", WHICH, "0"), sha1(WHICH)];
    expect(await send("SCRIPT", "EXISTS", sha, sha1("other"))).toEqual([1, 0]);
    await send("SCRIPT", "FLUSH");
    expect(await send("SCRIPT", "EXISTS", sha)).toEqual([0]);
    expect(await refusal("EVALSHA", sha, "0")).toMatch(/^NOSCRIPT /);
  });

  test("fails with the command's error in redis.call, and continues after one in redis.pcall", async () => {
    await send("SET", "k", "text");
    expect(await refusal("EVAL", "return redis.call('LPUSH', KEYS[1], 1)", "1", "k")).toMatch(/^WRONGTYPE /);
    const source = "local r = redis.pcall('LPUSH', KEYS[1], 1) return {r.err, 'on'}";
    expect(await send("EVAL", source, "1", "k")).toEqual([expect.stringMatching(/^WRONGTYPE /), "on"]);
    expect(await refusal("EVAL", "return redis.error_reply('MINE it is')", "0")).toBe("MINE it is");
  });

  test("that is read-only may not write", async () => {
    const source = "return redis.call('SET', KEYS[1], 'v')";
    expect(await refusal("EVAL_RO", source, "1", "k")).toMatch(/^ERR Write commands are not allowed/);
    expect(await send("EXISTS", "k")).toBe(0);
  });

  test("may not run commands that its user may not", async () => {
    await send("ACL", "SETUSER", "default", "-set");
    try {
      const source = "return redis.call('SET', KEYS[1], 'v')";
      expect(await refusal("EVAL", source, "1", "k")).toMatch(/script/);
      await send("ACL", "SETUSER", "default", "+set", "-eval");
      expect(await refusal("EVAL", source, "1", "k")).toMatch(/^NOPERM .*'eval'/);
    } finally {
      await send("ACL", "SETUSER", "default", "+@all");
    }
  });

  test("writes to a full Redis after a write that frees memory, and not before", async () => {
    await send("SET", "k", "v");
    const set = "redis.call('SET', KEYS[1], 'w')";
    await send("CONFIG", "SET", "maxmemory", "1");
    try {
      expect(await refusal("EVAL", `return ${set}`, "1", "k")).toMatch(/^OOM /);
      expect(await send("EVAL", `redis.call('DEL', 'none') return ${set}`, "1", "k")).toBe("OK");
      expect(await refusal("EVAL", `redis.call('GET', KEYS[1]) return ${set}`, "1", "k")).toMatch(/^OOM /);
    } finally {
      await send("CONFIG", "SET", "maxmemory", "0");
    }
  });

  test("runs without another client's command in the middle of it", async () => {
    const source =
      "for i = 1, 200 do redis.call('INCR', KEYS[1]) end " +
      "local n = redis.call('GET', KEYS[1]) return tonumber(n) % 200";
    const clients = await Promise.all(
      Array.from({ length: 5 }, () => createClient({ url: redis.url, RESP: 2 }).connect()),
    );
    try {
      const calls = clients.flatMap((client) =>
        [1, 2, 3].map(() => client.sendCommand(["EVAL", source, "1", "n"])),
      );
      expect(await Promise.all(calls)).toEqual(calls.map(() => 0));
    } finally {
      for (const client of clients) client.destroy();
    }
  });
});

test("MONITOR shows the calls of a script", async () => {
  const client = createClient({ url: redis.url, RESP: 2 });
  await client.connect();
  const lines: string[] = [];
  let ended = () => {};
  const end = new Promise<void>((resolve) => (ended = resolve));
  await client.monitor((line) => {
    lines.push(line);
    if (line.endsWith('"ECHO" "end"')) ended();
  });
  await send("EVAL", "return redis.call('SET', KEYS[1], 'v')", "1", "k");
  await send("ECHO", "end");
  await end;
  client.destroy();
  expect(lines.filter((line) => line.includes(" lua] ")).map((line) => line.replace(/.*\] /, ""))).toEqual([
    '"SET" "k" "v"',
  ]);
});
