import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";

const MEGABYTE = "local s = ('x'):rep(1024):rep(1024)\n";

/**
 * What each script replies, or how it fails: to a database, or with a tenth of its steps to an interpreter of its own.
 * They run in a process of its own, which can be ended: a script without limits blocks its process.
 */
function replies(of: "database" | "interpreter", scripts: readonly string[]): unknown[] {
  const source = (path: string) => JSON.stringify(new URL(`../../src/embedded/${path}`, import.meta.url));
  const program = `
    import { EmbeddedDatabase } from ${source("index.ts")};
    import { LuaEngine } from ${source("lua/engine.ts")};
    const database = new EmbeddedDatabase();
    const run = {
      database: (script) => database.call("EVAL", script, "0"),
      interpreter(script) {
        const engine = new LuaEngine(() => null, 50_000_000);
        engine.load("sha", script);
        return [1, 2, 3].map(() => engine.run("sha", [], []).reply);
      },
    };
    const replies = ${JSON.stringify(scripts)}.map((script) => {
      try {
        return run.${of}(script);
      } catch ({ name, message, line }) {
        return [name, message.replace(/[0-9a-f]{40}/, "SHA"), line ?? ""].join(" ").trim();
      }
    });
    process.stdout.write(JSON.stringify(replies));
  `;
  const { signal, stdout, stderr } = spawnSync(process.execPath, ["--input-type=module", "--eval", program], {
    encoding: "utf8",
    timeout: 60_000,
    killSignal: "SIGKILL",
  });
  expect({ signal, stderr }).toEqual({ signal: null, stderr: "" });
  return JSON.parse(stdout) as unknown[];
}

test("a script is ended if it takes too many steps, wherever it takes them; each has all its steps", () => {
  const endless = [
    ["\nreturn #('x'):rep(2e9)", 2],
    ["local s, t = ('x'):rep(1024), {}\nfor i = 1, 1e6 do t[i] = s end\nreturn #table.concat(t)", 3],
    ["\n\nreturn string.find(('a'):rep(300), '.-.-.-.-b')", 3],
    ["local s = ('a'):rep(300)\nfor _ in s:gmatch('.-.-.-.-b') do end", 2],
    ["local f = coroutine.wrap(function() string.find(('a'):rep(300), '.-.-.-.-b') end)\nf()", 2],
    ["local s = ('a'):rep(1e6)\nreturn s:find(('a'):rep(5e5) .. 'b', 1, true)", 2],
    ["while true do\npcall(function() while true do end end) end", 2],
    [`${MEGABYTE}for i = 1, 1e6 do\nlocal t = s .. i end`, 3],
    [`${MEGABYTE}for i = 1, 1e6 do\nredis.sha1hex(s) end`, 3],
  ] as const;
  expect(replies("interpreter", [...endless.map(([script]) => script), "return #('x'):rep(2e6)"])).toEqual([
    ...endless.map(([, line]) => `ScriptKilled ERR Script killed by limit of 50 million steps ${line}`),
    [2e6, 2e6, 2e6],
  ]);
});

test("a script that is ended keeps what it wrote, and the next one runs", () => {
  const ended = [
    [
      "while true do\npcall(function() while true do end end) end",
      "Script killed by limit of 500 million steps",
    ],
    ["\nreturn string.find(('a'):rep(1e6), ('a?'):rep(1e5) .. 'b')", "C stack overflow"],
    ["local f\nf = function() return (('a'):gsub('a', f)) end\nf()", "C stack overflow"],
  ] as const;
  const scripts = ended.flatMap(([script], i) => [
    `redis.call('SET', 'key', 'kept${i}') ${script}`,
    "return redis.call('GET', 'key')",
  ]);
  const nested = `local calls = 0
    local f
    f = function()
      calls = calls + 1
      return calls < 190 and ('a'):gsub('a', f) or 'end'
    end
    return f()`;
  const wrong = [
    "return { unpack({}, 1, 1e8) }",
    "return string.format('%999999d', 1)",
    "local s = 'x' while true do s = s .. s end",
  ];
  expect(replies("database", [...scripts, ...wrong, nested, nested])).toEqual([
    ...ended.flatMap(([, error], i) => [
      `ReplyError ERR ${error} script: SHA, on @user_script:2.`,
      `kept${i}`,
    ]),
    "ReplyError ERR user_script:1: too many results to unpack script: SHA, on @user_script:1.",
    "ReplyError ERR user_script:1: invalid format (width or precision too long) script: SHA, on @user_script:1.",
    "ReplyError ERR not enough memory",
    // 190 functions of C within each other do no harm.
    "end",
    "end",
  ]);
});
