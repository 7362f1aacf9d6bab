import { invalidArgument } from "../../errors.ts";
import { milliseconds, type Duration } from "../core/duration.ts";
import { LAST_INSTANT, wholeNumber } from "../core/validation.ts";

/** When something recurs, as a caller says it: by a cron expression, or after each interval. */
export type Recurrence =
  | {
      /**
       * Five fields (minute, hour, day of month, month, day of week), or six with seconds in front; `*`, lists, ranges,
       * steps, names, `L`, `W` and `#`, or `@hourly`, `@daily`, `@weekly`, `@monthly`, `@yearly`. Where both days are
       * given, either is enough. A sweep enqueues what is due, so how often it runs is how exact the time is.
       */
      readonly cron: string;
      /**
       * By whose clock, as the IANA names it, such as `"Europe/Berlin"`. Where the clock is put forward, the time of an
       * expression with one hour and one minute that is skipped counts as the first after the gap, and where it is put
       * back it counts once. Of one with several, what is skipped is left out, and what comes twice counts twice.
       * @default "UTC"
       */
      readonly timeZone?: string | undefined;
      readonly every?: undefined;
      readonly from?: undefined;
    }
  | {
      /** At least 1 s. */
      readonly every: Duration;
      /** The first one, epoch ms; of one that has passed the next that follows counts. @default after one interval */
      readonly from?: number | undefined;
      readonly cron?: undefined;
      readonly timeZone?: undefined;
    };

/** The same as it is kept, every part told; instants epoch ms, durations ms. */
export type Rhythm =
  | { readonly cron: string; readonly timeZone: string }
  | { readonly every: number; readonly from: number };

/** The occurrences of a rhythm. */
export interface Calendar {
  /** The first at or after an instant; undefined where there is none. */
  readonly firstFrom: (instant: number) => number | undefined;
  /** The last up to an instant, that one included. */
  readonly lastUntil: (instant: number) => number | undefined;
}

const FIELDS = /^(?:@[a-z]+|[^\s:]+(?: [^\s:]+){4,5})$/i;
const MAX_EXPRESSION = 256;
const ZONE = /^[A-Za-z][A-Za-z0-9_+/-]{0,63}$/;

/** Options of {@link Recurrence}. */
export const RECURRENCE = ["cron", "timeZone", "every", "from"] as const;

/**
 * What a caller says, checked, but for when it first occurs.
 * @throws {SluiceError} `invalid_argument`
 */
export function readRecurrence(
  recurrence: Recurrence,
): { cron: string; timeZone: string } | { every: number; from: number | undefined } {
  const { cron, timeZone, every, from } = recurrence;
  if ((cron === undefined) === (every === undefined))
    throw invalidArgument("cron", "or every must be given, and not both");
  if (cron === undefined) {
    if (timeZone !== undefined) throw invalidArgument("timeZone", "must stand beside cron");
    return {
      every: milliseconds(every, "every", { min: 1_000 }),
      from: from === undefined ? undefined : wholeNumber(from, "from", 0, LAST_INSTANT),
    };
  }
  if (from !== undefined) throw invalidArgument("from", "must stand beside every");
  const fields = typeof cron === "string" ? cron.trim().split(/\s+/).join(" ") : "";
  if (!FIELDS.test(fields) || fields.length > MAX_EXPRESSION) {
    throw invalidArgument(
      "cron",
      "must be a cron expression of five fields, of six with seconds in front, or such as @daily",
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
    throw invalidArgument("timeZone", 'must be a time zone that the IANA names, such as "Europe/Berlin"');
  }
}

/** The rhythm that is wanted; `same` where it is the one before. */
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
 * The occurrences of a rhythm, up to an instant.
 * @throws {SluiceError} `invalid_argument` for an expression that cannot be read
 */
export async function calendarOf(rhythm: Rhythm, until: number = LAST_INSTANT): Promise<Calendar> {
  const { firstFrom, lastUntil } = "every" in rhythm ? byInterval(rhythm) : await byCron(rhythm);
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

/** Only who has schedules loads what reads cron expressions. */
async function byCron({ cron, timeZone }: { cron: string; timeZone: string }): Promise<Calendar> {
  const { Cron } = await import("croner");
  let expression: InstanceType<typeof Cron>;
  try {
    expression = new Cron(cron, { paused: true, timezone: timeZone, mode: "5-or-6-parts" });
  } catch (error) {
    // Such as "CronPattern: Invalid value for minute: 60".
    const reason = error instanceof Error ? error.message.replace(/^\w+: /, "") : "";
    throw invalidArgument("cron", `must be a cron expression: ${reason}`);
  }
  // It looks for what lies strictly behind an instant, or before it.
  return {
    firstFrom: (instant) => expression.nextRun(new Date(instant - 1))?.getTime(),
    lastUntil: (instant) => expression.previousRuns(1, new Date(instant + 1))[0]?.getTime(),
  };
}
