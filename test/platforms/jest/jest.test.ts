import { afterAll, beforeAll, expect, it } from "vitest";
import { blocksOf, textOf } from "../../documents/code.ts";
import { Project } from "../project.ts";

const [, section = ""] = textOf("docs/testing.md").split("\n### Jest\n");
/** What the page says to set, from its code. */
const setting = (name: string) => new RegExp(`\`(${name}: .*?)\``).exec(section)?.[1] ?? `none: ${name}`;
const [flag = "none"] = /NODE_OPTIONS=\S+/.exec(section) ?? [];

const babel = `module.exports = {
  presets: [["@babel/preset-env", { targets: { node: "current" } }], "@babel/preset-typescript"],
};`;
const next = `import nextJest from "next/jest.js";
export default nextJest({ dir: "./" })({ testEnvironment: "node" });`;
const tsconfig = {
  compilerOptions: {
    module: "nodenext",
    target: "es2023",
    strict: true,
    isolatedModules: true,
    types: ["node"],
  },
};

/** The examples of the page, which are for Vitest, except for those of an application with Next.js. */
const tests = Object.fromEntries(
  blocksOf("docs/testing.md")
    .filter(({ isCopy, code }) => isCopy && /^test\(/m.test(code) && !code.includes('"@/'))
    .map(({ code }, i) => [
      `${i}.test.ts`,
      code.replace('from "vitest"', 'from "@jest/globals"').replaceAll(/\bvi\b/g, "jest"),
    ]),
);

let project: Project;
beforeAll(async () => {
  project = await Project.open({
    packages: [],
    tools: [
      {
        from: "test/platforms/jest",
        packages: ["@babel", "@jest/globals", "@types/node", "ts-jest", "typescript"],
        commands: ["jest"],
      },
      { from: "test/platforms/next", packages: ["next", "react", "react-dom"], commands: [] },
    ],
  });
});
afterAll(() => project?.close());

/** Runs the tests of the page in a folder with these files. Returns what Jest prints. */
async function jest(command: string, files: Readonly<Record<string, string>>): Promise<string> {
  const folder = String(++folders);
  const all = { ...files, ...tests, "worker.ts": textOf("examples/cloudflare/worker.ts") };
  for (const [name, text] of Object.entries(all)) await project.write(`${folder}/${name}`, text);
  return project.run(`cd ${folder} && ${command} --json`);
}
let folders = 0;

const passed = { success: true, numPassedTestSuites: 2, numTotalTests: 2 };

it("runs the tests of the page in CommonJS with nothing set, on Node 24.9 or later", async () => {
  const config = "module.exports = {};";
  const ran = jest(`${flag} npx jest`, {
    "package.json": "{}",
    "jest.config.js": config,
    "babel.config.js": babel,
  });
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  if (major < 24 || (major === 24 && minor < 9)) await expect(ran).rejects.toThrow("Use Node v24.9+");
  else expect(JSON.parse(await ran)).toMatchObject(passed);
}, 120_000);

it.each<[what: string, command: string, files: Readonly<Record<string, string>>]>([
  [
    "CommonJS, with transformIgnorePatterns",
    "npx jest",
    {
      "package.json": "{}",
      "jest.config.js": `module.exports = { ${setting("transformIgnorePatterns")} };`,
      "babel.config.js": babel,
    },
  ],
  [
    "Next.js, with next/jest and transpilePackages",
    "npx jest",
    {
      "package.json": "{}",
      "next.config.mjs": `export default { ${setting("transpilePackages")} };`,
      "jest.config.mjs": next,
      "app/page.tsx": "export default function Page() { return null; }",
    },
  ],
  [
    "ES modules in TypeScript, with ts-jest",
    `${flag} npx jest`,
    {
      "package.json": '{ "type": "module" }',
      "jest.config.js": `import { createDefaultEsmPreset } from "ts-jest";\nexport default createDefaultEsmPreset();`,
      "tsconfig.json": JSON.stringify(tsconfig),
    },
  ],
])(
  "runs the tests of the page in %s",
  async (_, command, files) => {
    expect(JSON.parse(await jest(command, files))).toMatchObject(passed);
  },
  120_000,
);
