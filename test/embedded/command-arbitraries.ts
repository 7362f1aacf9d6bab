import * as fc from "fast-check";

/** A command as words whose characters are bytes. */
export type RawCommand = readonly string[];

const anyOf = (words: string, ...others: string[]) => fc.constantFrom(...words.split(" "), ...others);
const small = (most: number) => fc.integer({ min: -most, max: most }).map(String);

const keys = ["a", "b", "c", "\0\xff", "d"];
const key = fc.constantFrom(...keys);
const field = anyOf("f g F 10 ~x", "", "\0", "\xc3(", "long".repeat(12));
const value = fc.oneof(
  anyOf("v 0 7 -3 007 1.5 9223372036854775807 -9223372036854775808", "", "\0\xff\x80"),
  small(20),
);
const integer = fc.oneof(
  { weight: 5, arbitrary: small(6) },
  {
    weight: 1,
    arbitrary: anyOf("x 1.0 +1 01 9223372036854775807 9223372036854775808 -9223372036854775808", "", " 1"),
  },
);
const score = fc.oneof(
  { weight: 4, arbitrary: small(3) },
  {
    weight: 2,
    arbitrary: anyOf("1.5 0.1 3.3 1e3 1e-7 1e300 1700000000000.5 9007199254740993 12345678901234567890"),
  },
  { weight: 1, arbitrary: anyOf("inf -inf +Infinity nan x 1x 0x10 .5 5. 1e400 1e-400", "", " 1") },
);
const scoreEnd = fc.oneof(
  score,
  score.map((text) => `(${text}`),
  fc.constantFrom("-inf", "+inf", "(1"),
);
const lexEnd = fc.oneof(
  fc.constantFrom("-", "+", "[", "(", "x", "[\0", "(\xff"),
  field.map((text) => `[${text}`),
  field.map((text) => `(${text}`),
);
const limit = fc.tuple(integer, integer).map(([offset, count]) => ["LIMIT", offset, count]);

const word = (...words: string[]) => fc.constantFrom(...words).map((one) => [one]);
const one = (text: fc.Arbitrary<string>) => text.map((word) => [word]);
const many = (text: fc.Arbitrary<string>, most = 4) => fc.array(text, { minLength: 1, maxLength: most });
const pairs = (first: fc.Arbitrary<string>, second: fc.Arbitrary<string>) =>
  fc.array(fc.tuple(first, second), { minLength: 1, maxLength: 3 }).map((all) => all.flat());
const maybe = (words: fc.Arbitrary<string[]>) => fc.oneof(fc.constant<string[]>([]), words);
const someOf = (...options: fc.Arbitrary<string[]>[]) =>
  fc.tuple(...options.map((option) => fc.option(option, { nil: [] }))).map((all) => all.flat());

const far = String(Date.UTC(2100, 0));
const time = fc.constantFrom("100000", "-1", "0", "x", "9223372036854775807", "50000");
const farTime = fc.constantFrom(far, "1", "0", "-5", "x", "9223372036854775808");
const expiryOptions = someOf(word("NX", "xx", "GT", "LT", "foo"), word("GT", "NX"));

/** Keys behind their number, which is mostly right. */
const counted = fc
  .tuple(
    fc.array(key, { minLength: 1, maxLength: 3 }),
    fc.constantFrom<number | string>(...Array.from({ length: 12 }, () => 0), 1, -1, "0", "x", "-3"),
  )
  .map(([keys, more]) => [typeof more === "string" ? more : String(keys.length + more), ...keys]);
const member = fc.oneof(field, value);
/** How several sorted sets become one: a weight for each of one to three. */
const combining = someOf(
  fc.array(score, { minLength: 1, maxLength: 3 }).map((weights) => ["WEIGHTS", ...weights]),
  fc.tuple(fc.constantFrom("AGGREGATE", "aggregate", "x"), fc.constantFrom("SUM", "min", "MAX", "x")),
);
// Without ALPHA, whose order depends on the locale of the server.
const sortOptions = someOf(
  fc.oneof(
    fc.tuple(fc.constant("BY"), fc.constantFrom("*", "x*", "*->f", "b->*")),
    // Not sorted, and so not limited: sets have an order of their own.
    fc.tuple(fc.constant("BY"), fc.constant("#")),
    limit,
  ),
  word("DESC", "asc", "x"),
  fc.tuple(fc.constant("GET"), fc.constantFrom("#", "*", "a", "c*->f", "*->g", "*->")),
);

/** Commands with the same arguments. */
const same = (names: string, ...args: readonly fc.Arbitrary<string[]>[]) =>
  Object.fromEntries(names.split(" ").map((name) => [name, args]));

/** The arguments of each command. Their order and number are mostly those that the command takes. */
export const argumentsOf: Readonly<Record<string, readonly fc.Arbitrary<string[]>[]>> = {
  ...same(
    "get getdel strlen incr decr hgetall hlen hkeys hvals llen zcard smembers scard type ttl expiretime persist",
    one(key),
  ),
  set: [
    one(key),
    one(value),
    someOf(word("NX", "XX", "nx"), word("GET"), word("KEEPTTL"), fc.tuple(fc.constantFrom("EX", "PX"), time)),
  ],
  ...same("setnx getset append", one(key), one(value)),
  ...same("setex psetex", one(key), one(time), one(value)),
  ...same("incrby decrby lindex", one(key), one(integer)),
  ...same("mget sinter sunion sdiff del unlink exists touch", many(key)),
  ...same("mset msetnx", pairs(key, value)),
  ...same("getrange substr lrange ltrim zremrangebyrank", one(key), one(integer), one(integer)),
  getex: [
    one(key),
    maybe(
      fc.oneof(
        word("PERSIST", "x"),
        fc.tuple(fc.constantFrom("EX", "px"), time),
        fc.tuple(fc.constantFrom("EXAT", "pxat"), fc.constantFrom("4102444800000", "0", "-1", "x")),
      ),
    ),
  ],
  incrbyfloat: [one(key), one(score)],
  lcs: [
    one(key),
    one(key),
    someOf(
      word("LEN", "x"),
      word("idx"),
      word("WITHMATCHLEN"),
      integer.map((length) => ["MINMATCHLEN", length]),
    ),
  ],
  setrange: [one(key), one(fc.constantFrom("0", "2", "-1", "x", "5")), one(value)],
  ...same("hset hmset", one(key), pairs(field, value)),
  hsetnx: [one(key), one(field), one(value)],
  ...same("hget hexists hstrlen zscore zrank zrevrank", one(key), one(field)),
  ...same("hmget hdel zrem zmscore", one(key), many(field)),
  hincrby: [one(key), one(field), one(integer)],
  hincrbyfloat: [one(key), one(field), one(score)],
  hscan: [
    one(key),
    word("0", "x", "-1"),
    someOf(
      fc.tuple(fc.constant("COUNT"), integer),
      fc.tuple(fc.constant("MATCH"), fc.constantFrom("*", "f*", "[a-g]", "[^f]", "\\f", "?", "1?")),
    ),
  ],
  ...same("lpush rpush lpushx rpushx", one(key), many(value)),
  ...same("lpop rpop zpopmin zpopmax", one(key), maybe(one(integer))),
  ...same("lset lrem", one(key), one(integer), one(value)),
  lpos: [
    one(key),
    one(value),
    someOf(
      // Redis 7.0 accepts the least integer, and later ones refuse it.
      integer.filter((rank) => rank !== "-9223372036854775808").map((rank) => ["RANK", rank]),
      integer.map((count) => ["count", count]),
      integer.map((length) => ["MAXLEN", length]),
    ),
  ],
  lmpop: [counted, word("LEFT", "right", "x"), maybe(integer.map((count) => ["COUNT", count]))],
  linsert: [one(key), word("BEFORE", "after", "x"), one(value), one(value)],
  lmove: [one(key), one(key), word("LEFT", "right", "x"), word("LEFT", "RIGHT")],
  ...same("rpoplpush rename renamenx", one(key), one(key)),
  zadd: [one(key), someOf(word("NX", "XX"), word("GT", "LT"), word("CH"), word("INCR")), pairs(score, field)],
  zincrby: [one(key), one(score), one(field)],
  zrange: [
    one(key),
    fc.oneof(fc.tuple(integer, integer), fc.tuple(scoreEnd, scoreEnd), fc.tuple(lexEnd, lexEnd)),
    someOf(word("BYSCORE", "bylex"), word("REV"), limit, word("WITHSCORES")),
  ],
  zrevrange: [one(key), one(integer), one(integer), maybe(word("WITHSCORES", "x"))],
  zrangebyscore: [one(key), one(scoreEnd), one(scoreEnd), someOf(word("WITHSCORES"), limit)],
  zrevrangebyscore: [one(key), one(scoreEnd), one(scoreEnd), someOf(limit, word("withscores"))],
  ...same("zrangebylex zrevrangebylex", one(key), one(lexEnd), one(lexEnd), maybe(limit)),
  ...same("zcount zremrangebyscore", one(key), one(scoreEnd), one(scoreEnd)),
  ...same("zlexcount zremrangebylex", one(key), one(lexEnd), one(lexEnd)),
  zmpop: [counted, word("MIN", "max", "x"), maybe(integer.map((count) => ["COUNT", count]))],
  zunion: [counted, combining, maybe(word("WITHSCORES"))],
  zinter: [counted, combining, maybe(word("withscores"))],
  zdiff: [counted, maybe(word("WITHSCORES", "x"))],
  ...same("zintercard sintercard", counted, maybe(integer.map((most) => ["LIMIT", most]))),
  zunionstore: [one(key), counted, combining],
  zinterstore: [one(key), counted, combining, maybe(word("WITHSCORES"))],
  zdiffstore: [one(key), counted],
  zrangestore: [
    one(key),
    one(key),
    fc.oneof(fc.tuple(integer, integer), fc.tuple(scoreEnd, scoreEnd), fc.tuple(lexEnd, lexEnd)),
    someOf(word("BYSCORE", "bylex"), word("REV"), limit),
    fc.constantFrom<string[]>([], [], [], ["WITHSCORES"]),
  ],
  ...same("sadd srem smismember", one(key), many(member)),
  sismember: [one(key), one(member)],
  smove: [one(key), one(key), one(member)],
  ...same("sinterstore sunionstore sdiffstore", one(key), many(key)),
  sscan: [
    one(key),
    word("0", "x"),
    maybe(fc.tuple(fc.constantFrom("COUNT", "MATCH", "x"), fc.constantFrom("1000", "*", "f"))),
  ],
  sort: [one(key), sortOptions, fc.oneof(fc.constant<string[]>([]), fc.tuple(fc.constantFrom("STORE"), key))],
  sort_ro: [one(key), sortOptions, fc.constantFrom<string[]>([], [], [], ["STORE", "a"])],
  zscan: [
    one(key),
    word("0", "x"),
    maybe(fc.tuple(fc.constantFrom("COUNT", "MATCH", "x"), fc.constantFrom("2", "*", "f"))),
  ],
  copy: [one(key), one(key), maybe(word("REPLACE", "x"))],
  dbsize: [],
  ...same("expire pexpire", one(key), one(time), expiryOptions),
  expireat: [one(key), one(fc.constantFrom("4102444800", "1", "-5", "x")), expiryOptions],
  pexpireat: [one(key), one(farTime), expiryOptions],
  flushall: [maybe(word("SYNC", "async", "x"))],
  flushdb: [maybe(word("SYNC"))],
  ping: [maybe(one(value))],
  echo: [one(value)],
  select: [word("0", "x", "-1")],

  exec: [],
  discard: [],
  publish: [one(value), one(value)],
  nosuch: [many(value)],
  object: [word("nosuch"), one(key)],
  command: [
    word("GETKEYS"),
    word("HSET", "mset", "eval", "ping", "nosuch"),
    fc.constantFrom(["a", "b", "c"], ["x", "1", "k"]),
  ],
};

const plain: fc.Arbitrary<RawCommand> = fc.constantFrom(...Object.keys(argumentsOf)).chain((name) =>
  fc
    .tuple(
      fc.constantFrom(name, name.toUpperCase()),
      fc.tuple(...(argumentsOf[name] ?? [])),
      // Now and then too few or too many words.
      fc.constantFrom<"as it is" | "cut" | "longer">(
        ...Array.from({ length: 18 }, () => "as it is" as const),
        "cut",
        "longer",
      ),
    )
    .map(([spelled, args, change]) => {
      const words = [spelled, ...args.flat()];
      if (change === "cut") return words.slice(0, -1);
      return change === "longer" ? [...words, "x"] : words;
    })
    .filter((words) => words.length > 0),
);

/**
 * A reply in which integers at the ends of their range are alike. In a script such an integer is a double beyond the
 * range, and C does not say what becomes of it.
 */
const withoutEnds = (reply: string) => reply.replaceAll(/:-?922337203685477580[78]\r/g, ":end\r");

/** The commands whose replies are sets, in no order. */
const UNORDERED = /^(?:smembers|sinter|sunion|sdiff|sscan)$/i;

/** The words of a command, which a script may pass on. */
const passedOn = (command: RawCommand): RawCommand => (command[0] === "EVAL" ? command.slice(3) : command);

/** The key of a hash whose fields a command reads in their order: Redis keeps one only in small hashes. */
export function orderedHash(command: RawCommand): string | undefined {
  const [name = "", hash] = passedOn(command);
  return /^(?:hgetall|hkeys|hvals)$/i.test(name) ? hash : undefined;
}

/**
 * What must be the same in a reply to a command.
 * @param isLarge whether Redis has its hash as a table
 */
export function comparable(command: RawCommand, reply: string, isLarge: boolean): string {
  const words = passedOn(command);
  const same = words === command ? reply : withoutEnds(reply);
  const isUnsorted = /^sort/i.test(words[0] ?? "") && words.join(" ").includes("BY #");
  if (!isUnsorted && !isLarge && !UNORDERED.test(words[0] ?? "")) return same;
  return same
    .split(/(?=[$:*]-?\d+\r\n)/)
    .toSorted()
    .join("");
}

/** Scripts that pass a command on, and its reply or error back. */
const passingOn = [
  "return redis.call(unpack(ARGV))",
  "return redis.pcall(unpack(ARGV))",
  "local reply = redis.pcall(unpack(ARGV))\nreturn {type(reply), reply, 1}",
  "redis.call('SET', 'before', 'x')\n\nlocal reply = redis.call(unpack(ARGV)) return reply",
  "local ok, reply = pcall(redis.call, unpack(ARGV)) if ok then return reply end return {type(reply), reply}",
];

/** A command, by itself or from a script. */
export const anyCommand: fc.Arbitrary<RawCommand> = fc.oneof(
  { weight: 4, arbitrary: plain },
  {
    weight: 1,
    arbitrary: fc
      .tuple(fc.constantFrom(...passingOn), plain)
      .map(([script, command]) => ["EVAL", script, "0", ...command]),
  },
);
