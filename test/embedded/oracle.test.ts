import * as fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { EmbeddedDatabase, startEmbeddedServer, type EmbeddedServer } from "../../src/embedded/index.ts";
import { CommandTable, type KeyRange } from "../../src/local/gateway/commands.ts";
import { connectRedis } from "../../src/local/gateway/redis.ts";
import { readKeySpace } from "../support/key-space.ts";
import { sharedRedis, type SharedRedis } from "../support/shared-redis.ts";
import { anyCommand, argumentsOf, comparable, orderedHash, type RawCommand } from "./command-arbitraries.ts";
import { RawConnection } from "./raw-connection.ts";

/** Commands whose replies depend on chance, on time or on the connection. Other tests have them. */
const NOT_RANDOM = (
  "eval evalsha eval_ro evalsha_ro script multi spop srandmember hrandfield zrandmember randomkey keys scan pttl pexpiretime dump restore " +
  "hello auth quit reset monitor client time info config acl subscribe psubscribe unsubscribe punsubscribe pubsub"
).split(" ");

/** `npm run test:long` makes this many runs, from a new seed. */
const RUNS = process.env["SLUICE_ORACLE_RUNS"];

let redis: SharedRedis;
let server: EmbeddedServer;
let real: RawConnection;
let own: RawConnection;

beforeAll(async () => {
  redis = await sharedRedis();
  server = await startEmbeddedServer(new EmbeddedDatabase());
  real = await RawConnection.open(redis.port);
  own = await RawConnection.open(server.port);
});
afterAll(async () => {
  real.close();
  own.close();
  await server.close();
  await redis.stop();
});

/** What each command replied on both, as long as it is not the same. */
async function differences(commands: readonly RawCommand[]) {
  const different: { command: string; redis: string; embedded: string }[] = [];
  for (const command of commands) {
    // Redis's SORT fails if an earlier command has left an error of range in `errno`, which reading a score clears.
    if (/\bsort/i.test(command.join(" "))) await real.send([["ZADD", "none", "XX", "1", "m"]]);
    const hash = orderedHash(command);
    const isLarge = hash !== undefined && /hashtable/.test(await real.send([["OBJECT", "ENCODING", hash]]));
    const [redis, embedded] = [await real.send([command]), await own.send([command])];
    if (comparable(command, redis, isLarge) !== comparable(command, embedded, isLarge))
      different.push({ command: JSON.stringify(command), redis, embedded });
  }
  return different;
}

const empty = () => Promise.all([real, own].map((connection) => connection.send([["FLUSHALL"]])));

describe("the embedded store and a real Redis", () => {
  test("both reply the same bytes to random commands, and then have the same data", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(anyCommand, { minLength: 1, maxLength: 100, size: "max" }),
        async (commands) => {
          await empty();
          expect(await differences(commands)).toEqual([]);
          expect(await readKeySpace(server.url)).toEqual(await readKeySpace(redis.url));
        },
      ),
      RUNS === undefined ? { numRuns: 60, seed: 11 } : { numRuns: Number(RUNS) },
    );
  }, 3_600_000);

  test("order a large sorted set in the same way", async () => {
    await empty();
    const dice = fc.sample(fc.integer({ min: 0, max: 999 }), { numRuns: 3_000, seed: 1 });
    const changes = dice.map((number, index) =>
      index % 3 === 2 ? ["ZREM", "z", `m${number % 500}`] : ["ZADD", "z", String(number % 40), `m${number}`],
    );
    const reads = dice.slice(0, 300).flatMap((number) => [
      ["ZRANK", "z", `m${number}`],
      ["ZREVRANK", "z", `m${number}`],
      ["ZRANGE", "z", String(number), String(number + 5), "WITHSCORES"],
      ["ZRANGE", "z", `(${number % 40}`, "+inf", "BYSCORE", "LIMIT", String(number % 7), "4"],
      ["ZCOUNT", "z", String(number % 20), `(${number % 40}`],
    ]);
    expect(await differences([...changes, ...reads, ["ZRANGE", "z", "0", "-1", "WITHSCORES"]])).toEqual([]);
  });

  test("sort by bytes alike", async () => {
    await empty();
    const filled = [
      ["RPUSH", "list", "b", "a", "10", "9", "b"],
      ["SADD", "set", "c", "a", "b"],
      ["ZADD", "zset", "3", "x", "1", "y", "2", "z"],
      ["MSET", "w:a", "2", "w:b", "1", "w:c", "3", "w:10", "0", "w:9", "5"],
    ];
    const sorts = [
      ["SORT", "list", "ALPHA"],
      ["SORT", "list", "ALPHA", "DESC", "LIMIT", "1", "2"],
      ["SORT", "list"],
      ["SORT", "list", "BY", "w:*", "ALPHA", "GET", "#", "GET", "w:*"],
      ["SORT", "list", "BY", "nosort"],
      ["SORT", "set", "ALPHA"],
      ["SORT", "set", "BY", "nosort", "STORE", "to"],
      ["SORT", "set", "BY", "w:*", "DESC"],
      ["SORT_RO", "zset", "BY", "nosort", "DESC"],
      ["SORT_RO", "zset", "BY", "nosort", "LIMIT", "1", "1"],
      ["SORT", "zset", "ALPHA", "DESC", "STORE", "to"],
      ["LRANGE", "to", "0", "-1"],
      ["COMMAND", "GETKEYS", "SORT", "zset", "BY", "w:*", "STORE", "to"],
      ["COMMAND", "GETKEYS", "ZUNIONSTORE", "to", "2", "a", "b", "WEIGHTS", "1", "2"],
    ];
    expect(await differences([...filled, ...sorts])).toEqual([]);
  });

  test("calculate with floating point alike", async () => {
    await empty();
    const numbers =
      "0.1 0.2 1e17 -1e17 3.3 1000.1 123456789.123456789 5e-18 1e300 -0.3 0x1p-3 1e-4000 2.5".split(" ");
    const commands = numbers.flatMap((by) => [
      ["INCRBYFLOAT", "sum", by],
      ["HINCRBYFLOAT", "h", `f${by}`, by],
      ["HINCRBYFLOAT", "h", `f${by}`, "0.1"],
    ]);
    expect(await differences(commands)).toEqual([]);
  });

  test.each([
    [
      ["SET", "a", "1"],
      ["HGET", "a", "f"],
      ["EVAL", "return redis.call('INCR', KEYS[1])", "1", "a"],
      ["EXEC"],
    ],
    [["SET", "a"], ["SET", "a", "2"], ["EXEC"], ["GET", "a"]],
    [["nosuch"], ["DISCARD"], ["GET", "a"]],
    [["MULTI"], ["EXEC"], ["EXEC"], ["DISCARD"]],
  ])("treat transactions alike: MULTI, %j, %j", async (...commands: RawCommand[]) => {
    await empty();
    const [first, second] = await Promise.all([real, own].map((one) => one.send([["MULTI"], ...commands])));
    expect(second).toBe(first);
  });

  test.each([
    ["a runtime error", "local t = nil\nreturn t.a"],
    ["an error with a table", "\nerror({err = 'MY error'})"],
    ["an error in a function", "local function f()\n  error('deep')\nend\nf()"],
    ["an unknown global", "return nosuch"],
    ["a new global", "x = 1"],
    ["a read-only table", "string.x = 1"],
    ["no valid Lua", "return return"],
    ["an unknown command", "\n\nreturn redis.call('nosuch')"],
    ["a command without words", "return redis.call()"],
    ["a command that scripts may not run", "return redis.call('MULTI')"],
    ["an error as its reply", "return redis.error_reply('bla')"],
    ["an error with a code as its reply", "return {err = 'CODE bla'}"],
    ["a status", "return redis.status_reply('fine')"],
    ["values of all kinds", "return {1, 2.9, -2.9, true, false, 'a', {ok = 'b'}, {{}}}"],
    ["a list that ends early", "return {1, nil, 3}"],
    ["NUL and bytes", "return {'\\0\\255', #ARGV[1], ARGV[1]}"],
    ["a hash value", "return redis.sha1hex('a')"],
    ["JSON", "return cjson.encode({a = {1, 2}, b = cjson.decode('[true]')})"],
    ["MessagePack", "return cmsgpack.unpack(cmsgpack.pack({1, 'x'}))"],
    ["bits", "return {bit.band(12, 10), bit.tohex(255)}"],
    ["write, and fails", "redis.call('SET', KEYS[1], 'kept')\nerror('after')"],
    ["too many results", "return {unpack({}, 1, 8000)}"],
    ["a deep recursion", "local function f(n) return 1 + f(n + 1) end return f(1)"],
    ["an unknown flag", "#!lua flags=nosuch\nreturn 1"],
    ["Upstash's flag", "#!lua flags=allow-key-locking\nreturn 1"],
    ["a script that may not write", "#!lua flags=no-writes\nreturn redis.call('SET', KEYS[1], 1)"],
    [
      "numbers as texts",
      "return {string.format('%.0f %.3f %g', 1700000000123, 2 / 3, 1e-7), 1e15 / 7 .. ''}",
    ],
    ["a wrong argument of string.rep", "\nreturn string.rep({}, 3)"],
    ["a wrong argument of a method", "local s = 'x'\nreturn s:rep('y')"],
    ["no text in table.concat", "\n\nreturn table.concat({1, {}, 3})"],
    ["an invalid pattern", "\nreturn string.find('a', '[a')"],
    ["an invalid capture", "local s = 'a'\n\nreturn s:gsub('(a)', '%2')"],
    ["a pattern that ends early", "\nfor _ in string.gmatch('a', '%') do end"],
    ["a wrong argument of string.match", "return string.match(nil, 'a')"],
    ["the time", "return #redis.call('TIME')"],
  ])("run a script alike: %s", async (_, source) => {
    await empty();
    const commands = [
      ["EVAL", source, "1", "k", "\0\xff"],
      ["GET", "k"],
    ];
    expect(await differences(commands)).toEqual([]);
  });
});

/** Redis describes two keys as two ranges or as one, and all keys as one range or as the first and the others. */
const eachKey = (range: KeyRange) => {
  if (range.last === -1 && range.step === 1 && range.first === 1) {
    return [
      { ...range, last: 1 },
      { ...range, first: 2 },
    ];
  }
  return range.last > range.first
    ? Array.from({ length: range.last - range.first + 1 }, (_, index) => ({
        ...range,
        first: range.first + index,
        last: range.first + index,
      }))
    : [range];
};

describe("the commands of the embedded store", () => {
  test("are described as Redis describes them", async () => {
    const connections = await Promise.all([redis.url, server.url].map((url) => connectRedis(url, () => {})));
    const [theirs, ours] = await Promise.all(connections.map((connection) => CommandTable.load(connection)));
    const names = (await connections[1]?.send(["COMMAND", "LIST"])) as readonly Buffer[];
    const known = names.map(String).filter((name) => name !== "command");
    expect(known.length).toBeGreaterThan(100);
    for (const name of known) {
      const [info, expected] = [ours?.find(name), theirs?.find(name)];
      const [described, same] = [info, expected].map((one) => ({
        ...one,
        keys: one?.keys?.flatMap(eachKey),
      }));
      expect({ ...described, container: same?.container }, name).toEqual(same);
    }
    for (const connection of connections) connection.close();
  });

  test("are all compared with those of Redis, except a few", async () => {
    const names = (await own.send([["COMMAND", "LIST"]])).match(/^[a-z_]+$/gm) ?? [];
    expect(names.filter((name) => !(name in argumentsOf)).toSorted()).toEqual(NOT_RANDOM.toSorted());
  });
});
