import { basename } from "node:path";
import { describe, expect, test } from "vitest";
import { linkedScripts } from "../../src/lua/linked.gen.ts";
import { readLua } from "../../tools/lua/files.ts";
import { bindings } from "../support/bindings.ts";
import { mostLocals } from "../support/lua-locals.ts";
import { ruleBreaches, topLevelNames } from "../support/lua-rules.ts";
import { portableBreaches } from "../support/portable-lua.ts";

const { shared, scripts } = readLua();
const sharedText = shared.map(({ text }) => text).join("\n");
const names = topLevelNames(sharedText);

describe("the files in lua/ keep the rules that their text can show", () => {
  test.for(shared)("$file", ({ file, text, inLayer }) => {
    const rules = { shared: names, isShared: true, isLayer: inLayer };
    expect(ruleBreaches(basename(file, ".lua"), text, rules)).toEqual([]);
  });

  test.for(scripts)("$file", ({ file, text }) => {
    expect(ruleBreaches(basename(file, ".lua"), text, { shared: names })).toEqual([]);
  });
});

describe("the files in lua/ behave the same in each Lua 5.1 (law 8)", () => {
  test("what scripts share", () => {
    const callers = scripts.map(({ text }) => text);
    expect(portableBreaches(sharedText, callers)).toEqual([]);
  });

  test.for(scripts)("$file", ({ text }) => {
    expect(portableBreaches(text, [sharedText])).toEqual([]);
  });
});

describe("no script has more locals at its top level than each Lua 5.1 has room for (law 8)", () => {
  // GopherLua has 200 registers, for locals and for the values of a statement: these need up to five.
  const MOST = 195;

  test("in the plain and the linked edition", async () => {
    const linked = await Promise.all(Object.values(linkedScripts).map((load) => load()));
    const counts = [...bindings.map(({ script }) => script), ...linked].map(
      ({ name, source }) => [name, mostLocals(source)] as const,
    );
    expect(counts.filter(([, count]) => count > MOST)).toEqual([]);
    expect(Math.max(...counts.map(([, count]) => count))).toBeGreaterThan(150);
  });

  test.for([
    ["local a,b=1,2 local function f(c) local d=c return d end", 3],
    ["local a do local b,c end local d", 3],
    ["local a=function() local b if b then local c end end local d='local e'", 2],
    ["if a then local b elseif c then d=1 end for _,x in ipairs(y) do local z end repeat local w until w", 1],
    ["local a\nb=1 local c=a,b", 2],
  ] as const)("%s -> %s", ([text, count]) => {
    expect(mostLocals(text)).toBe(count);
  });
});

describe("a breach of a rule is found", () => {
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
  const check = (text: string) => ruleBreaches("probe", text, { shared: names });

  test("but none in a script that keeps the rules", () => {
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

describe("code that behaves differently in another Lua 5.1 is found", () => {
  const several = "an assignment to several reads what it assigns: make it two";
  const table = "an assignment to several has a table: make it two";
  const call = "an assignment to several has a call that is not the last value: make it two";
  const behind = "an assignment reads what it assigns behind `and` or `or`: use another local, or `if`";
  const kept = "an assignment of `and` or `or` to a local that exists: use `if`, or a local of its own";
  const atEnd = "nil may be put at the end of a list: use append";
  const format = "string.format must be of '%.0f', or of '%0….0f', and of one tonumber(…)";
  const unordered = "pairs without a line above it that says `-- In any order: why`";

  test.for([
    ["list[#list + 1] = id"],
    ["list[#list + 1] = nil", atEnd],
    ["list[#list + 1] = known and id or nil", atEnd],
    ["list[#list + 1] = known and id", atEnd],
    ["list[#list + 1] = known or id"],
    ["at.list[#at.list + 1] = string.match(id, '%d')", atEnd],
    ["local function put(list, a, b) list[#list + 1] = b end put(x, 1) put(x, 1, 2)", atEnd],
    ["local function put(list, a, b) if b ~= nil then list[#list + 1] = b end end put(x, 1)"],
    ["local function put(list, a, b) list[#list + 1] = b end put(x, 1, 2)"],
    [
      "local n = tonumber(string.match(text, '%d+'))",
      "string.match as an argument, which may return nothing: use parentheses",
    ],
    ["local n = tonumber((string.match(text, '%d+')))"],
    ["local n = tonumber(string.match(text, '%d+') or 0)"],
    ["local text = string.format('%.0f', tonumber(score))"],
    ["local text = string.format('%016.0f', tonumber(score))"],
    ["local text = string.format('%.0f', score)", format],
    ["local text = string.format('%d', tonumber(score))", format],
    ["local text = string.format(form, tonumber(score))", format],
    ["local a, b = 1, 2 a, b = a + 1, a", several],
    ["local a, b = 1, 2 a, b = { 'x' }, 3", table],
    ["local a, b = 1, 2 a, b = f(c), 3", call],
    ["local a, b = 1, 2 a, b = 3, f(c)"],
    ["local a, b = {}, 2 at.list, at.count = {}, b"],
    ["local a, b = 1, 2 a, b = math.min(a, b), 1", several],
    ["local a, b = 1, 2 a, b = f(a), a < b and b", several],
    ["local a, b = 1, 2 a, b = a + 1, b + 1"],
    ["local a, b = 1, f(x) a, b = f(x)"],
    ["list[i], list[j] = list[j], list[i]"],
    ["local a a = (b or c) and a or 0", kept],
    ["local a a = b and f(a) or a", kept],
    ["local a a = a and f(g(a, 1))", kept],
    ["local a a = b and a or c", behind],
    ["local a a = b > 0 and a or c"],
    ["local a a = a or f(b)", kept],
    ["local a a = list[1] and b", kept],
    ["local a a = b and not c", kept],
    ["local a a = f(b) > 1 and 'full'", kept],
    ["local a, b a, b = 1, c or {}", kept],
    ["local a a = b and c == ''"],
    ["local a = list[1] and f(b)"],
    ["local a = b and 1 local function f() a = list[1] or c end", kept],
    ["list.at = list[1] and f(b)"],
    ["for id in pairs(ids) do f(id) end", unordered],
    ["-- In any order\nfor id in pairs(ids) do f(id) end", unordered],
    ["-- In any order: each is a key of its own.\nfor id in pairs(ids) do f(id) end"],
    ["local first = next(ids)", "next may only test whether a table is empty"],
    ["if next(ids, id) then f() end", "next may only test whether a table is empty"],
    ["if next(ids) then f() end"],
    [
      "local function f(x) if x then return 1 end return 1, 2 end local a, b = f(x)",
      "f returns 1 of the 2 values that are taken from it",
    ],
    ["local function f(x) if x then return 1, nil end return 1, 2 end local a, b = f(x)"],
    ["local function f(x) if x then return 1 end return 1, 2 end local a = f(x)"],
    [
      "local function g() return 1 end local function f() return g() end local a, b = f()",
      "g returns 1 of the 2 values that are taken from it",
    ],
  ] as const)("%s -> %s", ([text, breach]) => {
    const line = text.split("\n").length;
    expect(portableBreaches(text)).toEqual(breach === undefined ? [] : [`line ${line}: ${breach}`]);
  });

  test("also if a script takes too many values from a function that scripts share", () => {
    const own = "local function f(x) return x end";
    expect(portableBreaches(own, ["local a, b = f(1)"])).toEqual([
      "line 1: f returns 1 of the 2 values that are taken from it",
    ]);
  });
});
