import { describe, expect, test } from "vitest";
import { durationBounds } from "../../src/index.ts";
import { p95, waitP95 } from "../../src/operate/percentiles.ts";

/** So many durations in the class of each bound; `over` in the last class. */
function durations(counts: Readonly<Record<number | "over", number>> | Record<number, number>) {
  const bounds = [...durationBounds, "over"] as const;
  return { classes: bounds.map((bound) => (counts as Record<number | string, number>)[bound] ?? 0) };
}
const none = { pending: 0, oldestAge: null };

describe("95 of 100 durations", () => {
  test.each<[Record<number | string, number>, number | null]>([
    [{}, null],
    [{ 10: 1 }, 10],
    [{ 10: 95, 3_000: 5 }, 10],
    [{ 10: 94, 3_000: 6 }, 3_000],
    [{ 10: 1, 3_000_000: 1 }, 3_000_000],
    [{ 10: 1, over: 1 }, 3_000_001],
  ])("of %o are within %s ms", (counts, expected) => {
    expect(p95(durations(counts))).toBe(expected);
    expect(waitP95(durations(counts), none)).toBe(expected);
  });
});

describe("tasks that wait count as those that started", () => {
  test.each<[string, Record<number, number>, pending: number, oldestAge: number | null, number | null]>([
    ["alone they are spread evenly up to the oldest", {}, 100, 1_200_000, 1_140_000],
    ["a single one is nearly as old as it is", {}, 1, 1_000, 950],
    ["a few among many that started do not count", { 10: 1_000 }, 20, 1_200_000, 10],
    // 1,000 of 11,000 wait: 550 of them longer than 540,000 ms.
    ["many do", { 10: 10_000 }, 1_000, 1_200_000, 540_000],
    ["those that have begun to wait are not slower than those that started", { 3_000: 100 }, 100, 100, 3_000],
    ["all of them, if as many as may be beyond were slow", { 10: 90, 100_000: 10 }, 100, 1_000, 1_000],
    ["also beyond the last bound", {}, 100, 100_000_000, 95_000_000],
    [
      "beyond it the oldest does not say how long those that started had waited",
      { 10: 1 },
      1,
      4_000_000,
      3_600_000,
    ],
    ["without an age they have not waited", {}, 3, null, 0],
  ])("%s", (_, counts, pending, oldestAge, expected) => {
    expect(waitP95(durations(counts), { pending, oldestAge })).toBe(expected);
  });

  test("the older the oldest and the more wait, the longer", () => {
    const waits = durations({ 10: 500, 1_000: 300, 30_000: 20 });
    const byAge = [0, 10, 1_000, 60_000, 3_600_000].map((oldestAge) =>
      waitP95(waits, { pending: 200, oldestAge }),
    );
    expect(byAge).toEqual(byAge.toSorted((one, other) => Number(one) - Number(other)));
    const byCount = [0, 10, 100, 10_000].map((pending) => waitP95(waits, { pending, oldestAge: 3_600_000 }));
    expect(byCount).toEqual(byCount.toSorted((one, other) => Number(one) - Number(other)));
  });
});
