import { describe, expect, test } from "vitest";
import { readLua } from "../../tools/embed-lua.ts";
import { lawBreaches, preludeNames } from "../support/lua-rules.ts";

const { prelude, scripts } = readLua();
const names = preludeNames(prelude.text);

describe("the files in lua/ keep the laws that their text can show", () => {
  test("the prelude", () => {
    expect(lawBreaches("_prelude", prelude.text, { prelude: names, isPrelude: true })).toEqual([]);
  });

  test.for(scripts)("$file", ({ file, text }) => {
    expect(lawBreaches(file.replace(".lua", ""), text, { prelude: names })).toEqual([]);
  });
});

describe("a breach is found", () => {
  const good = `-- probe: looks at a queue.
local pending = KEYS[1] -- list  ids
local tasks = KEYS[2] -- hash  records
local limit = tonumber(ARGV[1]) -- at most this many
local rest = ARGV -- then ids
-- Returns {'ok', ...}
--      or {'newer_schema'}

local ids = redis.call('LRANGE', pending, 0, limit)
local first = redis.call('ZRANGE', pending, '-inf', limit, 'BYSCORE', 'LIMIT', '0', '1')
return { 'ok', ids, first, redis.call('HMGET', tasks, unpack(rest)) }
`;
  const check = (text: string) => lawBreaches("probe", text, { prelude: names });

  test("and a script that keeps the laws has none", () => {
    expect(check(good)).toEqual([]);
  });

  test.for([
    ["-- probe: looks", "-- Looks", 'line 1: the first line must be "-- probe: what it does"'],
    ["KEYS[2]", "KEYS[3]", "line 3: KEYS[2] is expected here"],
    [" -- hash  records", "", 'line 3: not of the form "local name = KEYS[n] -- what it is"'],
    ["\nlocal limit", "\n\nlocal limit", "line 5: apart from the contract block"],
    ["-- Returns", "-- Gives", 'no "-- Returns …" below the contract block'],
    ["unpack(rest)", "ARGV[2]", "line 11: ARGV outside the contract block"],
    ["unpack(rest)", "KEYS[1]", "line 11: KEYS outside the contract block"],
    ["'HMGET', tasks, unpack(rest)", "'HGETALL', tasks", "line 11: HGETALL is banned"],
    ["'HMGET', tasks, unpack(rest)", "'LREM', pending, 0, ids[1]", "line 11: LREM is banned"],
    [
      "'HMGET', tasks",
      "'hmget', tasks",
      "line 11: the command of redis.call must be written out, in upper case",
    ],
    ["'HMGET', tasks", "tasks", "line 11: the command of redis.call must be written out, in upper case"],
    ["0, limit)", "0, -1)", "line 9: LRANGE without a bound"],
    ["0, limit)", "'0', '-1')", "line 9: LRANGE without a bound"],
    ["0, limit)", "-1, -1)", undefined],
    ["'HMGET', tasks, unpack(rest)", "'HSCAN', tasks, '0'", "line 11: HSCAN without COUNT"],
    ["'HMGET', tasks, unpack(rest)", "'HSCAN', tasks, '0', 'COUNT', '9'", undefined],
    [", 'LIMIT', '0', '1'", "", "line 10: ZRANGE without a bound"],
    ["'0', '1')", "'0', '-1')", "line 10: ZRANGE without a bound"],
    ["'ok', ids", "tostring(limit)", "line 11: the global tostring is not portable, or not defined"],
    ["'ok', ids", "cjson.encode(ids)", "line 11: the global cjson is not portable, or not defined"],
    ["'ok', ids", "bit.band(1, 2)", "line 11: the global bit is not portable, or not defined"],
    ["local first", "limit, ids = 1, ids\nlocal first", undefined],
    ["local first", "redis = nil\nlocal first", "line 10: a global is assigned"],
  ] as const)("%s -> %s", ([from, to, breach]) => {
    expect(check(good.replace(from, to))).toEqual(breach === undefined ? [] : [breach]);
  });
});
