import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Bundle } from "./bundles.ts";
import { byFolder, measure, type Measured } from "./measure.ts";

const FILE = "bench/bundle/limits.json";

/** The most gzipped bytes of each bundle, by its name. They may only become lower. */
export type Limits = Record<string, number>;

export function readLimits(root: string): Limits {
  return JSON.parse(readFileSync(join(root, FILE), "utf8")) as Limits;
}

export function writeLimits(root: string, limits: Limits): void {
  writeFileSync(join(root, FILE), `${JSON.stringify(limits, undefined, 2)}\n`);
}

/** The limit for a bundle of this size: up to one percent more, so that a changed error text needs no new limit. */
export function limitFor({ gzipped }: Measured): number {
  return Math.ceil((gzipped * 1.005) / 100) * 100;
}

/**
 * The folders and files that have become larger since the limit was set, and by how many minified bytes, the largest
 * growth first.
 * @throws {Error} without git, and in a clone without the commit that set the limit
 */
export async function grownSince(root: string, bundle: Bundle, limit: number, now: Measured) {
  const line = `"${bundle.name}": ${limit}`;
  const commit = execFileSync("git", ["log", "-1", "--format=%h", `-S${line}`, "--", FILE], { cwd: root });
  const since = commit.toString().trim();
  if (since === "") throw new Error(`no commit has set the limit of ${bundle.name}`);
  const before = await measureAt(root, since, bundle);
  const grown = (sizes: (measured: Measured) => ReadonlyMap<string, number>) =>
    [...sizes(now)]
      .map(([part, bytes]) => ({ part, bytes: bytes - (sizes(before).get(part) ?? 0) }))
      .filter(({ bytes }) => bytes > 0)
      .toSorted((one, other) => other.bytes - one.bytes)
      .slice(0, 10);
  return { since, folders: grown(byFolder), files: grown(({ files }) => files) };
}

/** Measures a bundle of an older state of the sources, with the packages of today. */
async function measureAt(root: string, commit: string, bundle: Bundle): Promise<Measured> {
  const copy = mkdtempSync(join(tmpdir(), "sluice-bundle-"));
  try {
    const sources = ["package.json", "src", "serverless"];
    const archive = execFileSync("git", ["archive", commit, ...sources], { cwd: root, maxBuffer: 1e9 });
    execFileSync("tar", ["-x"], { cwd: copy, input: archive });
    symlinkSync(join(root, "node_modules"), join(copy, "node_modules"));
    return await measure(bundle, `${copy}/`);
  } finally {
    rmSync(copy, { recursive: true });
  }
}
