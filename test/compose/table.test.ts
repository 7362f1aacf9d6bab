import { expect, test } from "vitest";
import { featureNames, frontNames, printed, table } from "./table.ts";

test("each feature has a cell for each front: a test, or the reason for none", () => {
  expect(Object.keys(table)).toEqual(featureNames);
  for (const feature of featureNames) {
    expect(Object.keys(table[feature]).toSorted(), feature).toEqual(frontNames.toSorted());
    for (const cell of Object.values(table[feature])) {
      if (cell !== "runs") expect(cell.without, feature).toMatch(/^[A-Z].{20,}\.$/);
    }
  }
  expect(printed().split("\n")).toHaveLength(featureNames.length + 2 + printed().split(" × ").length - 1);
});
