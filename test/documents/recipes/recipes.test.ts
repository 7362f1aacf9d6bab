// Each page of the recipes, and on moving, shows whole files of its folder of tests, which are type checked.
import { globSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const read = (path: string) => readFileSync(join(root, path), "utf8");

describe.each(["recipes", "moving"])("the code of docs/%s", (folder) => {
  const pages = globSync(`docs/${folder}/*.md`, { cwd: root }).toSorted();
  const marked = new RegExp(
    `<!-- (test/documents/${folder}/[\\w-]+\\.ts) -->\n\`\`\`ts\n([\\s\\S]*?)\n\`\`\``,
    "g",
  );
  const blocks = pages.flatMap((page) =>
    Array.from(read(page).matchAll(marked), ([, file = "", code]) => ({ page, file, code })),
  );

  test.each(blocks)("$page shows $file", ({ file, code }) => {
    expect(code).toBe(read(file).trimEnd());
  });

  test("is all in files that are type checked, and all files are shown", () => {
    const inTypeScript = pages.flatMap((page) => read(page).match(/^```ts$/gm) ?? []);
    expect(inTypeScript).toHaveLength(blocks.length);
    const support = new Set(["requests.ts"]);
    const files = globSync(`test/documents/${folder}/*.ts`, { cwd: root }).filter(
      (file) => !file.endsWith(".test.ts") && !support.has(basename(file)),
    );
    expect(blocks.map(({ file }) => file).toSorted()).toEqual(files.toSorted());
  });

  test("is of pages that the first page lists", () => {
    const listed = Array.from(
      read(`docs/${folder}/README.md`).matchAll(/^\| \[[^\]]+\]\((\S+)\)/gm),
      ([, page = ""]) => page,
    );
    const others = pages.map((page) => basename(page)).filter((page) => page !== "README.md");
    expect(listed.toSorted()).toEqual(others);
  });
});
