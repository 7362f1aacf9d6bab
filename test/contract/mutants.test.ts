import { expect, test } from "vitest";
import { faultsOf } from "../mutants/coverage.ts";
import { mutants } from "../mutants/list.ts";
import { nearest } from "../mutants/nearest.ts";

const all = Object.values(mutants).flat();

test("each mutant fits its file, and each script, law and invariant has as many as it should", () => {
  expect(faultsOf(all)).toEqual([]);
});

test("each file with mutants has its nearest tests listed", () => {
  expect(all.filter(({ file }) => !nearest[file]).map(({ file }) => file)).toEqual([]);
});
