import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { root, testsNamedIn } from "./named-tests.ts";

describe("the table of features", () => {
  const page = readFileSync(join(root, "notes/lineage.md"), "utf8");
  const [, table = ""] = /\n(\| feature \| Torrelque \|.*\n(?:\|.*\n)+)/.exec(page) ?? [];
  const [head = [], , ...rows] = table
    .trim()
    .split("\n")
    .map((row) =>
      row
        .split("|")
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
  const features = rows.map(([feature = "", ...cells]) => ({
    feature,
    marks: cells.slice(0, -2),
    here: cells.at(-2) ?? "",
    tests: testsNamedIn(cells.at(-1) ?? ""),
  }));
  const SYSTEMS = ["Torrelque", "Redis Work Queue", "blog", "Worqr", "Blueque"];
  const OURS_ALONE = ["limits on how many work, and how often; pause; back-pressure"];

  test("has a column for each of five systems and for this one, and each feature once", () => {
    expect(head).toEqual(["feature", ...SYSTEMS, "Sluice", "tests"]);
    expect(features.length).toBeGreaterThan(30);
    expect(new Set(features.map(({ feature }) => feature)).size).toBe(features.length);
    for (const { marks } of features) expect(marks).toHaveLength(5);
  });

  test("says of each feature which other system has it, except the features of this one alone", () => {
    expect(features.flatMap(({ marks }) => marks).filter((mark) => mark !== "" && mark !== "●")).toEqual([]);
    const unmarked = features.filter(({ marks }) => !marks.includes("●"));
    expect(unmarked.map(({ feature }) => feature)).toEqual(OURS_ALONE);
  });

  test("says what each feature is here, or why it is declined", () => {
    expect(features.filter(({ here }) => !/\w+/.test(here)).map(({ feature }) => feature)).toEqual([]);
    const unexplained = features.filter(({ here }) => /\bdeclined(?![:,] \w+ \w+)/.test(here));
    expect(unexplained.map(({ feature }) => feature)).toEqual([]);
  });

  test("names the tests of each feature, which exist", () => {
    expect(features.filter(({ tests }) => tests.length === 0).map(({ feature }) => feature)).toEqual([]);
    const lost = features.flatMap(({ tests }) => tests).filter(({ exists }) => !exists);
    expect(lost).toEqual([]);
  });
});
