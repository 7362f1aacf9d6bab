import { Cron, CronPattern } from "croner";
import { describe, expect, test } from "vitest";
import { calendarOf, readRecurrence, type Calendar } from "../../../src/features/schedules/calendar.ts";
import { changesOf, clockOf, type Change } from "../../support/clocks.ts";
import { dice } from "../../support/dice.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const years = { from: Date.UTC(2024, 0, 1), until: Date.UTC(2030, 0, 1) };

const roll = dice(29);
const int = (min: number, max: number) => min + Math.floor(roll() * (max - min + 1));
const oneOf = <T>(values: readonly T[]) => values[int(0, values.length - 1)] as T;

/** The calendar of croner, a library of cron expressions, for the same expression. */
function cronerOf(cron: string, timezone: string): Calendar {
  const expression = new Cron(cron, { paused: true, mode: "5-or-6-parts", timezone });
  return {
    firstFrom: (instant) => expression.nextRun(new Date(instant - 1))?.getTime(),
    lastUntil: (instant) => expression.previousRuns(1, new Date(instant + 1))[0]?.getTime(),
  };
}

/** The next occurrences from an instant on, and the last ones up to it. */
function around(calendar: Calendar, instant: number, count = 5): { next: number[]; last: number[] } {
  const next: number[] = [];
  for (let at = calendar.firstFrom(instant); at !== undefined && next.length < count;) {
    next.push(at);
    at = calendar.firstFrom(at + 1);
  }
  const last: number[] = [];
  for (let at = calendar.lastUntil(instant); at !== undefined && at > 0 && last.length < count;) {
    last.push(at);
    at = calendar.lastUntil(at - 1);
  }
  return { next, last };
}

const readable = ({ next, last }: ReturnType<typeof around>) => ({
  next: next.map((at) => new Date(at).toISOString()),
  last: last.map((at) => new Date(at).toISOString()),
});

test("accepts the expressions that croner accepts, and no other", () => {
  const items = [
    ..."* ? 0 1 5 05 7 8 12 13 23 24 28 31 32 59 60 1-5 0-0 5-1 0-7 1-5/2 1-5/8 */2 */7 */8 */60 */61 */0 5/2".split(
      " ",
    ),
    ..."L l LW lw 15W 0W 31W 32W 1-31W W L,5 5,LW l,lw 5L FRIL 5#2 FRI#5 5#6 5#0 5#02 5#L 1-5#2 1-5/2L */2#1".split(
      " ",
    ),
    ..."*L *#1 #2 mon FRI sun jan DEC mon-fri sat-sun sun-sat fri-mon monday jan-mar/2 5mon + +FRI +* - / , a %".split(
      " ",
    ),
  ];
  const expressions = Array.from({ length: 10_000 }, () => {
    const fields = Array.from({ length: oneOf([4, 5, 5, 5, 6, 6, 7]) }, () =>
      roll() < 0.7 ? oneOf(["*", "0", "1"]) : "",
    );
    return fields
      .map((field) => field || (roll() < 0.2 ? `${oneOf(items)},${oneOf(items)}` : oneOf(items)))
      .join(" ");
  });
  const names = [
    "@hourly",
    "@daily",
    "@midnight",
    "@WEEKLY",
    "@monthly",
    "@yearly",
    "@annually",
    "@reboot",
    "@noon",
  ];
  const isAccepted = (read: () => unknown) => {
    try {
      read();
      return true;
    } catch {
      return false;
    }
  };
  const count = { accepted: 0, refused: 0 };
  const different = [...names, ...expressions].filter((cron) => {
    const accepted = isAccepted(() =>
      calendarOf(readRecurrence({ cron }) as { cron: string; timeZone: string }),
    );
    count[accepted ? "accepted" : "refused"]++;
    return accepted !== isAccepted(() => cronerOf(cron, "UTC"));
  });
  expect(different).toEqual([]);
  expect(Math.min(count.accepted, count.refused)).toBeGreaterThan(500);
});

const NAMES = {
  month: "jan feb mar apr may jun jul aug sep oct nov dec".split(" "),
  weekday: "sun mon tue wed thu fri sat".split(" "),
};

/** A random field: `*`, a value, a list, a range or a step. */
function field(min: number, max: number, names: readonly string[] = []): string {
  const value = () => (names.length > 0 && roll() < 0.3 ? oneOf(names) : String(int(min, max)));
  const low = int(min, max);
  return oneOf([
    () => "*",
    value,
    () => Array.from({ length: int(2, 4) }, value).join(","),
    () => `${low}-${int(low, max)}`,
    () => `${low}-${int(low, max)}/${int(1, max - min)}`,
    () => `*/${int(1, max - min)}`,
  ])();
}

/** A random expression of five fields, often at night, when clocks change. */
function expression(): string {
  const days = ["L", "LW", "15W", "1W", "31W", "L,3", "30W,2", "?"];
  const weekdays = ["5L", "FRI#2", "1#1,3#3", "6#5", "mon-wed#1", "*/2L", "+5", "+1-5", "7", "sat-sun"];
  return [
    roll() < 0.5 ? oneOf(["0", "30", "59"]) : field(0, 59),
    roll() < 0.5 ? oneOf(["0", "1", "2", "3", "23"]) : field(0, 23),
    roll() < 0.5 ? "*" : roll() < 0.3 ? oneOf(days) : field(1, 31),
    roll() < 0.7 ? "*" : field(1, 12, NAMES.month),
    roll() < 0.5 ? "*" : roll() < 0.3 ? oneOf(weekdays) : field(0, 6, NAMES.weekday),
  ].join(" ");
}

/** A random instant, mostly near a change of the clock. */
function instantNear(changes: readonly Change[]): number {
  if (changes.length === 0 || roll() < 0.15) return int(years.from, years.until);
  return oneOf(changes).after + int(-40 * 60, 40 * 60) * MINUTE + oneOf([0, 0, 333]);
}

/**
 * The occurrences of an expression of five fields, found by looking at the clock in each minute.
 *
 * Whether a time matches comes from croner, in UTC, whose clock never changes. An expression with one hour
 * and one minute occurs when the clock first shows that time or a later one of it; another one whenever the clock
 * shows such a time.
 */
function minuteByMinute(
  cron: string,
  clock: (instant: number) => number,
  from: number,
  until: number,
): number[] {
  const times = new Cron(cron, { paused: true, timezone: "UTC" });
  const isFixed = new CronPattern(cron).isFixedTime;
  const found: number[] = [];
  let latest = clock(from - MINUTE);
  for (let instant = from; instant <= until; instant += MINUTE) {
    const shown = clock(instant);
    const first = isFixed ? latest + MINUTE : shown;
    let matches = false;
    for (let time = first; time <= shown; time += MINUTE) matches ||= times.match(new Date(time));
    if (matches) found.push(instant);
    latest = Math.max(latest, shown);
  }
  return found;
}

describe("the occurrences around the changes of a clock", () => {
  /** Whether a clock skips the end of a day and goes on with the next one, at midnight. */
  const skipsEndOfDay = (clock: (instant: number) => number, { after }: Change) => {
    const [before, shown] = [clock(after - MINUTE) + MINUTE, clock(after)];
    return shown > before && shown % DAY === 0;
  };

  const zones = Intl.supportedValuesOf("timeZone");
  const withoutEndOfDay: string[] = [];

  test("are those of croner, in every zone", () => {
    const different: object[] = [];
    for (const timeZone of zones) {
      const clock = clockOf(timeZone);
      const changes = changesOf(clock, years.from, years.until);
      if (changes.some((change) => skipsEndOfDay(clock, change))) withoutEndOfDay.push(timeZone);
      for (let i = 0; i < 6; i++) {
        const cron = roll() < 0.1 ? `${field(0, 59)} ${expression()}` : expression();
        const instant = instantNear(changes);
        const ours = around(calendarOf({ cron, timeZone }), instant);
        const theirs = around(cronerOf(cron, timeZone), instant);
        const compared = [...ours.next, ...ours.last];
        // Croner leaves out a fixed time that is skipped if the next day begins right after the gap. It occurs right
        // after the gap, as any other fixed time that is skipped: the next test shows it.
        const isLeftOut = changes.some(
          (change) =>
            skipsEndOfDay(clock, change) &&
            new CronPattern(cron).isFixedTime &&
            compared.includes(change.after),
        );
        if (JSON.stringify(ours) !== JSON.stringify(theirs) && !isLeftOut)
          different.push({
            timeZone,
            cron,
            at: new Date(instant),
            ours: readable(ours),
            theirs: readable(theirs),
          });
      }
    }
    expect(different).toEqual([]);
    expect(zones.length).toBeGreaterThan(400);
  });

  test("are those that a look at the clock in each minute finds, also where croner leaves one out", () => {
    const chosen = [
      "Europe/Berlin",
      "Australia/Lord_Howe",
      "Africa/Cairo",
      "America/Santiago",
      "Asia/Beirut",
    ];
    for (const timeZone of [...chosen, ...withoutEndOfDay]) {
      const clock = clockOf(timeZone);
      const changes = changesOf(clock, years.from, years.until).slice(0, 2);
      for (const { after } of changes) {
        const [from, until] = [after - 2 * DAY, after + 2 * DAY];
        const skipped = new Date(clock(after) - 30 * MINUTE);
        const crons = [
          `${skipped.getUTCMinutes()} ${skipped.getUTCHours()} * * *`,
          "@daily",
          expression(),
          expression(),
        ];
        for (const cron of crons) {
          const calendar = calendarOf({ cron, timeZone });
          const found: number[] = [];
          for (
            let at = calendar.firstFrom(from);
            at !== undefined && at <= until;
            at = calendar.firstFrom(at + 1)
          )
            found.push(at);
          const backwards: number[] = [];
          for (
            let at = calendar.lastUntil(until);
            at !== undefined && at >= from;
            at = calendar.lastUntil(at - 1)
          )
            backwards.unshift(at);
          const expected = minuteByMinute(cron, clock, from, until);
          expect({ timeZone, cron, found, backwards }).toEqual({
            timeZone,
            cron,
            found: expected,
            backwards: expected,
          });
        }
      }
    }
    // Known as America/Nuuk, too.
    expect(withoutEndOfDay).toContain("America/Godthab");
  });
});

describe("a search ends", () => {
  test.each([
    ["0 0 29 2 *", "2096-03-01T00:00Z", "2104-02-29T00:00:00.000Z"],
    ["0 0 29 2 +MON", "2072-03-01T00:00Z", "2112-02-29T00:00:00.000Z"],
    ["0 0 30 2 *", "2024-01-01T00:00Z", undefined],
    ["0 0 31 4,6,9,11 *", "2024-01-01T00:00Z", undefined],
    ["0 0 30W 2 *", "2024-01-01T00:00Z", undefined],
    ["0 0 1-3 * +MON#5", "2024-01-01T00:00Z", undefined],
  ])("%s from %s", (cron, from, expected) => {
    for (const timeZone of ["UTC", "Europe/London"]) {
      const calendar = calendarOf({ cron, timeZone });
      const found = calendar.firstFrom(Date.parse(from));
      expect(found === undefined ? undefined : new Date(found).toISOString()).toBe(expected);
      if (expected === undefined) expect(calendar.lastUntil(Date.parse(from))).toBeUndefined();
    }
  });
});
