/**
 * Writes the list in notes/dependencies.md from the lock file: each package that an installation includes, and
 * the optional peers, with the licence and the entries that load it. With --check it only reports whether the
 * list is current.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { entries } from "./entries.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const page = new URL("../notes/dependencies.md", import.meta.url);
const BEGIN = "<!-- npm run licences writes this list -->\n";
const END = "<!-- end of the list -->\n";

/** An entry of the lock file. */
export interface LockEntry {
  readonly version: string;
  readonly license?: string;
  readonly integrity?: string;
  readonly resolved?: string;
  readonly link?: boolean;
  readonly inBundle?: boolean;
  readonly dev?: boolean;
  readonly optional?: boolean;
  readonly devOptional?: boolean;
  readonly hasInstallScript?: boolean;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>;
}

/** The entries of a folder's lock file by their path in the tree. The path of the folder itself is `""`. */
export function readLock(folder = "."): Readonly<Record<string, LockEntry>> {
  const lock = JSON.parse(readFileSync(`${root}${folder}/package-lock.json`, "utf8")) as {
    packages: Record<string, LockEntry>;
  };
  return lock.packages;
}

/** The packages that a package needs to run, without development packages and optional peers. */
function needs(entry: LockEntry): string[] {
  const peers = Object.keys(entry.peerDependencies ?? {});
  return [
    ...Object.keys({ ...entry.dependencies, ...entry.optionalDependencies }),
    ...peers.filter((name) => entry.peerDependenciesMeta?.[name]?.optional !== true),
  ];
}

/** The path at which Node finds a package from the path of another one. */
function pathOf(name: string, from: string, lock: Readonly<Record<string, LockEntry>>): string {
  for (let folder = from; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf("/node_modules/")))) {
    const path = `${folder === "" ? "" : `${folder}/`}node_modules/${name}`;
    if (lock[path]) return path;
    if (folder === "")
      throw new Error(`${name}, which ${from || "the project"} needs, is not in the lock file`);
  }
}

/** The paths of the given packages and of all packages that they need. */
export function closure(names: readonly string[], lock: Readonly<Record<string, LockEntry>>): Set<string> {
  const found = new Set<string>();
  const visit = (name: string, from: string) => {
    const place = pathOf(name, from, lock);
    if (found.has(place)) return;
    found.add(place);
    for (const needed of needs(lock[place] as LockEntry)) visit(needed, place);
  };
  for (const name of names) visit(name, "");
  return found;
}

/** What a platform or the framework of an application provides. */
const PROVIDED = /^(?:(?:node|cloudflare):|(?:next|server-only)$)/;

/** The optional peers of the project that are installed for it. */
export const peersOf = ({ peerDependencies = {} }: LockEntry): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(peerDependencies).filter(([name]) => !PROVIDED.test(name)));

/** What a bundler finds in the entries. */
let bundled: ReturnType<typeof bundle> | undefined;

const bundle = () =>
  build({
    entryPoints: entries,
    outdir: "out",
    bundle: true,
    write: false,
    metafile: true,
    format: "esm",
    packages: "external",
    absWorkingDir: root,
  });

/**
 * The packages that the code of each entry imports, without those that a platform provides. The entries are bundled once
 * in a process.
 * @param kind only imports of this kind. @default all
 */
export async function importsOfEntries(
  kind?: "import-statement" | "dynamic-import",
): Promise<ReadonlyMap<string, readonly string[]>> {
  const { metafile } = await (bundled ??= bundle());
  return new Map(
    Object.entries(metafile.outputs).map(([file, { imports }]) => {
      const chosen = imports.filter((one) => kind === undefined || one.kind === kind);
      const names = chosen.map(({ path }) => /^(?:@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? path);
      const packages = names.filter((name) => !PROVIDED.test(name));
      return [file.replace(/^out\/(.*)\.js$/, "$1"), [...new Set(packages)].toSorted()];
    }),
  );
}

export const nameOf = (place: string) => place.slice(place.lastIndexOf("node_modules/") + 13);

async function list(): Promise<string> {
  const lock = readLock();
  const entries = [...(await importsOfEntries())].map(([entry, imports]) => ({
    entry,
    places: closure(imports, lock),
  }));
  const own = lock[""] as LockEntry;
  const installed = closure(needs(own), lock);
  const optional = closure(Object.keys(peersOf(own)), lock);
  const rows = [...new Set([...installed, ...optional])].toSorted().map((place) => {
    const { version, license = "none" } = lock[place] as LockEntry;
    const loading = entries.filter(({ places }) => places.has(place)).map(({ entry }) => `\`${entry}\``);
    const comes = installed.has(place) ? "with it" : "if asked for";
    return `| ${nameOf(place)} | ${version} | ${license} | ${comes} | ${loading.join(", ") || "none: types"} |\n`;
  });
  return `\n| package | version | licence | installed | loaded by |\n|---|---|---|---|---|\n${rows.join("")}\n`;
}

/** The page with the current list. */
export async function pageWithList(text: string): Promise<string> {
  const [before, rest] = text.split(BEGIN);
  const [, after] = (rest ?? "").split(END);
  if (before === undefined || after === undefined)
    throw new Error("notes/dependencies.md has no markers for the list");
  return before + BEGIN + (await list()) + END + after;
}

if (import.meta.main) {
  const text = readFileSync(page, "utf8");
  const wanted = await pageWithList(text);
  if (!process.argv.includes("--check")) writeFileSync(page, wanted);
  else if (text !== wanted) {
    console.error("notes/dependencies.md is not current: run `npm run licences`.");
    process.exitCode = 1;
  }
}
