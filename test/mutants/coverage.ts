import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { invariants, laws, type Mutant } from "./mutant.ts";

export const root = fileURLToPath(new URL("../../", import.meta.url));

/** The least number of mutants of each script, and of each shared part, law and invariant. */
export const LEAST_OF_SCRIPT = 3;
const LEAST = 1;

/** What is wrong with a list of mutants; empty if nothing is. */
export function faultsOf(mutants: readonly Mutant[]): string[] {
  const found: string[] = [];
  const names = new Set<string>();
  for (const { name, file, find, replace } of mutants) {
    const times = readFileSync(join(root, file), "utf8").split(find).length - 1;
    if (times !== 1) found.push(`${name}: what it replaces is ${times} times in ${file}`);
    if (find === replace) found.push(`${name}: changes nothing`);
    if (names.has(name)) found.push(`${name}: the name is used twice`);
    names.add(name);
  }
  for (const [what, count] of coverage(mutants)) {
    const least = /^lua\/(?!lib\/)/.test(what) ? LEAST_OF_SCRIPT : LEAST;
    if (count < least) found.push(`${what}: ${count} mutants, at least ${least} are needed`);
  }
  return found;
}

/** The number of mutants of each law, invariant, script and shared part. */
export function coverage(mutants: readonly Mutant[]): Map<string, number> {
  const files = globSync("lua/*/*.lua", { cwd: root });
  const counts = new Map<string, number>();
  for (const what of [...laws, ...invariants, ...files]) counts.set(what, 0);
  for (const { breaks, file } of mutants) {
    for (const what of [breaks, file]) {
      const count = counts.get(what);
      if (count !== undefined) counts.set(what, count + 1);
    }
  }
  return counts;
}
