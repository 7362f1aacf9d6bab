import { spawnSync } from "node:child_process";
import { describe, expect, test } from "vitest";

const EMBEDDED = new URL("../../src/embedded/index.ts", import.meta.url);
const TEN_MEGABYTES = "local s = ('x'):rep(1024):rep(10240)\n";
const STEPS = "ERR Script killed by limit of 500 million steps";
const STACK = "ERR C stack overflow";

/** In a process of its own, which can be ended: a script without limits blocks its process. */
function replies(scripts: readonly string[]): unknown[] {
  const program = `
    import { EmbeddedDatabase } from ${JSON.stringify(EMBEDDED)};
    const database = new EmbeddedDatabase();
    const replies = ${JSON.stringify(scripts)}.map((script) => {
      try {
        return database.call("EVAL", script, "0");
      } catch (error) {
        return error.name + " " + error.message.replace(/[0-9a-f]{40}/, "SHA");
      }
    });
    process.stdout.write(JSON.stringify(replies));
  `;
  const options = { encoding: "utf8", timeout: 60_000, killSignal: "SIGKILL" } as const;
  const { signal, stdout, stderr } = spawnSync(
    process.execPath,
    ["--input-type=module", "--eval", program],
    options,
  );
  expect({ signal, stderr }).toEqual({ signal: null, stderr: "" });
  return JSON.parse(stdout) as unknown[];
}

describe("a script of the embedded store is ended, and the next one runs", () => {
  test.each([
    ["a long string", "\nreturn #('x'):rep(2e9)", STEPS, 2],
    [
      "a long list as a text",
      "local s, t = ('x'):rep(1024), {}\nfor i = 1, 1e6 do t[i] = s end\nreturn #table.concat(t)",
      STEPS,
      3,
    ],
    [
      "a pattern that has many ways to match",
      "\n\nreturn string.find(('a'):rep(300), '.-.-.-.-b')",
      STEPS,
      3,
    ],
    ["the same for each match", "local s = ('a'):rep(300)\nfor _ in s:gmatch('.-.-.-.-b') do end", STEPS, 2],
    [
      "the same in a coroutine",
      "local f = coroutine.wrap(function() string.find(('a'):rep(300), '.-.-.-.-b') end)\nf()",
      STEPS,
      2,
    ],
    [
      "a search without a pattern",
      "local s = ('a'):rep(1e6)\nreturn s:find(('a'):rep(5e5) .. 'b', 1, true)",
      STEPS,
      2,
    ],
    ["errors that it catches", "while true do\npcall(function() while true do end end) end", STEPS, 2],
    ["joined strings", `${TEN_MEGABYTES}for i = 1, 1e6 do\nlocal t = s .. i end`, STEPS, 3],
    ["hash values", `${TEN_MEGABYTES}for i = 1, 1e6 do\nredis.sha1hex(s) end`, STEPS, 3],
    ["a pattern of many parts", "\nreturn string.find(('a'):rep(1e6), ('a?'):rep(1e5) .. 'b')", STACK, 2],
    [
      "functions of C within each other",
      "local f\nf = function() return (('a'):gsub('a', f)) end\nf()",
      STACK,
      2,
    ],
  ])("%s", (_, script, error, line) => {
    const write = "redis.call('SET', 'key', 'kept') ";
    expect(replies([write + script, "return redis.call('GET', 'key')", "return 7"])).toEqual([
      `ReplyError ${error} script: SHA, on @user_script:${line}.`,
      "kept",
      7,
    ]);
  });

  test("many results and wide formats", () => {
    expect(replies(["return { unpack({}, 1, 1e8) }", "return string.format('%999999d', 1)"])).toEqual([
      "ReplyError ERR user_script:1: too many results to unpack script: SHA, on @user_script:1.",
      "ReplyError ERR user_script:1: invalid format (width or precision too long) script: SHA, on @user_script:1.",
    ]);
  });

  test("a text that grows until there is no memory", () => {
    expect(replies(["local s = 'x' while true do s = s .. s end", "return 7"])).toEqual([
      "ReplyError ERR not enough memory",
      7,
    ]);
  });
});

test("190 functions of C within each other do no harm", () => {
  const script = `local calls = 0
    local f
    f = function()
      calls = calls + 1
      return calls < 190 and ('a'):gsub('a', f) or 'end'
    end
    return f()`;
  expect(replies([script, script])).toEqual(["end", "end"]);
});

test("each script has all its steps", () => {
  const script = "return #('x'):rep(2e7)";
  expect(replies(Array.from({ length: 3 }, () => script))).toEqual(Array.from({ length: 3 }, () => 2e7));
});
