import { basename } from "node:path";
import { build } from "esbuild";
import { describe, expect, test } from "vitest";
import { readGenerated, readLua } from "../../tools/lua/files.ts";
import { modulesOf } from "../../tools/lua/modules.ts";
import { compact, parseLua } from "../../tools/lua/text.ts";
import { embedded as embeddedBehind } from "../support/embedded.ts";

const prelude = `-- _prelude: three locals.

-- The base.
local BASE = 10

local function twice(number)
  return number * 2
end

local function large(number)

  return twice(number) > BASE
end
`;

const embedded = (text: string, file?: string) => embeddedBehind(prelude, text, file);
test("the modules of the scripts are current", () => {
  expect(Object.fromEntries(readGenerated())).toEqual(Object.fromEntries(modulesOf(readLua(), true)));
});

test.for([
  "return string.large('twice') -- BASE",
  "local function twice() end\nreturn twice({ large = BASE_2 })",
  "local large = large_2\nfor BASE = 1, 2 do twice_2(BASE) end\nreturn large",
])("a name that is not a local of the prelude adds none: %s", async (text) => {
  expect((await embedded(text)).source).toBe(compact(text));
});

test.for([
  "return 'a'..BASE",
  "do local a = BASE local BASE = a end",
  "for BASE = BASE, 2 do end",
  "for BASE in BASE do end",
  "local a = function(BASE) end or BASE",
  "repeat local a = 1 until a > BASE",
  "return { BASE = 1, [BASE] = 2 }",
  "return f.g(BASE):h()",
  "BASE.x = 1",
])("a name of a local of the prelude adds it: %s", async (text) => {
  expect((await embedded(text)).source).toBe(`local BASE=10\n${compact(text)}`);
});

const base = "local BASE=10\n";
const twice = "local function twice(number)\nreturn number*2\nend\n";
const large = "local function large(number)\nreturn twice(number)>BASE\nend\n";

test("a local that only a branch needs comes in that branch, and at each other place that needs it", async () => {
  const script = await embedded(
    "local a\nif a then\n  a = 2\n  if a == 1 then\n    return large(a)\n  end\n  a = twice(a)\n" +
      "elseif not BASE then\n  local b = large(1)\n  return twice(b)\nelse\n  return BASE\nend\nreturn twice(a)",
  );
  expect(script.source).toBe(
    `local a\n${base}if a then\na=2\nif a==1 then\n${twice}${large}return large(a)\nend\n${twice}a=twice(a)\n` +
      `elseif not BASE then\n${twice}${large}local b=large(1)\nreturn twice(b)\nelse\nreturn BASE\nend\n${twice}return twice(a)\n`,
  );
});

test("locals are in the order in which they use each other, in whatever order they are declared", async () => {
  const early = "local function early()\nreturn twice(LATE)\nend\n";
  const script = await embeddedBehind(`${early}local LATE = 1\n${prelude}`, "return early()");
  expect(script.source).toBe(`local LATE=1\n${twice}${early}return early()\n`);
});

test.for([
  ["local BASE = BASE", "BASE"],
  ["local a, BASE = 1, 2\nreturn large(a)", "BASE"],
  ["local function twice() end\nreturn large(2)", "twice"],
  ["if BASE then return end\nlocal large, BASE = 1, 2", "BASE"],
  ["local tonumber = 1\nreturn number('1')", "tonumber"],
  ["if a then\n  local BASE = 1\n  return large(BASE)\nend", "BASE"],
] as const)("a script's local with a name that its parts use is refused: %j", async ([text, name]) => {
  const more = `${prelude}\nlocal function number(text)\n  return tonumber(text)\nend\n`;
  await expect(embeddedBehind(more, text)).rejects.toThrow(
    `try-this.lua: rename its local ${name}: shared parts in this script declare or use that name`,
  );
});

test.for(["a=b - - c", "a=b .. '.'", "a=1 .. 2", "a=b .. .5", "a=b[ c[1] ]", "return not a==b", "f 'a' {}"])(
  "spaces that separate tokens are kept: %s",
  (text) => {
    const tree = (code: string) =>
      JSON.stringify(parseLua({ file: "a.lua", text: code }), (name, value: unknown) =>
        name === "loc" || name === "range" ? undefined : value,
      );
    expect(tree(compact(text))).toBe(tree(text));
  },
);

describe("the modules of scripts", () => {
  const modules = modulesOf({
    shared: [{ file: "_prelude.lua", text: `${prelude}\nlocal function never() end\n` }],
    scripts: [
      { file: "one.lua", text: "return large(1)" },
      { file: "other.lua", text: "return twice(2)" },
    ],
  });

  /** What a bundler makes of an entry: what is loaded at once, and what is loaded later. */
  async function bundled(contents: string) {
    const { outputFiles, metafile } = await build({
      stdin: { contents, loader: "ts", resolveDir: "/" },
      plugins: [
        {
          name: "modules",
          setup(build) {
            build.onResolve({ filter: /gen\.ts$/ }, ({ path }) => ({
              path: path.replace("./", ""),
              namespace: "modules",
              sideEffects: false,
            }));
            build.onLoad({ filter: /./, namespace: "modules" }, ({ path }) => ({
              contents: modules.get(path) as string,
              loader: "ts",
            }));
          },
        },
      ],
      bundle: true,
      splitting: true,
      format: "esm",
      tsconfigRaw: { compilerOptions: { verbatimModuleSyntax: true } },
      outdir: "/out",
      metafile: true,
      write: false,
    });
    const outputs = Object.entries(metafile.outputs).map(([path, one]) => ({ ...one, file: basename(path) }));
    const first = outputs.find(({ entryPoint }) => entryPoint === "<stdin>");
    const atOnce = [
      first?.file,
      ...(first?.imports ?? [])
        .filter(({ kind }) => kind === "import-statement")
        .map(({ path }) => basename(path)),
    ];
    const textOf = (isAtOnce: boolean) =>
      outputFiles
        .filter(({ path }) => atOnce.includes(basename(path)) === isAtOnce)
        .map(({ text }) => text)
        .join("");
    return { atOnce: textOf(true), later: textOf(false) };
  }

  test("have each part once, and none that is not used", () => {
    const all = Array.from(modules.values()).join("");
    for (const part of ["BASE=10", "number*2", ">BASE"]) expect(all.split(part)).toHaveLength(2);
    expect(all).not.toContain("never");
  });

  test("bring into a bundle only the parts that its scripts need", async () => {
    const { atOnce, later } = await bundled(
      `import {} from "order.gen.ts"; export { other } from "other.gen.ts";`,
    );
    expect(atOnce).toContain("number*2");
    expect(atOnce).not.toMatch(/BASE|large/);
    expect(later).toBe("");
  });

  test("bring into what is loaded at once only the parts that scripts need which are loaded at once", async () => {
    const { atOnce, later } = await bundled(
      `import {} from "order.gen.ts"; export { other } from "other.gen.ts"; export const one = () => import("one.gen.ts");`,
    );
    expect(atOnce).toContain("number*2");
    expect(atOnce).not.toMatch(/BASE|large/);
    expect(later).toContain("BASE=10");
    expect(later).toContain("large(1)");
    expect(later).not.toContain("number*2");
  });
});

test.for([
  "return [[a]]",
  "--[[ a ]] return 1",
  "return [==[a]==]",
  "return 'a\\\n'",
  "return 'a",
  "return return",
])("Lua that cannot be stripped safely is refused: %j", (text) => {
  expect(() => parseLua({ file: "a.lua", text })).toThrow(/^a\.lua: cannot be embedded: /);
});

test.for([
  ["function open() end", "_prelude.lua: the top level may have only locals: function open() end"],
  ["local BASE = 11", "_prelude.lua: BASE is declared at the top level of _prelude.lua too"],
  [
    "local function one()\n  return other()\nend\nlocal function other()\n  return one()\nend",
    "_prelude.lua: locals use each other: one, other, one",
  ],
])("a prelude with %j is refused", ([text, why]) => {
  const wrong = { file: "_prelude.lua", text: `${prelude}\n${text}\n` };
  expect(() => modulesOf({ shared: [wrong], scripts: [{ file: "a.lua", text: "return 1" }] })).toThrow(why);
});
