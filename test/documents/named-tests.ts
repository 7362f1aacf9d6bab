import { existsSync, globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

// The published package has the pages but no tests. So a page names a test file in code, without a link:
// `integration/tasks/wake` is test/features/waking/wake.test.ts. Titles are quoted before it.

export const root = fileURLToPath(new URL("../../", import.meta.url));

const folders = globSync("test/*/", { cwd: root }).map((folder) => folder.split(/[\\/]/)[1]);

/** The short paths of test files in a text, and whether these files exist. */
export function testsNamedIn(text: string): { readonly path: string; readonly exists: boolean }[] {
  const spans = Array.from(text.matchAll(/`([a-z-]+)((?:\/[a-z0-9-]+)+)`/g));
  return spans
    .filter(([, folder]) => folders.includes(folder))
    .map(([, folder, rest]) => {
      const path = `${folder}${rest}`;
      return { path, exists: existsSync(join(root, `test/${path}.test.ts`)) };
    });
}

export interface QuotedTitle {
  readonly title: string;
  readonly path: string;
  /** Where the quotation begins. */
  readonly place: number;
}

/** The titles that a text quotes, with the test file that it names after them: `"a", "b" (`unit/backoff`)`. */
export function titlesQuotedIn(text: string): QuotedTitle[] {
  const quotations = text.matchAll(/("[^"]+"(?:,\s+"[^"]+")*)\s+\(`((?:[a-z0-9-]+\/)+[a-z0-9-]+)`\)/g);
  return Array.from(quotations).flatMap(({ index: place, 1: titles = "", 2: path = "" }) =>
    Array.from(titles.matchAll(/"([^"]+)"/g), ([, title = ""]) => ({
      // A page wraps its lines.
      title: title.replaceAll(/\s+/g, " "),
      path,
      place,
    })),
  );
}

/** Each quoted text of a test file; its titles are among them. */
export function quotedIn(path: string): string[] {
  const text = readFileSync(join(root, `test/${path}.test.ts`), "utf8").replace(/^\s*\/\/.*$/gm, "");
  return Array.from(text.matchAll(/(["`])((?:\\.|(?!\1)[^\\\n])*)\1/g), ([, , words = ""]) => words);
}
