import { existsSync, globSync } from "node:fs";
import { join, relative } from "node:path";
import { generatedFile } from "../../tools/lua/files.ts";
import { nearest } from "../mutants/nearest.ts";
import { Imports, isTest } from "./imports.ts";

/** What runs because of a changed file. */
export interface Choice {
  readonly file: string;
  /** Paths of test files; "fast" for the fast tier. */
  readonly tests: readonly string[] | "fast";
  readonly why: string;
}

/** A file that more test files than this import is near to all of them: the fast tier runs. */
const MOST = 40;

/** Chooses the tests for changed files. */
export class Chooser {
  readonly #root: string;
  readonly #map: Readonly<Record<string, readonly string[]>>;
  readonly #imports: Imports;

  constructor(root: string, map = nearest) {
    this.#root = root;
    this.#map = map;
    this.#imports = new Imports(root);
  }

  /** One choice for each file. */
  choose(files: readonly string[]): Choice[] {
    const hasLua = files.some((file) => file.endsWith(".lua"));
    const choices = files.map((file) => ({ file, ...this.#of(file, hasLua) }));
    const source = files.find((file) => /^(src|lua)\//.test(file));
    if (source === undefined) return choices;
    const tests = this.#found("test/contract/*.test.ts");
    return [...choices, { file: source, tests, why: "test/contract, because a source has changed" }];
  }

  #of(file: string, hasLua: boolean): Omit<Choice, "file"> {
    if (file === relative(this.#root, generatedFile) && hasLua)
      return { tests: [], why: "nothing more, because it is written from lua/" };
    if (file.startsWith("test/package/"))
      return { tests: [], why: "nothing; `npm run test:package` runs test/package" };
    if (file.startsWith("test/dashboard/"))
      return { tests: [], why: "nothing; `npm run test:dashboard` runs test/dashboard" };
    if (isTest(file)) {
      return existsSync(join(this.#root, file))
        ? { tests: [file], why: "itself" }
        : { tests: [], why: "nothing, because the test was deleted" };
    }
    const near = this.#map[file];
    if (near) {
      const tests = near
        .map((name) => `test/${name}.test.ts`)
        .filter((name) => existsSync(join(this.#root, name)));
      return { tests, why: `${count(tests)} nearest to it, by the map of the mutants` };
    }
    const importing = this.#imports.testsOf(file);
    if (importing.length > MOST)
      return { tests: "fast", why: `the fast tier, because ${count(importing)} import it` };
    if (importing.length > 0) return { tests: importing, why: `${count(importing)} that import it` };
    return this.#byFolder(file) ?? { tests: "fast", why: "the fast tier, because no test names it" };
  }

  /** For files that are not imported: pages, examples, what platforms deploy. */
  #byFolder(file: string): Omit<Choice, "file"> | undefined {
    const platform = /^serverless\/([a-z]+)\//.exec(file)?.[1];
    const pattern = file.endsWith(".md")
      ? "test/documents/*.test.ts"
      : file.startsWith("examples/")
        ? "test/examples/*.test.ts"
        : platform
          ? `test/runtime/${platform}*.test.ts`
          : undefined;
    const tests = pattern === undefined ? [] : this.#found(pattern);
    return tests.length > 0 ? { tests, why: `${count(tests)} of ${pattern}` } : undefined;
  }

  #found(pattern: string): string[] {
    return globSync(pattern, { cwd: this.#root }).toSorted();
  }
}

const count = (tests: readonly string[]) =>
  tests.length === 1 ? "1 test file" : `${tests.length} test files`;
