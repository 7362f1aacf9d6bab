import { createHash } from "node:crypto";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { keyLocking, type Script } from "../../src/queue/transport.ts";
import { embed, generatedFile, readLua, strip } from "../../tools/embed-lua.ts";

const prelude = {
  file: "_prelude.lua",
  text: `-- _prelude: three locals.

-- The base.
local BASE = 10

local function twice(number)
  return number * 2
end

local function large(number)

  return twice(number) > BASE
end
`,
};

/** The script that the generated module exports for this text. */
async function embedded(text: string, file = "try-this.lua"): Promise<Script> {
  const folder = await mkdtemp(join(tmpdir(), "sluice-embed-"));
  try {
    const path = join(folder, "lua.gen.ts");
    await writeFile(path, embed(prelude, [{ file, text }]));
    const module = (await import(/* @vite-ignore */ path)) as Record<string, Script>;
    expect(Object.keys(module)).toEqual(["tryThis"]);
    return module["tryThis"] as Script;
  } finally {
    await rm(folder, { recursive: true });
  }
}

test("lua.gen.ts is current", async () => {
  const { prelude: real, scripts } = readLua();
  expect(await readFile(generatedFile, "utf8")).toBe(embed(real, scripts));
});

test("a script gets the prelude's locals that it uses, and those that they use, in the prelude's order", async () => {
  expect((await embedded("return large(4)")).source).toBe(
    "local BASE = 10\nlocal function twice(number)\nreturn number * 2\nend\n" +
      "local function large(number)\nreturn twice(number) > BASE\nend\nreturn large(4)\n",
  );
  expect((await embedded("return twice(4)")).source).toBe(
    "local function twice(number)\nreturn number * 2\nend\nreturn twice(4)\n",
  );
});

test("a local of the prelude that is only a field, a string or a comment in the script stays out", async () => {
  expect((await embedded("return string.large('twice') -- BASE")).source).toBe(
    "return string.large('twice')\n",
  );
  expect((await embedded("return 'a'..BASE")).source).toBe("local BASE = 10\nreturn 'a'..BASE\n");
});

test("comments, indentation and blank lines go, and strings stay as they are", async () => {
  const script = await embedded(
    "-- try: it\nlocal a = 1 -- one\n\n  -- two\n  if a - -1 > 0 then\n\treturn '-- no\\' --', \"  `${x}\\\\\" --'\nend\n",
  );
  expect(script.source).toBe("local a = 1\nif a - -1 > 0 then\nreturn '-- no\\' --', \"  `${x}\\\\\"\nend\n");
});

test("both hashes are those of what is sent", async () => {
  const script = await embedded("return 1");
  const sha1 = (text: string) => createHash("sha1").update(text).digest("hex");
  expect(script).toEqual({
    name: "tryThis",
    source: "return 1\n",
    sha1: sha1("return 1\n"),
    keyLockingSha1: sha1(`${keyLocking}return 1\n`),
  });
});

test.for(["return [[a]]", "--[[ a ]] return 1", "return [==[a]==]", "return 'a\\\n'", "return 'a"])(
  "what could not be stripped safely is refused: %j",
  (text) => {
    expect(() => strip({ file: "a.lua", text })).toThrow(/^a\.lua: not to be embedded: /);
  },
);

test("a prelude with anything but locals at its top level is refused", () => {
  const text = `${prelude.text}\nfunction open() end\n`;
  expect(() => embed({ file: "_prelude.lua", text }, [{ file: "a.lua", text: "return 1" }])).toThrow(
    "_prelude.lua: only locals may stand at the top level: function open() end",
  );
});
