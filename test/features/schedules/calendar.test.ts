import { describe, expect, test } from "vitest";
import {
  calendarOf,
  readRecurrence,
  rhythmOf,
  type Calendar,
  type Recurrence,
} from "../../../src/features/schedules/calendar.ts";
import { type Change, changesOf, clockOf } from "../../support/clocks.ts";

const ms = (text: string) => Date.parse(text);
const reported = (instant: number | undefined) =>
  instant === undefined ? "never" : new Date(instant).toISOString().replace(/:00\.000Z$/, "Z");

/** The next `count` occurrences from an instant on. */
function next(calendar: Calendar, from: string, count: number): string[] {
  const found: string[] = [];
  let instant = calendar.firstFrom(ms(from));
  for (; instant !== undefined && found.length < count; instant = calendar.firstFrom(instant + 1)) {
    found.push(reported(instant));
  }
  return found;
}

const cron = (cron: string, timeZone = "UTC", until?: number) => calendarOf({ cron, timeZone }, until);

describe("the occurrences of a cron expression", () => {
  test.each([
    ["UTC", 12],
    ["Europe/Berlin", 11],
  ])("are found at or after an instant, and up to one, in %s", (zone, hour) => {
    const noon = cron("0 12 * * *", zone);
    const at = `2024-01-01T${hour}:00Z`;
    expect(reported(noon.firstFrom(ms(at)))).toBe(at);
    expect(reported(noon.firstFrom(ms(at) + 1))).toBe(`2024-01-02T${hour}:00Z`);
    expect(reported(noon.lastUntil(ms(at)))).toBe(at);
    expect(reported(noon.lastUntil(ms(at) - 1))).toBe(`2023-12-31T${hour}:00Z`);
  });

  test.each([
    ["*/20 * * * *", ["2024-02-28T23:40Z", "2024-02-29T00:00Z", "2024-02-29T00:20Z"]],
    ["0 9 * * MON-FRI", ["2024-02-29T09:00Z", "2024-03-01T09:00Z", "2024-03-04T09:00Z"]],
    ["0 0 L * *", ["2024-02-29T00:00Z", "2024-03-31T00:00Z", "2024-04-30T00:00Z"]],
    ["0 0 29 2 *", ["2024-02-29T00:00Z", "2028-02-29T00:00Z", "2032-02-29T00:00Z"]],
    ["@monthly", ["2024-03-01T00:00Z", "2024-04-01T00:00Z", "2024-05-01T00:00Z"]],
    ["30 0 0 1 1 *", ["2025-01-01T00:00:30.000Z", "2026-01-01T00:00:30.000Z"]],
  ])("%s", (expression, expected) => {
    expect(next(cron(expression), "2024-02-28T23:30Z", expected.length)).toEqual(expected);
  });

  test("match if either the day of the month or the day of the week does", () => {
    const calendar = cron("0 0 13 * FRI");
    expect(next(calendar, "2024-09-12T00:00Z", 3)).toEqual([
      "2024-09-13T00:00Z",
      "2024-09-20T00:00Z",
      "2024-09-27T00:00Z",
    ]);
  });

  test("end at an instant", () => {
    const calendar = cron("@daily", "UTC", ms("2024-01-02T00:00Z"));
    expect(next(calendar, "2024-01-01T00:00Z", 5)).toEqual(["2024-01-01T00:00Z", "2024-01-02T00:00Z"]);
    expect(reported(calendar.lastUntil(ms("2025-01-01T00:00Z")))).toBe("2024-01-02T00:00Z");
  });

  test("may be none", () => {
    expect(cron("0 0 30 2 *").firstFrom(0)).toBeUndefined();
  });
});

// The clocks of Berlin go from 2 to 3 on 31 March, 01:00Z, and from 3 back to 2 on 27 October 2024, 01:00Z.
test("if the clock is put forward, times that recur within the hour are left out", () => {
  expect(next(cron("*/30 2 * * *", "Europe/Berlin"), "2024-03-30T00:00Z", 4)).toEqual([
    "2024-03-30T01:00Z",
    "2024-03-30T01:30Z",
    "2024-04-01T00:00Z",
    "2024-04-01T00:30Z",
  ]);
});

// The form of the expression decides which of the two rules holds: one hour and one minute, or several.
describe("an expression with several hours", () => {
  test.each(["0 0,2 * * *", "0 */2 * * *"])("leaves out skipped times: %s", (expression) => {
    const calendar = cron(expression, "Europe/Berlin");
    const [midnight, then] = next(calendar, "2024-03-30T23:00Z", 2);
    // 00:00, and then 04:00 or the next midnight, but neither 02:00 nor 03:00.
    expect([midnight, then]).toEqual([
      "2024-03-30T23:00Z",
      expression === "0 */2 * * *" ? "2024-03-31T02:00Z" : "2024-03-31T22:00Z",
    ]);
  });

  test("occurs twice at times that come twice", () => {
    const calendar = cron("15 2,3 * * *", "Europe/Berlin");
    expect(next(calendar, "2024-10-27T00:00Z", 3)).toEqual([
      "2024-10-27T00:15Z",
      "2024-10-27T01:15Z",
      "2024-10-27T02:15Z",
    ]);
  });
});

describe("in each zone whose clocks change, a fixed time occurs once for each day", () => {
  const years = { from: ms("2024-01-01T00:00Z"), until: ms("2029-01-01T00:00Z") };
  const HOUR = 3_600_000;

  // Zones with the same changes are one case.
  const cases = new Map<string, readonly [zone: string, changes: readonly Change[]]>();
  for (const zone of Intl.supportedValuesOf("timeZone")) {
    const changes = changesOf(clockOf(zone), years.from, years.until);
    const shown = changes.map(({ before, after }) => [before, clockOf(zone)(before), clockOf(zone)(after)]);
    if (changes.length > 0) cases.set(String(shown), [zone, changes]);
  }

  test("so many cases", () => expect(cases.size).toBeGreaterThan(30));

  test.each([...cases.values()])("%s", (zone, changes) => {
    const clock = clockOf(zone);
    for (const { before, after } of changes) {
      const [last, first] = [clock(before), clock(after)];
      // Just before what is skipped or repeated, within it, and just behind it.
      const [low, high] = [Math.min(last, first), Math.max(last, first)];
      for (const wall of [low - HOUR, low + 60_000, (low + high) / 2, high - 60_000, high + HOUR]) {
        const at = new Date(wall);
        const [minute, hour] = [at.getUTCMinutes(), at.getUTCHours()];
        const calendar = cron(`${minute} ${hour} * * *`, zone);
        const days = [-2, -1, 0, 1, 2].map((day) => Math.floor(wall / 60_000) * 60_000 + day * 24 * HOUR);
        const expected = days.map((day) => firstShowing(day, { before, after }));
        const found: number[] = [];
        for (let from = expected[0]! - 1; found.length < 5; from = found.at(-1)! + 1)
          found.push(calendar.firstFrom(from) ?? Number.NaN);
        const backwards: number[] = [];
        for (let until = expected[4]!; backwards.length < 5; until = backwards[0]! - 1)
          backwards.unshift(calendar.lastUntil(until) ?? Number.NaN);
        expect({ hour, minute, found, backwards }).toEqual({
          hour,
          minute,
          found: expected,
          backwards: expected,
        });
      }
    }

    /** The first instant at which the clock shows a time or a later one, near one change. */
    function firstShowing(wall: number, { before, after }: { before: number; after: number }): number {
      const early = wall - (clock(before) - before);
      return early <= before ? early : Math.max(after, wall - (clock(after) - after));
    }
  });
});

describe("if the clock is put back", () => {
  test("times that recur within the hour occur in both, also backwards", () => {
    const calendar = cron("*/30 2 * * *", "Europe/Berlin");
    const both = ["2024-10-27T00:00Z", "2024-10-27T00:30Z", "2024-10-27T01:00Z", "2024-10-27T01:30Z"];
    expect(next(calendar, "2024-10-26T12:00Z", 4)).toEqual(both);
    for (const [i, instant] of both.slice(1).entries()) {
      expect(reported(calendar.lastUntil(ms(instant) - 1))).toBe(both[i]);
    }
  });

  test("an hourly schedule keeps its hours in a zone that changes by half an hour", () => {
    // Lord Howe Island puts its clock back by half an hour, at 02:00 to 01:30, 15:00Z on 6 April 2024.
    expect(next(cron("0 * * * *", "Australia/Lord_Howe"), "2024-04-06T12:30Z", 4)).toEqual([
      "2024-04-06T13:00Z",
      "2024-04-06T14:00Z",
      "2024-04-06T15:30Z",
      "2024-04-06T16:30Z",
    ]);
  });
});

test("the occurrences of an interval start with the first, without drift, and are found at or after an instant and up to one", () => {
  const calendar = calendarOf({ every: 700, from: 10_000 });
  expect([0, 10_000, 10_001, 10_700, 10_701].map(calendar.firstFrom)).toEqual([
    10_000, 10_000, 10_700, 10_700, 11_400,
  ]);
  expect([9_999, 10_000, 10_699, 10_700].map(calendar.lastUntil)).toEqual([
    undefined,
    10_000,
    10_000,
    10_700,
  ]);
});

describe("a recurrence", () => {
  test("has its expression with single spaces, and UTC by default", () => {
    expect(readRecurrence({ cron: "  0  12 *\t* * " })).toEqual({ cron: "0 12 * * *", timeZone: "UTC" });
  });

  test.each<[object, string]>([
    [{}, "cron"],
    [{ cron: "* * * * *", every: "1m" }, "cron"],
    [{ cron: "" }, "cron"],
    [{ cron: "* * * *" }, "cron"],
    [{ cron: "* * * * * * *" }, "cron"],
    [{ cron: "2024-01-01T00:00:00" }, "cron"],
    [{ cron: "00:00 * * * *" }, "cron"],
    [{ cron: `${"0,".repeat(130)}0 * * * *` }, "cron"],
    [{ cron: "@daily", timeZone: "" }, "timeZone"],
    [{ cron: "@daily", timeZone: "+01:00" }, "timeZone"],
    [{ cron: "@daily", timeZone: "Berlin" }, "timeZone"],
    [{ cron: "@daily", from: 1 }, "from"],
    [{ every: "1m", timeZone: "UTC" }, "timeZone"],
    [{ every: 999 }, "every"],
    [{ every: "4000d" }, "every"],
    [{ every: "1m", from: 1.5 }, "from"],
  ])("%j is refused", (recurrence, path) => {
    const read = () => readRecurrence(recurrence as Recurrence);
    expect(read).toThrow(expect.objectContaining({ code: "invalid_argument", path }));
  });

  test.each([
    [
      "61 * * * *",
      '"61" is no minute; allowed are *, 0 to 59, ranges such as 0-59, and * and ranges with a step of 1 to 60, such as */2',
    ],
    ["* 24 * * *", '"24" is no hour; allowed are *, 0 to 23, '],
    ["* * 0 * *", '"0" is no day of the month; allowed are *, 1 to 31, L, LW, 15W, '],
    ["* * * 13 *", '"13" is no month; allowed are *, 1 to 12, JAN to DEC, '],
    ["* * * * 1,8", '"8" is no day of the week; allowed are *, 0 to 7, SUN to SAT, FRI#1 to FRI#5, FRIL, '],
    ["5/15 * * * *", '"5/15" is no minute; '],
    ["* * LW,15 * *", '"LW,15" is no day of the month; '],
    ["a b c d e", '"a" is no minute; '],
    ["@reboot", "@reboot is no name; allowed are @hourly, @daily, "],
  ])("%s is refused as an expression, and the error says why", (expression, reason) => {
    const message = `cron must be a cron expression: ${reason}`;
    expect(() => cron(expression)).toThrow(
      expect.objectContaining({
        code: "invalid_argument",
        path: "cron",
        message: expect.stringContaining(message),
      }),
    );
  });

  test("is unchanged if the same is given again, and keeps its `from` by default", () => {
    const before = { every: 60_000, from: 5 };
    expect(rhythmOf({ every: 60_000, from: undefined }, before, 100)).toEqual({ rhythm: before, same: true });
    expect(rhythmOf({ every: 60_000, from: 5 }, before, 100)).toEqual({ rhythm: before, same: true });
    expect(rhythmOf({ every: 60_000, from: 6 }, before, 100)).toMatchObject({ same: false });
    expect(rhythmOf({ every: 30_000, from: undefined }, before, 100)).toEqual({
      rhythm: { every: 30_000, from: 30_100 },
      same: false,
    });
    const daily = { cron: "@daily", timeZone: "UTC" };
    expect(rhythmOf(daily, before, 100)).toEqual({ rhythm: daily, same: false });
    expect(rhythmOf(daily, daily, 100)).toEqual({ rhythm: daily, same: true });
    expect(rhythmOf(daily, { ...daily, timeZone: "Europe/Berlin" }, 100)).toMatchObject({ same: false });
  });
});
