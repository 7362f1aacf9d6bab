import { existsSync, globSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { expect, test } from "vitest";
import { tree } from "../../site/tree.ts";
import { pages, textOf } from "./code.ts";
import { quotedIn, root, testsNamedIn, titlesQuotedIn } from "./named-tests.ts";

/** The anchors of the headings of a Markdown file. */
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
  for (const document of globSync(["*.md", "lua/*.md", "{docs,notes}/**/*.md"], { cwd: root })) {
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

test("each example that the pages of the package name is there, with a README whose links lead somewhere", () => {
  const named = pages.flatMap((page) => textOf(page).match(/`examples\/[\w-]+`/g) ?? []);
  expect(new Set(named).size).toBeGreaterThanOrEqual(3);
  for (const name of named) {
    const folder = name.slice(1, -1);
    const links = textOf(`${folder}/README.md`).matchAll(/\]\(([^)#:\s]+)(?:#([^)]*))?\)/g);
    for (const [, target = "", anchor] of links) {
      const file = join(root, folder, target);
      expect(existsSync(file), `${folder}: ${target}`).toBe(true);
      if (anchor !== undefined) expect(anchorsOf(file)).toContain(anchor);
    }
  }
});

test("what CONTRIBUTING.md, notes/internals.md and lua/ name in the code is there", () => {
  const wrong: string[] = [];
  for (const page of ["CONTRIBUTING.md", "notes/internals.md", ...globSync("lua/*.md", { cwd: root })]) {
    for (const line of readFileSync(join(root, page), "utf8").split("\n")) {
      const names = Array.from(line.matchAll(/`([^`]+)`/g), ([, name = ""]) => name);
      const paths = names.filter((name) => /^(?:src|lua|test)\/[\w./-]+$/.test(name));
      const files = paths.filter((path) => path.endsWith(".ts") || path.endsWith(".lua"));
      wrong.push(...paths.filter((path) => !existsSync(join(root, path))).map((path) => `${page}: ${path}`));
      // A row of the table "To change something" names functions beside the files that they are in.
      if (page !== "CONTRIBUTING.md" || !line.startsWith("| ") || files.length === 0) continue;
      const text = files.map(
        (file) => existsSync(join(root, file)) && readFileSync(join(root, file), "utf8"),
      );
      const words = names.filter((name) => /^\w+$/.test(name));
      wrong.push(...words.filter((word) => !text.join("").includes(word)).map((word) => `${page}: ${word}`));
    }
  }
  expect(wrong).toEqual([]);
});

test("the figures of docs/benchmarks.md are those of the notes", () => {
  const rowsOf = (text: string) =>
    Array.from(text.matchAll(/^\| (.*?) \| (.*?) \|/gm), ([, what, figure]) => `${what}: ${figure}`);
  const measured = rowsOf(textOf("notes/benchmarks.md").replaceAll(", **missed**", ""));
  const figures = rowsOf(textOf("docs/benchmarks.md")).slice(1);
  expect(figures.length).toBeGreaterThan(10);
  expect(figures.filter((row) => !measured.includes(row))).toEqual([]);
});

test("the navigation of the site has each page once", () => {
  const patterns = ["README.md", "SECURITY.md", "CHANGELOG.md", "{docs,lua,notes}/**/*.md"];
  const named = tree.flatMap(({ pages }) => pages);
  expect(named.toSorted()).toEqual(globSync(patterns, { cwd: root }).toSorted());
});

test("no page of the package links to a file that the package does not have", () => {
  const { files } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { files: string[] };
  // npm packs these in any case.
  const packed = new Set([...files, "README.md", "LICENSE", "package.json"]);
  const packedPages = [...packed].flatMap((name) =>
    name.endsWith(".md") ? name : globSync(`${name}/**/*.md`, { cwd: root }),
  );
  expect(packedPages).toEqual(
    expect.arrayContaining(["README.md", "SECURITY.md", "docs/README.md", "lua/README.md"]),
  );
  const links = packedPages.flatMap((page) => {
    const targets = textOf(page).matchAll(/(?:\]\(|\b(?:href|src|srcset)=")([^)"#:\s]+)(?:#[^)"]*)?[)"]/g);
    return Array.from(targets, ([, target = ""]) => ({ page, target: join(dirname(page), target) }));
  });
  expect(links.length).toBeGreaterThan(150);
  expect(links).toContainEqual({ page: "README.md", target: "docs/pictures/dark.png" });
  expect(links.filter(({ target }) => !existsSync(join(root, target)))).toEqual([]);
  expect(
    links.filter(({ target }) => !packed.has(target) && !packed.has(target.split("/")[0] ?? "")),
  ).toEqual([]);
});

test.each([
  ["notes/faults.md", 45],
  ["notes/promises.md", 150],
  ["SECURITY.md", 60],
])("each test that %s names is there, with the quoted words in a title", (page, least) => {
  const text = readFileSync(join(root, page), "utf8");
  const quoted = titlesQuotedIn(text);
  expect(quoted.length).toBeGreaterThan(least);
  const nameless = quoted.filter(({ title, path }) => !quotedIn(path).some((words) => words.includes(title)));
  expect(nameless).toEqual([]);
  // No test is named without a title, except where the page explains the form.
  const named = testsNamedIn(text);
  expect(named.filter(({ exists }) => !exists)).toEqual([]);
  expect(named.length - new Set(quoted.map(({ place }) => place)).size).toBeLessThanOrEqual(1);
});

test("notes/promises.md has the test of each promise and retention time, and SECURITY.md of each attack", () => {
  const [promises = ""] = textOf("docs/guarantees.md").split("\n## Durability\n");
  const titles = [
    ...Array.from(promises.matchAll(/^- \*\*([\s\S]+?)\*\*/gm), ([, title = ""]) => title),
    ...Array.from(promises.matchAll(/^\| (.*) \| .* \|$/gm), ([, what = ""]) => what).slice(1),
  ].map((title) => title.replaceAll(/\s+/g, " "));
  expect(titles.length).toBeGreaterThan(50);
  const tested = textOf("notes/promises.md").replaceAll("](../docs/", "](").split("\n");
  const lost = titles.filter((title) => {
    const row = tested.find((line) => line.startsWith(`- **${title}** `)) ?? "";
    return titlesQuotedIn(row).length === 0;
  });
  expect(lost).toEqual([]);
  const attacks = (textOf("SECURITY.md").split("## Attacks")[1] ?? "").match(/^\| .*\|$/gm)?.slice(1) ?? [];
  expect(attacks.length).toBeGreaterThan(10);
  expect(attacks.filter((item) => titlesQuotedIn(item).length === 0)).toEqual([]);
});

test("each page whose commands run sluice says to install what they need", () => {
  const needed: Readonly<Record<string, readonly string[]>> = {
    gateway: [],
    dev: ["@hono/node-server"],
    serve: ["@hono/node-server"],
  };
  const missing: string[] = [];
  let runs = 0;
  for (const document of globSync(["README.md", "docs/**/*.md"], { cwd: root })) {
    const text = readFileSync(join(root, document), "utf8");
    const installs = (text.match(/^.*(?:npm install|bun add|deno add) .*$/gm) ?? []).join("\n");
    for (const [, command = ""] of text.matchAll(/\bsluice (gateway|dev|serve)\b/g)) {
      runs++;
      const lacking = needed[command]?.filter((name) => !installs.includes(`${name}@`)) ?? [];
      missing.push(...lacking.map((name) => `${document}: sluice ${command} needs ${name}`));
    }
  }
  expect(runs).toBeGreaterThan(10);
  expect([...new Set(missing)]).toEqual([]);
});

test.each(["recipes", "moving", "library"])("the first page of docs/%s lists the others", (folder) => {
  const rows = textOf(`docs/${folder}/README.md`).matchAll(/^\| \[[^\]]+\]\((\S+)\)/gm);
  const others = pages.filter((page) => dirname(page) === `docs/${folder}`).map((page) => basename(page));
  expect(new Set(["README.md", ...Array.from(rows, ([, page]) => page)])).toEqual(new Set(others));
});
