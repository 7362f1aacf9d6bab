import { createHash } from "node:crypto";
import { createClient } from "@redis/client";
import { afterAll, beforeAll, expect, test } from "vitest";
import { sharedRedis, type SharedRedis } from "../support/shared-redis.ts";

/** The Lua that runs the scripts. Except for its name, each must do the same. */
const LUA = process.env["SLUICE_GOPHER_LUA"] ? "GopherLua" : "C Lua";
const WHICH =
  "return (rawget(_G, '_GOPHER_LUA_VERSION') or rawget(_G, '_printregs')) and 'GopherLua' or 'C Lua'";
const sha1 = (text: string) => createHash("sha1").update(text).digest("hex");

let redis: SharedRedis;
let send: (...args: string[]) => Promise<unknown>;
let close: () => void;
beforeAll(async () => {
  redis = await sharedRedis();
  const client = createClient({ url: redis.url, RESP: 2 });
  await client.connect();
  send = (...args) => client.sendCommand(args);
  close = () => client.destroy();
});
afterAll(async () => {
  close();
  await redis.stop();
});

const refusal = (...args: string[]) => send(...args).catch((error: Error) => error.message);

test("the Lua that a run names runs the scripts, by their text and by their hash", async () => {
  expect(await send("EVAL", WHICH, "0")).toBe(LUA);
  expect(await send("EVALSHA", sha1(WHICH), "0")).toBe(LUA);
});

test("a script gets keys and arguments, and returns replies of each kind", async () => {
  const source =
    "return {KEYS[1], ARGV[1], #ARGV, 3.9, redis.call('SET', KEYS[1], 'v'), redis.call('GET', 'none'), " +
    "{redis.call('GET', KEYS[1])}, true, redis.status_reply('FINE'), redis.sha1hex('a'), " +
    "redis.call('INCRBY', 'n', 9007199254740993), nil, 1}";
  const replies = ["k", "\0é", 1, 3, "OK", null, ["v"], 1, "FINE", sha1("a"), 9007199254740992];
  expect(await send("EVAL", source, "1", "k", "\0é")).toEqual(replies);
});

test("a script fails with the command's error in redis.call, and continues after one in redis.pcall", async () => {
  await send("SET", "k", "text");
  expect(await refusal("EVAL", "\nreturn redis.call('LPUSH', KEYS[1], 1)", "1", "k")).toMatch(
    /^WRONGTYPE .* script: [0-9a-f]{40}, on @user_script:2\.$/,
  );
  const source = "local r = redis.pcall('LPUSH', KEYS[1], 1) return {r.err, 'on'}";
  expect(await send("EVAL", source, "1", "k")).toEqual([expect.stringMatching(/^WRONGTYPE /), "on"]);
  expect(await refusal("EVAL", "return redis.error_reply('MINE it is')", "0")).toBe("MINE it is");
  expect(await refusal("EVAL", "local t = nil\nreturn t.a", "0")).toMatch(
    /^ERR user_script:2: .*on @user_script:2\.$/,
  );
  expect(await refusal("EVAL", "return return", "0")).toMatch(/^ERR Error compiling script/);
});
