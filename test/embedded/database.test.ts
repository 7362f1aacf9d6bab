import { describe, expect, test } from "vitest";
import { embedded, EmbeddedDatabase, InvalidSnapshot, ReplyError } from "../../src/embedded/index.ts";
import { Queue } from "../../src/index.ts";

const START = 1_700_000_000_000;
const bytes = (...values: number[]) => Uint8Array.from(values);

describe("the clock of a database", () => {
  test("is read by TIME, by scripts and by keys that expire", () => {
    let now = START;
    const database = new EmbeddedDatabase({ now: () => now });
    database.call("SET", "key", "value", "PX", "1000");
    expect(database.call("TIME")).toEqual(["1700000000", "0"]);
    now += 999.5;
    expect(database.call("EVAL", "return redis.call('TIME')", "0")).toEqual(["1700000000", "999500"]);
    expect(database.call("GET", "key")).toBe("value");
    // Redis keeps a key until its last millisecond is over.
    now += 1;
    expect(database.call("GET", "key")).toBe("value");
    expect(database.call("PTTL", "key")).toBe(0);
    now += 0.5;
    expect(database.call("GET", "key")).toBeNull();
    expect(database.call("DBSIZE")).toBe(0);
  });

  test("does not reach a key that was set again without an expiry", () => {
    let now = START;
    const database = new EmbeddedDatabase({ now: () => now });
    for (const key of ["set", "kept"]) database.call("SET", key, "first", "PX", "1000");
    database.call("SET", "set", "second");
    database.call("SET", "kept", "second", "KEEPTTL");
    now += 2_000;
    expect(database.call("MGET", "set", "kept")).toEqual(["second", null]);
  });
});

describe("a snapshot", () => {
  test("holds every key, byte by byte, with its expiry", () => {
    let now = START;
    const database = new EmbeddedDatabase({ now: () => now });
    const all = bytes(...Array.from({ length: 256 }, (_, index) => index));
    database.call("SET", all, all);
    database.call("SET", "short", "lived", "PX", "5000");
    database.call("HSET", "hash", all, "é", "", "");
    database.call("RPUSH", "list", all, "b", "");
    database.call("SADD", "set", all, "b", "");
    database.call("ZADD", "zset", "-inf", all, "0.1", "b", "1e300", "c", "inf", "d");
    const copy = new EmbeddedDatabase({ now: () => now, snapshot: database.snapshot() });
    for (const [name, ...words] of [
      ["GET", all],
      ["PTTL", "short"],
      ["HGETALL", "hash"],
      ["LRANGE", "list", "0", "-1"],
      ["SMEMBERS", "set"],
      ["ZRANGE", "zset", "0", "-1", "WITHSCORES"],
      ["DBSIZE"],
    ] as const) {
      expect(copy.call(name as string, ...words)).toEqual(database.call(name as string, ...words));
    }
    now += 5_001;
    expect(copy.call("EXISTS", "short")).toBe(0);
    expect(new EmbeddedDatabase({ now: () => now, snapshot: copy.snapshot() }).call("DBSIZE")).toBe(5);
  });

  test("that is cut or altered is refused, and the data stays", () => {
    const database = new EmbeddedDatabase();
    database.call("SET", "kept", "value");
    const snapshot = database.snapshot();
    for (const damaged of [
      new Uint8Array(),
      snapshot.subarray(0, 30),
      snapshot.subarray(0, -1),
      snapshot.map((byte, index) => (index === 30 ? byte ^ 1 : byte)),
    ]) {
      expect(() => database.restore(damaged)).toThrow(InvalidSnapshot);
    }
    expect(database.call("GET", "kept")).toBe("value");
  });
});

describe("a scan", () => {
  test.each([
    ["HSCAN", (name: string) => ["HSET", "key", name, "v"], (name: string) => ["HDEL", "key", name]],
    ["SSCAN", (name: string) => ["SADD", "key", name], (name: string) => ["SREM", "key", name]],
    ["ZSCAN", (name: string) => ["ZADD", "key", "1", name], (name: string) => ["ZREM", "key", name]],
    ["SCAN", (name: string) => ["SET", name, "v"], (name: string) => ["DEL", name]],
  ])("by %s returns all that stays, while others come and go", (command, add, remove) => {
    const database = new EmbeddedDatabase();
    const staying = Array.from({ length: 2_000 }, (_, index) => `stays${index}`);
    for (const name of staying) database.call(...add(name));
    for (let index = 0; index < 2_000; index++) database.call(...add(`goes${index}`));
    const found = new Set<string>();
    let [cursor, steps] = ["0", 0];
    do {
      const words = command === "SCAN" ? [command, cursor] : [command, "key", cursor];
      const [next, names] = database.call(...words, "COUNT", "50") as [string, string[]];
      for (const name of names) found.add(name);
      for (let index = 0; index < 40; index++) {
        database.call(...remove(`goes${steps * 40 + index}`));
        database.call(...add(`new${steps * 90 + index}`));
      }
      [cursor, steps] = [next, steps + 1];
    } while (cursor !== "0");
    expect(steps).toBeGreaterThan(20);
    expect(staying.filter((name) => !found.has(name))).toEqual([]);
  });
});

test("a set has its type and encoding, and is dumped and found by its type", () => {
  const database = new EmbeddedDatabase();
  const call = (...words: string[]) => database.call(...words);
  call("SADD", "numbers", "3", "1", "2");
  call("SADD", "words", "a", "b");
  call("SET", "text", "x");
  const restore = "return redis.call('RESTORE', KEYS[2], 0, redis.call('DUMP', KEYS[1]))";
  call("EVAL", restore, "2", "words", "restored");
  const encodings = ["numbers", "restored"].map((key) => call("OBJECT", "ENCODING", key));
  expect([encodings, call("SMEMBERS", "restored")]).toEqual([
    ["intset", "hashtable"],
    ["a", "b"],
  ]);
  const [, found] = call("SCAN", "0", "COUNT", "100", "TYPE", "set") as [string, string[]];
  expect(found.toSorted()).toEqual(["numbers", "restored", "words"]);
});

describe.each([
  ["SRANDMEMBER", ["SADD", "key"], (name: string) => [name]],
  ["HRANDFIELD", ["HSET", "key"], (name: string) => [name, "v"]],
  ["ZRANDMEMBER", ["ZADD", "key"], (name: string) => ["1", name]],
] as const)("%s", (command, add, words) => {
  const names = ["a", "b", "c", "d"];
  const database = new EmbeddedDatabase();
  database.call(...add, ...names.flatMap(words));
  const some = (count: number) => database.call(command, "key", String(count)) as string[];

  test("returns different names, at most all, and with a negative count any", () => {
    expect(names).toContain(database.call(command, "key"));
    expect([some(2).length, new Set(some(2)).size, some(0)]).toEqual([2, 2, []]);
    expect(some(9).toSorted()).toEqual(names);
    expect([some(-9).length, some(-9).every((name) => names.includes(name))]).toEqual([9, true]);
    expect([database.call(command, "none"), database.call(command, "none", "3")]).toEqual([null, []]);
    expect(() => some(-1e12)).toThrow("ERR value is out of range");
  });
});

test("SPOP takes members out until the set is gone", () => {
  const database = new EmbeddedDatabase();
  database.call("SADD", "key", "a", "b", "c");
  const one = database.call("SPOP", "key") as string;
  const popped = [one, ...(database.call("SPOP", "key", "5") as string[])];
  expect([popped.toSorted(), database.call("EXISTS", "key")]).toEqual([["a", "b", "c"], 0]);
  expect([database.call("SPOP", "key"), database.call("SPOP", "key", "1")]).toEqual([null, []]);
});

describe("a script", () => {
  test("gets and returns many megabytes", () => {
    const database = new EmbeddedDatabase();
    const large = new Uint8Array(12_000_000).fill(0xff);
    const script =
      "redis.call('HSET', KEYS[1], 'f', ARGV[1]) return {#ARGV[1], redis.call('HGET', KEYS[1], 'f')}";
    const connection = database.connect({ push: () => {}, close: () => {} });
    const [length, value] = connection.run(["EVAL", script, "1", "key", large]) as [number, string];
    expect([length, value.length, value.charCodeAt(11_999_999)]).toEqual([12_000_000, 12_000_000, 255]);
  });

  test.each([
    "t[1] = t",
    "t[1], t[2] = t, t",
    "t.map = { key = t }",
    "t.map = { [t] = 1 }",
    "t.set = { [t] = true }",
    "t = { map = { key = { t } } } t.map.key[1] = t",
  ])("that returns a table within itself is refused, and the next one runs: %s", (within) => {
    const database = new EmbeddedDatabase();
    const deep = () => database.call("EVAL", `local t = {} ${within} return t`, "0");
    expect(deep).toThrow("ERR reached lua stack limit");
    expect(database.call("EVAL", "return { 1, { 'two', { 3 } } }", "0")).toEqual([1, ["two", [3]]]);
  });

  test("may return tables nested 20 deep", () => {
    const nested = "local t = { 'in' } for _ = 1, 19 do t = { t } end collectgarbage() return t";
    const reply = new EmbeddedDatabase().call("EVAL", nested, "0");
    expect(JSON.stringify(reply)).toBe(`${"[".repeat(20)}"in"${"]".repeat(20)}`);
  });

  test("may only name its keys, if its first line and the database say so", () => {
    const script = "#!lua flags=allow-key-locking\nredis.call('SET', ARGV[1], 'x')\nreturn 'done'";
    const database = new EmbeddedDatabase({ keyLocking: true });
    expect(database.call("EVAL", script, "1", "key", "key")).toBe("done");
    expect(() => database.call("EVAL", script, "1", "key", "other")).toThrow(
      /^ERR Dynamic keys are not allowed .* Key was: other script: /,
    );
    expect(() => new EmbeddedDatabase().call("EVAL", script, "1", "key", "key")).toThrow(ReplyError);
  });

  test("is compiled again after SCRIPT FLUSH, and by each database for itself", async () => {
    const [one, other] = [new EmbeddedDatabase(), new EmbeddedDatabase()];
    const sha = one.call("SCRIPT", "LOAD", "return 'here'") as string;
    expect(one.call("EVALSHA", sha.toUpperCase(), "0")).toBe("here");
    expect(() => other.call("EVALSHA", sha, "0")).toThrow("NOSCRIPT No matching script. Please use EVAL.");
    one.call("SCRIPT", "FLUSH");
    expect(() => one.call("EVALSHA", sha, "0")).toThrow(/^NOSCRIPT/);
    expect(one.call("EVAL", "return 'here'", "0")).toBe("here");
  });
});

test("a queue of 30,000 tasks in groups takes and gives tasks", async () => {
  const transport = embedded(new EmbeddedDatabase());
  const emails = new Queue("emails", { transport });
  const batch = Array.from({ length: 1_000 }, (_, index) => ({ payload: index, group: `g${index % 50}` }));
  for (let sent = 0; sent < 30; sent++) await emails.enqueueMany(batch);
  const tasks = await emails.dequeue({ max: 100 });
  const results = await emails.settle(tasks.map(({ receipt }) => ({ receipt, outcome: "complete" })));
  expect(results.filter(({ ok }) => ok)).toHaveLength(100);
});

describe("the transport in process", () => {
  test("subscribes until its signal aborts, and until it is closed", async () => {
    const database = new EmbeddedDatabase();
    const transport = embedded(database);
    const abort = new AbortController();
    const messages = await transport.subscribe?.("news", { signal: abort.signal });
    database.call("PUBLISH", "news", "é");
    database.call("PUBLISH", "other", "x");
    database.call("PUBLISH", "news", "second");
    const seen: string[] = [];
    for await (const message of messages ?? []) {
      seen.push(message);
      if (seen.length === 2) abort.abort();
    }
    expect(seen).toEqual(["é", "second"]);
    expect(database.call("PUBSUB", "CHANNELS")).toEqual([]);

    const open = await transport.subscribe?.("news");
    await transport.close();
    expect(await open?.[Symbol.asyncIterator]().next()).toEqual({ done: true, value: undefined });
    await expect(transport.send([["GET", "a"]])).rejects.toMatchObject({ code: "redis_unreachable" });
  });

  test("lets timers run, however many calls follow each other", async () => {
    const transport = embedded(new EmbeddedDatabase());
    const timer = { fired: false };
    setTimeout(() => (timer.fired = true), 1);
    for (let calls = 0; calls < 100_000 && !timer.fired; calls++) await transport.send([["GET", "a"]]);
    expect(timer.fired).toBe(true);
  });
});
