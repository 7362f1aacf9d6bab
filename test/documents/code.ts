import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import process from "node:process";
import { root } from "./named-tests.ts";

/** A block of TypeScript of a page. */
interface Block {
  readonly code: string;
  /** Where it is written, from the root of the project: a file that the page names, or one that names page and line. */
  readonly file: string;
  /** Whether the page names the file, as in `<!-- emails-once.ts -->`. Such a block is complete. */
  readonly isNamed: boolean;
  /** Whether its marker calls it a copy of code that is tested elsewhere. */
  readonly isCopy: boolean;
}

export const pages = globSync(["README.md", "docs/**/*.md"], { cwd: root }).toSorted();

export const textOf = (path: string) => readFileSync(join(root, path), "utf8");

export function blocksOf(page: string): Block[] {
  const text = textOf(page);
  const found = text.matchAll(/(?:^<!-- (.*) -->\n)?^( *)```ts\n([\s\S]*?)\n\2```/gm);
  return Array.from(found, ({ 1: marker = "", 2: indent = "", 3: lines = "", index }) => {
    const isNamed = /^[\w-]+\.m?ts$/.test(marker);
    const line = text.slice(0, index).split("\n").length;
    const file = isNamed ? marker : `${page.replace(/^.*\/|\.md$/g, "")}-${line}.ts`;
    const code = lines.replaceAll(new RegExp(`^${indent}`, "gm"), "");
    return { code, file: join(dirname(page), file), isNamed, isCopy: marker.startsWith("test/") };
  });
}

/** A folder of the project, in which the aliases of its packages hold. It is removed with the process. */
export function temporaryFolder(): string {
  mkdirSync(join(root, ".sluice"), { recursive: true });
  const folder = mkdtempSync(join(root, ".sluice/pages-"));
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export function write(folder: string, file: string, code: string): void {
  mkdirSync(dirname(join(folder, file)), { recursive: true });
  writeFileSync(join(folder, file), `${code}\n`);
}

/**
 * The files that the pages of a folder of docs name: `fileOf("emails-once.ts")` is what that file exports.
 * `test/documents/code.test.ts` checks its types.
 */
// oxlint-disable-next-line typescript/no-explicit-any
export function filesOf(docs: "recipes" | "moving" | "platforms" | "."): (name: string) => Promise<any> {
  const folder = temporaryFolder();
  for (const page of pages.filter((one) => dirname(one) === join("docs", docs)))
    for (const { file, code, isNamed } of blocksOf(page)) if (isNamed) write(folder, file, code);
  return (name) => import(join(folder, "docs", docs, name));
}
