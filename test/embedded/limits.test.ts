import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";

const MEGABYTE = "local s = ('x'):rep(1024):rep(1024)\n";

/**
 * What a database replies to each script, or how it fails. They run in a process of its own, which can be ended: a
 * script without limits blocks its process.
 * @param steps how many a script may take, if not as many as a user's
 */
function replies(scripts: readonly string[], steps?: number): unknown[] {
  const source = (path: string) => JSON.stringify(new URL(`../../src/embedded/${path}`, import.meta.url));
  const program = `
    import { EmbeddedDatabase } from ${source("index.ts")};
    import { LuaEngine } from ${source("lua/engine.ts")};
    import { interpreter } from ${source("scripts.ts")};
    interpreter.start = (call) => new LuaEngine(call, ${steps});
    const database = new EmbeddedDatabase();
    const replies = ${JSON.stringify(scripts)}.map((script) => {
      try {
        return database.call("EVAL", script, "0");
      } catch ({ name, message }) {
        return name + " " + message.replace(/[0-9a-f]{40}/, "SHA");
      }
    });
    process.stdout.write(JSON.stringify(replies));
  `;
  const { signal, stdout, stderr } = spawnSync(process.execPath, ["--input-type=module", "--eval", program], {
    encoding: "utf8",
    timeout: 110_000,
    killSignal: "SIGKILL",
  });
  expect({ signal, stderr }).toEqual({ signal: null, stderr: "" });
  return JSON.parse(stdout) as unknown[];
}

const STEPS = "Script killed by limit of 50 million steps";
const STACK = "C stack overflow";

test("a script is ended where it takes too many steps or calls, keeps what it wrote, and the next one runs", () => {
  const ended = [
    ["\nreturn #('x'):rep(2e9)", STEPS, 2],
    ["local s, t = ('x'):rep(1024), {}\nfor i = 1, 1e6 do t[i] = s end\nreturn #table.concat(t)", STEPS, 3],
    ["\n\nreturn string.find(('a'):rep(300), '.-.-.-.-b')", STEPS, 3],
    ["local s = ('a'):rep(300)\nfor _ in s:gmatch('.-.-.-.-b') do end", STEPS, 2],
    ["local f = coroutine.wrap(function() string.find(('a'):rep(300), '.-.-.-.-b') end)\nf()", STEPS, 2],
    ["local s = ('a'):rep(1e6)\nreturn s:find(('a'):rep(5e5) .. 'b', 1, true)", STEPS, 2],
    ["while true do\npcall(function() while true do end end) end", STEPS, 2],
    [`${MEGABYTE}for i = 1, 1e6 do\nlocal t = s .. i end`, STEPS, 3],
    [`${MEGABYTE}for i = 1, 1e6 do\nredis.sha1hex(s) end`, STEPS, 3],
    ["\nreturn string.find(('a'):rep(1e6), ('a?'):rep(1e5) .. 'b')", STACK, 2],
    ["local f\nf = function() return (('a'):gsub('a', f)) end\nf()", STACK, 2],
  ] as const;
  const scripts = ended.flatMap(([script], i) => [
    `redis.call('SET', 'key', 'kept${i}') ${script}`,
    "return redis.call('GET', 'key')",
  ]);
  expect(replies(scripts, 50_000_000)).toEqual(
    ended.flatMap(([, error, line], i) => [
      `ReplyError ERR ${error} script: SHA, on @user_script:${line}.`,
      `kept${i}`,
    ]),
  );
});

test("a script has 500 million steps, and gets an error for too many results, too wide a format or a lack of memory", () => {
  const most = "return #('x'):rep(2e7)";
  const nested = `local calls = 0
    local f
    f = function()
      calls = calls + 1
      return calls < 190 and ('a'):gsub('a', f) or 'end'
    end
    return f()`;
  const scripts = [
    "while true do pcall(function() while true do end end) end",
    most,
    most,
    most,
    "return { unpack({}, 1, 1e8) }",
    "return string.format('%999999d', 1)",
    "local s = 'x' while true do s = s .. s end",
    // 190 functions of C within each other do no harm.
    nested,
    nested,
  ];
  expect(replies(scripts)).toEqual([
    "ReplyError ERR Script killed by limit of 500 million steps script: SHA, on @user_script:1.",
    2e7,
    2e7,
    2e7,
    "ReplyError ERR user_script:1: too many results to unpack script: SHA, on @user_script:1.",
    "ReplyError ERR user_script:1: invalid format (width or precision too long) script: SHA, on @user_script:1.",
    "ReplyError ERR not enough memory",
    "end",
    "end",
  ]);
});
