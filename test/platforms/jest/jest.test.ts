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

/** The examples of the page, which are for Vitest. */
const tests = Object.fromEntries(
  blocksOf("docs/testing.md")
    .filter(({ isCopy }) => isCopy)
    .map(({ code }, i) => [
      `${i}.test.ts`,
      code.replace('from "vitest"', 'from "@jest/globals"').replaceAll(/\bvi\b/g, "jest"),
    ]),
);

let project: Project;
beforeAll(async () => {
  const packages = [
    "@babel",
    "@jest/globals",
    "@types/node",
    "next",
    "react",
    "react-dom",
    "ts-jest",
    "typescript",
  ];
  project = await Project.open({
    packages: [],
    tools: { from: "test/platforms/jest", packages, commands: ["jest"] },
  });
});
afterAll(() => project?.close());

it.each<[what: string, command: string, files: Readonly<Record<string, string>>]>([
  [
    "CommonJS, with nothing set",
    `${flag} npx jest`,
    { "package.json": "{}", "jest.config.js": "module.exports = {};", "babel.config.js": babel },
  ],
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
  async (what, command, files) => {
    const folder = what.replaceAll(/\W+/g, "-");
    const all = { ...files, ...tests, "worker.ts": textOf("examples/cloudflare/worker.ts") };
    for (const [name, text] of Object.entries(all)) await project.write(`${folder}/${name}`, text);
    const printed = await project.run(`cd ${folder} && ${command} --json`);
    expect(JSON.parse(printed)).toMatchObject({ success: true, numPassedTestSuites: 2, numTotalTests: 2 });
  },
  120_000,
);
