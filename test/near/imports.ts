import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";

/** A relative path in quotes, as in an import, `new URL("…", import.meta.url)` and the like. */
const PATHS = /["'`](\.{1,2}\/[^"'`\n$]*\.[a-z]+)["'`]/g;

/** Which files name which others, by their relative paths. */
export class Imports {
  readonly #importers = new Map<string, string[]>();

  constructor(root: string) {
    for (const file of globSync("{src,serverless,test,tools,examples}/**/*.{ts,mts,mjs}", {
      cwd: root,
      exclude: (name) => name.includes("node_modules"),
    })) {
      for (const [, path = ""] of readFileSync(join(root, file), "utf8").matchAll(PATHS)) {
        const named = join(root, dirname(file), path);
        if (!existsSync(named)) continue;
        const key = relative(root, named);
        const importers = this.#importers.get(key) ?? [];
        importers.push(file);
        this.#importers.set(key, importers);
      }
    }
  }

  /** The test files that import the file, also by way of other files. */
  testsOf(file: string): string[] {
    const reached = new Set([file]);
    for (const next of reached) for (const importer of this.#importers.get(next) ?? []) reached.add(importer);
    return [...reached].filter(isTest).toSorted();
  }
}

/** Whether `npm test` runs the file. */
export const isTest = (file: string): boolean => /^test\/(?!package\/).*\.test\.ts$/.test(file);
