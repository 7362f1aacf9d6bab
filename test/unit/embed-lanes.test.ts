import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { keyLocking } from "../../src/kernel/transport.ts";
import { freeNames } from "../../tools/lua/scopes.ts";
import { parseLua } from "../../tools/lua/text.ts";
import { modulesOf } from "../../tools/lua/modules.ts";
import { scripts } from "../support/bindings.ts";
import { embeddedScripts } from "../support/embedded.ts";
import { generatedFolder } from "../../tools/lua/files.ts";
import { scriptsOf, withoutPlainLanes } from "../support/lanes.ts";
import { useRig } from "../support/rig.ts";

const rig = useRig();
const send = (command: readonly string[]) => rig.command(...command);

test.for(scripts.map((script) => [script.name, script] as const))(
  "the SHA-1 of %s is the one that Redis computes",
  async ([, { source, sha1, keyLockingSha1 }]) => {
    expect(await send(["SCRIPT", "LOAD", source])).toBe(sha1);
    expect(keyLockingSha1).toBe(createHash("sha1").update(`${keyLocking}${source}`).digest("hex"));
  },
);

describe("with the plain lanes off", () => {
  const files = {
    shared: [
      { file: "_lane.lua", text: "local PLAIN = true\n" },
      { file: "_other.lua", text: "local function rare(n)\n  return n * 20\nend\n" },
    ],
    scripts: [
      {
        file: "lanes.lua",
        text: "if PLAIN and KEYS[1] then\n  return 'plain'\nend\nreturn rare(1)",
      },
    ],
  };

  test("no call takes a plain lane", async () => {
    const asked = ["1", "k"];
    const plain = (await embeddedScripts(files))["lanes"];
    const full = (await embeddedScripts(withoutPlainLanes(files)))["lanes"];
    expect(await send(["EVAL", plain?.source ?? "", ...asked])).toBe("plain");
    expect(await send(["EVAL", full?.source ?? "", ...asked])).toBe(20);
    expect(await send(["EVALSHA", full?.sha1 ?? "", ...asked])).toBe(20);
    expect(full?.source).toBe(plain?.source.replace("local PLAIN=true\n", "local PLAIN=false\n"));
  });

  test.for(["", "local PLAIN = false\n", "local PLAIN, B = true\n", "local PLAIN = 1\n"])(
    "a prelude that begins with %j is refused",
    (text) => {
      const other = { shared: [{ file: "_prelude.lua", text }], scripts: [] };
      expect(() => withoutPlainLanes(other)).toThrow(
        "lua/: no lane can be switched off without `local PLAIN = true`",
      );
    },
  );

  test("SLUICE_LANES replaces only the modules of the scripts", () => {
    const file = `${generatedFolder}parts/plain.gen.ts`;
    expect(scriptsOf(file, {})).toBeUndefined();
    const full = scriptsOf(file, { SLUICE_LANES: "full" });
    expect([full?.includes("local PLAIN=false"), full?.includes("local PLAIN=true")]).toEqual([true, false]);
    expect(scriptsOf("src/index.ts", { SLUICE_LANES: "full" })).toBeUndefined();
    expect(() => scriptsOf("src/index.ts", { SLUICE_LANES: "plain" })).toThrow(
      "SLUICE_LANES: must be full, or not set",
    );
  });
});

describe("Lua's limits for one function", () => {
  const checkLimits = (text: string) => freeNames("a.lua", parseLua({ file: "a.lua", text }).body);
  const names = (count: number) => Array.from({ length: count }, (_, i) => `v${i}`);
  const locals = (count: number) => names(count).map((name) => `local ${name} = 1`);
  const within = (text: readonly string[]) => ["local function f()", ...text, "end", "return 1"].join("\n");

  /** A function with `own` upvalues, and one in it with `inner` more. */
  const upvalues = (own: number, inner: number, more = "") =>
    [
      ...locals(own + inner),
      "local function f()",
      ...names(own),
      `return (function() return ${["1", ...names(own + inner).slice(own)].join(" + ")} end)()${more}`,
      "end",
      "return 1",
    ]
      .map((line) => (/^v\d+$/.test(line) ? `${line} = 2` : line))
      .join("\n");

  const parameters = `local function f(a, b)\n${locals(199).join("\n")}\nend\nreturn 1`;
  test.for([
    ["200 locals", [...locals(200), "return 1"].join("\n"), undefined],
    ["201 locals", [...locals(201), "return 1"].join("\n"), "the text has 201 locals, and Lua allows 200"],
    ["200 twice", within(["do", ...locals(200), "end", ...locals(200)]), undefined],
    ["one more in a numeric loop", within([...locals(197), "for i = 1, 2 do end"]), "f has 201 locals"],
    ["in a generic loop", within([...locals(196), "for a, b in pairs({}) do end"]), "f has 201 locals"],
    ["one more with parameters", parameters, "f has 201 locals"],
    ["60 upvalues", upvalues(30, 30), undefined],
    ["61 upvalues", upvalues(30, 31), "f has 61 upvalues, and Lua allows 60"],
    ["61 in an inner one", upvalues(0, 61), "the function at line 63 has 61 upvalues"],
  ] as const)("%s", async ([, text, why]) => {
    const loaded = send(["SCRIPT", "LOAD", text]);
    if (why === undefined) {
      checkLimits(text);
      await loaded;
    } else {
      expect(() => checkLimits(text)).toThrow(`a.lua: ${why}`);
      await expect(loaded).rejects.toThrow(/too many local variables|more than (?:60|200)/);
    }
  });

  test("the gateway's `redis` counts as one more upvalue", () => {
    const text = upvalues(30, 30, ", redis");
    expect(() => checkLimits(text)).toThrow("f has 61 upvalues");
  });

  test("they hold for a script with its parts", () => {
    const text = locals(150).join("\n").replaceAll("v", "p");
    const files = (script: string) => ({
      shared: [{ file: "_prelude.lua", text }],
      scripts: [{ file: "a.lua", text: script }],
    });
    const all = names(150).join(", ").replaceAll("v", "p");
    expect(() => modulesOf(files([...locals(51), `return ${all}`].join("\n")))).toThrow(
      "a.lua: the text has 201 locals",
    );
    expect(() => modulesOf(files(`local function f()\nreturn ${all}\nend`))).toThrow(
      "a.lua: f has 150 upvalues",
    );
  });
});
