import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { fastTier } from "../../tools/fast-tier.mjs";
import { faultsOf, root } from "../mutants/coverage.ts";
import { mutants } from "../mutants/list.ts";
import { nearest } from "../mutants/nearest.ts";

const all = Object.values(mutants).flat();

test("each mutant fits its file, and each script, law and invariant has as many as it should", () => {
  expect(faultsOf(all)).toEqual([]);
});

test("each file with mutants has its nearest tests listed", () => {
  expect(all.filter(({ file }) => !nearest[file]).map(({ file }) => file)).toEqual([]);
});

test("what the lists of tests name exists: no test is left out of a tier, or of a file's nearest, by a wrong path", () => {
  const tests = Object.values(nearest).flat();
  const paths = [...Object.keys(nearest), ...tests.map((name) => `test/${name}.test.ts`), ...fastTier];
  expect(paths.filter((path) => !existsSync(join(root, path)))).toEqual([]);
});
