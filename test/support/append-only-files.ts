import { readFileSync } from "node:fs";
import { join } from "node:path";

/**
 * The files with commands of a Redis's append-only file, in their order; it appends to the last.
 * @param folder the server's data folder
 * @throws if the manifest names none
 */
export function appendOnlyFiles(folder: string): string[] {
  const directory = join(folder, "appendonlydir");
  const manifest = readFileSync(join(directory, "appendonly.aof.manifest"), "utf8");
  const files = manifest
    .split("\n")
    .map(pairsOf)
    .flatMap(({ file, type }) => (file !== undefined && type === "i" ? [join(directory, file)] : []));
  if (files.length === 0) throw new Error(`no file of type i in the manifest: ${manifest}`);
  return files;
}

/** A line has words in pairs: `file <name> seq 1 type i`, and further ones since Redis 8. */
function pairsOf(line: string): Partial<Record<string, string>> {
  return Object.fromEntries([...line.matchAll(/(\S+) (\S+)/g)].map(([, name, value]) => [name, value]));
}
