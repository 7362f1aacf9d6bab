import { globSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

/** The parts of the library; not the dashboard, the documentation and the like. */
const FOLDERS = "{kernel,features,open,operate,sweep,drain,transports,client}";

/** Loads all modules that the library loads by `import()`, once for all tests of a process. */
export function loadedOnDemand(): Promise<unknown> {
  loading ??= Promise.all(modulesOnDemand().map((path) => import(path) as Promise<unknown>));
  return loading;
}
let loading: Promise<unknown> | undefined;

function modulesOnDemand(): string[] {
  const cwd = resolve(import.meta.dirname, "../../src");
  return globSync(`${FOLDERS}/**/*.ts`, { cwd }).flatMap((file) => {
    const source = readFileSync(join(cwd, file), "utf8");
    const imports = source.matchAll(/(?<!typeof )import\("(\.[^"]+)"\)/g);
    return Array.from(imports, ([, path = ""]) => join(cwd, dirname(file), path));
  });
}
