// Which tests are nearest to a source: what `test:near` runs, and `test:mutants` tries first.

import { existsSync, globSync, readFileSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { readLua } from "../../tools/lua/files.ts";
import { scriptName } from "../../tools/lua/modules.ts";
import { partsOf, programOf } from "../../tools/lua/parts.ts";

export const root = fileURLToPath(new URL("../../", import.meta.url));

export interface Nearest {
  /** For Lua: the titles in {@link everyScript} that are about the scripts with the changed part. */
  readonly rows?: string;
  /** Test files, the nearest first. */
  readonly tests: readonly string[];
}

export const everyScript = "test/proofs/fault/every-script.test.ts";
const ofAllScripts = ["test/proofs/model/model.test.ts", "test/features/repair/invalid-records.test.ts"];

const found = (pattern: string) => globSync(pattern, { cwd: root }).toSorted();

/** @param at an offset in a file that scripts share: counts only what uses the part there */
export function nearestTo(file: string, at?: number): Nearest {
  if (!file.endsWith(".lua")) {
    const words = new Set(wordsOf(file));
    const shared = (test: string) => wordsOf(test).filter((word) => words.has(word)).length;
    const tests = importing(file).toSorted((one, other) => shared(other) - shared(one));
    return { tests: [...new Set([...tests.filter((test) => isNamed(test, [file])), ...tests])] };
  }
  const scripts = scriptsWith(file, at);
  const own = scripts.map((script) => dirname(script));
  // Most promises are those of tasks.
  const folders = new Set([
    basename(file, ".lua"),
    ...own.filter((one) => one === "kernel"),
    "budget",
    ...own,
  ]);
  const tests = [...folders].flatMap((folder) =>
    found(`test/{,kernel/,features/,proofs/}${folder}/*.test.ts`),
  );
  const named = found("test/{kernel,features,operate,sweep}/**/*.test.ts").filter((test) =>
    isNamed(test, [file, ...scripts]),
  );
  const rows = `^(?:${scripts.map(scriptName).join("|")}) `;
  return { rows, tests: [...new Set([...named, ...ofAllScripts, ...tests])] };
}

/** Whether a test's name begins as that of one of the files. */
const isNamed = (test: string, files: readonly string[]) =>
  files.some((file) => basename(test).startsWith(basename(file).replace(/\.\w+$/, "")));

/** The words of a path that say what it is about. */
const wordsOf = (file: string): string[] =>
  file
    .replace(/(?:\.test)?\.\w+$/, "")
    .split(/[/-]/)
    .filter((word) => word !== "queue");

/** The scripts in a file of lua/, or with its parts, such as `kernel/enqueue.lua`. */
function scriptsWith(file: string, at?: number): string[] {
  const path = relative("lua", file);
  const { shared, scripts } = readLua();
  if (!shared.some((one) => one.file === path)) return [path];
  const all = partsOf(shared);
  const parts = all.filter(
    ({ file: of, range: [from, to] }) => of === path && (at === undefined || (from <= at && at < to)),
  );
  const having = scripts.filter((script) =>
    programOf(script, all).some((part) => parts.includes(part as never)),
  );
  return having.map((script) => script.file);
}

/** A relative path in quotes, as in an import, `new URL("…", import.meta.url)` and the like. */
const PATHS = /["'`](\.{1,2}\/[^"'`\n$]*\.[a-z]+)["'`]/g;

let known: Map<string, string[]> | undefined;

/** The files that name each file. */
function importers(): Map<string, string[]> {
  if (known) return known;
  known = new Map();
  for (const one of found("{src,serverless,test,tools,examples}/**/*.{ts,mts,mjs}")) {
    for (const [, path = ""] of readFileSync(join(root, one), "utf8").matchAll(PATHS)) {
      const key = join(dirname(one), path);
      known.set(key, [...(known.get(key) ?? []), one]);
    }
  }
  return known;
}

/** The test files that import a file, by way of as few others as possible first. */
function importing(file: string): string[] {
  const reached = new Set([file]);
  for (const next of reached) for (const importer of importers().get(next) ?? []) reached.add(importer);
  return [...reached].filter((one) => isTest(one) && existsSync(join(root, one)));
}

/** Whether `npm test` runs the file. */
export const isTest = (file: string): boolean =>
  /^test\/(?!(?:dashboard|long|package|platforms)\/).*\.test\.ts$/.test(file);
