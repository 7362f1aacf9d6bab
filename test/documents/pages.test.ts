import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const root = fileURLToPath(new URL("../../", import.meta.url));

/** What the headings of a Markdown file can be reached by. */
function anchorsOf(file: string): string[] {
  const headings = readFileSync(file, "utf8").matchAll(/^#+ (.*)$/gm);
  return Array.from(headings, ([, text = ""]) =>
    text
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, "")
      .replaceAll(" ", "-"),
  );
}

test("every link of the documents to a file, or a place in one, leads there", () => {
  const lost: string[] = [];
  for (const document of [
    "README.md",
    "CONTRIBUTING.md",
    "lua/README.md",
    "docs/benchmarks.md",
    "docs/faults.md",
    "docs/deployments.md",
    "docs/gateway.md",
    "docs/http.md",
    "docs/library.md",
    ...globSync("docs/platforms/*.md", { cwd: root }),
  ]) {
    const text = readFileSync(join(root, document), "utf8");
    for (const [, target = "", anchor] of text.matchAll(/\]\(([^)#:\s]*)(?:#([^)]*))?\)/g)) {
      const file = target === "" ? join(root, document) : join(root, dirname(document), target);
      if (!existsSync(file)) lost.push(`${document}: ${target}`);
      else if (anchor !== undefined && !anchorsOf(file).includes(anchor)) {
        lost.push(`${document}: ${target}#${anchor}`);
      }
    }
  }
  expect(lost).toEqual([]);
});

test("each fault of other queues is linked to a test that is called so", () => {
  const faults = readFileSync(join(root, "docs/faults.md"), "utf8");
  const links = [...faults.matchAll(/\[([^\]]+)\]\(([^)#]+\.test\.ts)\)/g)];
  expect(links.length).toBeGreaterThan(40);
  const nameless = links.filter(
    ([, title = "", target = ""]) => !readFileSync(join(root, "docs", target), "utf8").includes(title),
  );
  expect(nameless.map(([link]) => link)).toEqual([]);
});

test("the code of the page on deployments is the one that the type check reads", () => {
  const page = readFileSync(join(root, "docs/deployments.md"), "utf8");
  const [, code = "none"] = /```ts\n([\s\S]*?)\n```/.exec(page) ?? [];
  const checked = readFileSync(join(root, "test/documents/deployment.ts"), "utf8");
  expect(checked.trimEnd().endsWith(code)).toBe(true);
});
