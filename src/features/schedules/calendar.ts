import { invalidArgument } from "../../errors.ts";
import { milliseconds, type Duration } from "../../kernel/options/duration.ts";
import { instantMs, LAST_INSTANT } from "../../kernel/options/instants.ts";
import { readCron } from "./cron/expression.ts";
import { occurrencesOf } from "./cron/occurrences.ts";

/** When a schedule occurs: by a cron expression, or after each interval. */
export type Recurrence =
  | {
      /**
       * Five fields (minute, hour, day of month, month, day of week), or six with seconds in front. It may
       * have `*`, lists, ranges, steps, names, `L`, `W` and `#`; or it is `@hourly`, `@daily`, `@weekly`,
       * `@monthly` or `@yearly`. If both the day of month and the day of week are given, either is enough;
       * with `+` in front of the day of week, both must match. A sweep enqueues what is due, so the time is as
       * exact as sweeps are frequent.
       */
      readonly cron: string;
      /**
       * IANA name of the time zone, such as `"Europe/Berlin"`. If the clock is put forward, an expression
       * with one hour and one minute that is skipped occurs at the first instant after the gap. If the clock
       * is put back, it occurs once. An expression with several times leaves out those that are skipped, and
       * occurs twice at those that are repeated.
       * @default "UTC"
       */
      readonly timeZone?: string | undefined;
      readonly every?: undefined;
      readonly from?: undefined;
    }
  | {
      /** The interval, at least 1 s. */
      readonly every: Duration;
      /**
       * The first occurrence: a `Date`, or epoch ms. If it has passed, the next one counts.
       * @default after one interval
       */
      readonly from?: Date | number | undefined;
      readonly cron?: undefined;
      readonly timeZone?: undefined;
    };

/** A recurrence as it is stored: every part is given, instants in epoch ms, durations in ms. */
export type Rhythm =
  | { readonly cron: string; readonly timeZone: string }
  | { readonly every: number; readonly from: number };

/** The occurrences of a rhythm. */
export interface Calendar {
  /** The first occurrence at or after an instant, epoch ms; undefined if there is none. */
  readonly firstFrom: (instant: number) => number | undefined;
  /** The last occurrence at or before an instant, epoch ms; undefined if there is none. */
  readonly lastUntil: (instant: number) => number | undefined;
}

const FIELDS = /^(?:@[a-z]+|[^\s:]+(?: [^\s:]+){4,5})$/i;
const MAX_EXPRESSION = 256;
const ZONE = /^[A-Za-z][A-Za-z0-9_+/-]{0,63}$/;

/** Options of {@link Recurrence}. */
export const RECURRENCE = ["cron", "timeZone", "every", "from"] as const;

/**
 * Checks a recurrence, except whether the cron expression can be read.
 * @throws {SluiceError} `invalid_argument`
 */
export function readRecurrence(
  recurrence: Recurrence,
): { cron: string; timeZone: string } | { every: number; from: number | undefined } {
  const { cron, timeZone, every, from } = recurrence;
  if ((cron === undefined) === (every === undefined))
    throw invalidArgument("cron", "or every must be given, not both");
  if (cron === undefined) {
    if (timeZone !== undefined) throw invalidArgument("timeZone", "must be given with cron only");
    return {
      every: milliseconds(every, "every", { min: 1_000 }),
      from: from === undefined ? undefined : instantMs(from, "from", LAST_INSTANT),
    };
  }
  if (from !== undefined) throw invalidArgument("from", "must be given with every only");
  const fields = typeof cron === "string" ? cron.trim().split(/\s+/).join(" ") : "";
  if (!FIELDS.test(fields) || fields.length > MAX_EXPRESSION) {
    throw invalidArgument(
      "cron",
      "must be a cron expression of five fields, of six with seconds in front, or a name such as @daily",
    );
  }
  return { cron: fields, timeZone: readZone(timeZone ?? "UTC") };
}

function readZone(timeZone: unknown): string {
  try {
    if (typeof timeZone !== "string" || !ZONE.test(timeZone)) throw new Error("no name");
    Intl.DateTimeFormat("en", { timeZone });
    return timeZone;
  } catch {
    throw invalidArgument("timeZone", 'must be an IANA time zone, such as "Europe/Berlin"');
  }
}

/**
 * The rhythm to store for a recurrence.
 * @param before the rhythm that is stored
 * @param now Redis's time, epoch ms
 * @returns the rhythm, and in `same` whether it is the stored one
 */
export function rhythmOf(
  wanted: ReturnType<typeof readRecurrence>,
  before: Rhythm | undefined,
  now: number,
): { rhythm: Rhythm; same: boolean } {
  if ("cron" in wanted) {
    const same =
      before !== undefined &&
      "cron" in before &&
      before.cron === wanted.cron &&
      before.timeZone === wanted.timeZone;
    return { rhythm: wanted, same };
  }
  const { every, from } = wanted;
  const same = before !== undefined && "every" in before && before.every === every;
  if (same && (from === undefined || from === before.from)) return { rhythm: before, same };
  return { rhythm: { every, from: from ?? now + every }, same: false };
}

/**
 * The occurrences of a rhythm.
 * @param until the last instant at which it may occur, epoch ms
 * @throws {SluiceError} `invalid_argument` for an invalid cron expression
 * @throws {RangeError} if this runtime does not know the time zone
 */
export function calendarOf(rhythm: Rhythm, until: number = LAST_INSTANT): Calendar {
  const { firstFrom, lastUntil } = "every" in rhythm ? byInterval(rhythm) : byCron(rhythm);
  return {
    firstFrom: (instant) => {
      const first = firstFrom(instant);
      return first !== undefined && first <= until ? first : undefined;
    },
    lastUntil: (instant) => lastUntil(Math.min(instant, until)),
  };
}

function byInterval({ every, from }: { every: number; from: number }): Calendar {
  return {
    firstFrom: (instant) => from + Math.max(0, Math.ceil((instant - from) / every)) * every,
    lastUntil: (instant) =>
      instant < from ? undefined : from + Math.floor((instant - from) / every) * every,
  };
}

function byCron({ cron, timeZone }: { cron: string; timeZone: string }): Calendar {
  const nearest = occurrencesOf(readCron(cron), timeZone);
  return {
    firstFrom: (instant) => nearest(Math.ceil(instant / 1_000) * 1_000, 1),
    lastUntil: (instant) => nearest(Math.floor(instant / 1_000) * 1_000, -1),
  };
}
