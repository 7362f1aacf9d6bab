import { describe, expect, test } from "vitest";
import { canonicalDeclaration } from "../../src/deploy/declared/canonical.ts";
import type { NewSchedule } from "../../src/index.ts";

type Schedules = Readonly<Record<string, NewSchedule<unknown>>>;

describe("a declaration is the same", () => {
  test("in any order of its options, with durations and instants in any form", () => {
    const from = new Date(1_792_800_000_000);
    const one = canonicalDeclaration(
      { rate: { most: 5, per: "1s" }, events: true, maxWorking: undefined },
      { b: { every: "1h", from, payload: { x: 1 }, lease: "1m" }, a: { cron: "@daily", payload: 2 } },
      { lease: "30s", maxAttempts: 3 },
    );
    const other = canonicalDeclaration(
      { events: true, rate: { per: 1_000, most: 5 } },
      {
        a: { payload: 2, cron: "@daily" },
        b: { lease: 60_000, payload: { x: 1 }, from: from.getTime(), every: 3_600_000 },
      },
      { maxAttempts: 3, lease: 30_000 },
    );
    expect(one).toBe(other);
  });

  test.each<[string, Schedules]>([
    ["another payload", { a: { every: "1h", payload: { every: 60_000 } } }],
    ["another name", { b: { every: "1h", payload: { every: "1m" } } }],
    ["another interval", { a: { every: "2h", payload: { every: "1m" } } }],
    ["one more option", { a: { every: "1h", payload: { every: "1m" }, group: "g" } }],
    ["none", {}],
  ])("and not with %s", (_, schedules) => {
    const declared = canonicalDeclaration({}, { a: { every: "1h", payload: { every: "1m" } } }, {});
    expect(canonicalDeclaration({}, schedules, {})).not.toBe(declared);
  });
});
