// The edition of the package for bundlers that make one file, as wrangler does. Such a file has what `import()` loads
// anyway, and code around each module that it may reach: 4 % of a deployment. In this edition all imports are static.

import { dirname, join } from "node:path/posix";

/** A module of the same package, whose namespace is loaded. */
const LOADED = /\bimport\(\s*"(\.[^"]+)"\s*\)/.source;
/** The forms in which single exports are loaded; then the others. */
const ONE_EXPORT = new RegExp(`\\(await ${LOADED}\\)`, "g");
const EXPORTS = new RegExp(`(const|let) \\{ ([\\w, ]+) \\} = await ${LOADED}`, "g");
const NAMESPACE = new RegExp(`(?<!typeof )${LOADED}`, "g");

/** The code with static imports in place of each `import()` of a module of the package. The same code if it has none. */
export function inOneFile(code: string): string {
  const imports: string[] = [];
  const imported = (path: string) => `inOneFile${imports.push(path) - 1}`;
  const changed = code
    .replace(ONE_EXPORT, (_, path: string) => imported(path))
    .replace(EXPORTS, (_, kind: string, names: string, path: string) => {
      const module = imported(path);
      return `${kind} ${names.replace(/\w+/g, (name) => `${name} = ${module}.${name}`)}`;
    })
    .replace(NAMESPACE, (_, path: string) => `Promise.resolve(${imported(path)})`);
  return imports.map((path, i) => `import * as inOneFile${i} from "${path}";\n`).join("") + changed;
}

interface Module {
  readonly fileName: string;
  code: string;
}

/**
 * Adds that edition to a build: a second file for each module with an `import()`. Others import such a module by a name
 * of `imports` in package.json, which chooses the file. An entry of the package needs the same choice in `exports`.
 */
export const withOneFileEdition = {
  name: "one-file-edition",
  generateBundle(
    this: { emitFile(file: { type: "asset"; fileName: string; source: string }): unknown },
    _: unknown,
    outputs: Record<string, Partial<Module>>,
  ) {
    const modules = Object.values(outputs).filter((one): one is Module => one.code !== undefined);
    const editions = new Map(modules.map(({ fileName, code }) => [fileName, inOneFile(code)]));
    const hasTwo = new Set(
      modules.filter(({ fileName, code }) => editions.get(fileName) !== code).map(fileOf),
    );
    const withNames = (fileName: string, code = "") =>
      code.replace(/(\bfrom |\bimport |\bimport\()"(\.[^"]+)"/g, (whole, before: string, path: string) => {
        const file = join(dirname(fileName), path);
        return hasTwo.has(file) ? `${before}"#${file.replace(/\.js$/, "")}"` : whole;
      });
    for (const fileName of hasTwo)
      this.emitFile({
        type: "asset",
        fileName: fileName.replace(/\.js$/, ".one-file.js"),
        source: withNames(fileName, editions.get(fileName)),
      });
    for (const module of modules) module.code = withNames(module.fileName, module.code);
  },
};

const fileOf = ({ fileName }: Module) => fileName;
