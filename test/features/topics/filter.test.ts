import { describe, expect, test } from "vitest";
import { conditionsOf, passes, type TopicFilter } from "../../../src/features/topics/index.ts";

const lets = (filter: TopicFilter, headers?: Record<string, string>) => passes(conditionsOf(filter), headers);

describe("a filter", () => {
  test("compares one header", () => {
    const eu = { header: "region", in: ["eu", "uk"] };
    expect([
      lets(eu, { region: "eu" }),
      lets(eu, { region: "us" }),
      lets(eu, { other: "eu" }),
      lets(eu),
    ]).toEqual([true, false, false, false]);
    const others = { header: "region", notIn: ["eu"] };
    expect([lets(others, { region: "eu" }), lets(others, { region: "us" }), lets(others)]).toEqual([
      false,
      true,
      true,
    ]);
    const has = { header: "region", exists: true };
    const hasNot = { header: "region", exists: false };
    expect([lets(has, { region: "" }), lets(has), lets(hasNot, { region: "x" }), lets(hasNot)]).toEqual([
      true,
      false,
      false,
      true,
    ]);
    // Nothing is inherited.
    expect(lets({ header: "toString", exists: true }, {})).toBe(false);
  });

  test("may have several conditions, which must all be met", () => {
    const both = [
      { header: "region", in: ["eu"] },
      { header: "test", exists: false },
    ];
    expect(lets(both, { region: "eu" })).toBe(true);
    expect(lets(both, { region: "eu", test: "1" })).toBe(false);
    expect(lets([], {})).toBe(true);
  });

  test.each<[filter: unknown, message: string]>([
    ["eu", "filter"],
    [{ header: "region" }, "filter.header must be given with one of in, notIn and exists"],
    [{ header: "region", in: ["eu"], exists: true }, "filter.header must be given with one of"],
    [{ header: "", in: ["eu"] }, "filter.header must be the name of a header"],
    [{ header: "region", in: "eu" }, "filter.in must be an array of 1 to 100 texts"],
    [[{ header: "region", notIn: [7] }], "filter[0].notIn must be an array"],
    [{ header: "region", exists: 1 }, "filter.exists must be true or false"],
    [{ header: "region", eq: "eu" }, "eq"],
    [
      Array.from({ length: 11 }, () => ({ header: "a", exists: true })),
      "filter must have at most 10 conditions",
    ],
  ])("that is %j is refused", (filter, message) => {
    expect(() => conditionsOf(filter as TopicFilter)).toThrow(message);
  });
});
