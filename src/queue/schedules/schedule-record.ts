/** What stands in a queue's timetable: when each schedule recurs, and the task that does. */
import { calendarOf, type Rhythm } from "./calendar.ts";
import { decodeValue } from "../core/codec.ts";
import { invalidArgument, SluiceError } from "../../errors.ts";
import { escaped, LAST_INSTANT, unescaped } from "../core/validation.ts";
import { fixedOptions } from "../tasks/task-options.ts";
import { readHeaders, readRecord, writeFixed, readLetters } from "../core/record.ts";
import type { EnqueueOptions } from "../core/types.ts";

/** The next occurrence of a schedule that has none, for it is paused or has ended: later than any instant. */
export const NEVER = LAST_INSTANT + 1;

/** The headers of an occurrence: whose it is, and its time, epoch ms. The last is filled in when it is enqueued. */
const NAME_HEADER = "schedule";
const TIME_HEADER = "scheduled-at";

/** What of a task a schedule fixes, beside its payload. */
export const SCHEDULED_OPTIONS = [
  "lease",
  "maxAttempts",
  "resultTtl",
  "deadTtl",
  "group",
  "priority",
  "headers",
] as const satisfies readonly (keyof EnqueueOptions)[];

export type ScheduledOptions = Pick<EnqueueOptions, (typeof SCHEDULED_OPTIONS)[number]>;

/** A schedule as its record has it; instants epoch ms. */
export interface Plan {
  readonly rhythm: Rhythm;
  /** No occurrence is after that. */
  readonly until: number | undefined;
  readonly missed: "last" | "all";
  readonly paused: boolean;
  readonly createdAt: number;
  /** The last occurrence that was enqueued. */
  readonly lastAt: number | undefined;
}

/** A schedule without its task. Instants are epoch ms, durations ms. */
export type ListedSchedule = Rhythm & {
  readonly name: string;
  readonly queue: string;
  /** No occurrence is after that. */
  readonly until?: number | undefined;
  readonly missed: "last" | "all";
  readonly paused: boolean;
  readonly createdAt: number;
  /** Its next occurrence; null while it is paused, and once there is none any more. */
  readonly nextAt: number | null;
  /** The last occurrence that was enqueued; null before the first. */
  readonly lastAt: number | null;
};

/** The task that recurs; options that were not given are not there. Durations in ms. */
export interface ScheduledTask<T = unknown> {
  readonly payload: T;
  readonly lease?: number;
  readonly maxAttempts?: number;
  readonly resultTtl?: number;
  readonly deadTtl?: number;
  readonly group?: string;
  readonly priority?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A schedule with its task. */
export type Schedule<T = unknown> = ListedSchedule & ScheduledTask<T>;

export function writePlan({ rhythm, until, missed, paused, createdAt, lastAt }: Plan): string {
  const letters: readonly (readonly [letter: string, value: string | number | undefined])[] = [
    ["a", missed === "all" ? 1 : undefined],
    ["c", "cron" in rhythm ? escaped(rhythm.cron) : undefined],
    ["e", "every" in rhythm ? rhythm.every : undefined],
    ["f", "every" in rhythm ? rhythm.from : undefined],
    ["o", lastAt],
    ["p", paused ? 1 : undefined],
    ["s", createdAt],
    ["u", until],
    ["z", "cron" in rhythm ? rhythm.timeZone : undefined],
  ];
  const told = letters.filter(([, value]) => value !== undefined);
  return `1${told.map(([letter, value]) => `;${letter}=${value}`).join("")}`;
}

/** @throws {SluiceError} `unexpected_reply` for a record of another form, `newer_schema` for a newer release's */
export function readPlan(record: string): Plan {
  if (/^(?!1;)\d+;/.test(record)) {
    throw new SluiceError(
      "newer_schema",
      "a schedule was written by a newer release of Sluice; deploy that release here too",
    );
  }
  const letters = readLetters(record);
  const instant = (letter: string) => (letters.has(letter) ? Number(letters.get(letter)) : undefined);
  const [cron, every] = [letters.get("c"), instant("e")];
  if (cron === undefined && every === undefined) {
    throw new SluiceError("unexpected_reply", "a schedule's record does not say when it recurs");
  }
  return {
    rhythm:
      cron === undefined
        ? { every: every ?? 0, from: instant("f") ?? 0 }
        : { cron: unescaped(cron), timeZone: letters.get("z") ?? "UTC" },
    until: instant("u"),
    missed: letters.has("a") ? "all" : "last",
    paused: letters.has("p"),
    createdAt: instant("s") ?? 0,
    lastAt: instant("o"),
  };
}

/** When it occurs first from now on, after what it has enqueued already. */
export async function nextOf({ rhythm, until, lastAt = -1 }: Plan, now: number): Promise<number> {
  const calendar = await calendarOf(rhythm, until);
  return calendar.firstFrom(Math.max(now, lastAt + 1)) ?? NEVER;
}

/**
 * When a schedule occurs that was put before, perhaps by another runtime, which knows its time zone.
 * @throws {SluiceError} `unsupported` where this one does not
 */
export async function tellable<T>(tell: () => Promise<T>): Promise<T> {
  try {
    return await tell();
  } catch {
    throw new SluiceError("unsupported", "this runtime cannot tell when a schedule occurs");
  }
}

/** A schedule as callers see it. at: its next occurrence. */
export function listed(queue: string, name: string, plan: Plan, at: number): ListedSchedule {
  const { rhythm, until, missed, paused, createdAt, lastAt } = plan;
  return {
    name,
    queue,
    ...rhythm,
    ...(until !== undefined && { until }),
    missed,
    paused,
    createdAt,
    nextAt: at >= NEVER ? null : at,
    lastAt: lastAt ?? null,
  };
}

/**
 * The fixed record of a schedule's tasks, from its options on.
 * @param payload as the codec wrote it, or encrypted
 * @throws {SluiceError} `invalid_argument`
 */
export function writeTask(name: string, task: ScheduledOptions, payload: string): string {
  const fixed = fixedOptions({}, task, "");
  for (const header of [NAME_HEADER, TIME_HEADER]) {
    if (fixed.headers && Object.hasOwn(fixed.headers, header)) {
      throw invalidArgument(`headers.${header}`, "must not be given: the schedule sets it");
    }
  }
  const headers = (time: string) => ({ ...fixed.headers, [NAME_HEADER]: name, [TIME_HEADER]: time });
  // As long as they can become.
  fixedOptions({}, { headers: headers(String(LAST_INSTANT)) }, "");
  return writeFixed({ token: undefined, ...fixed, headers: headers(""), payload });
}

/** What {@link writeTask} wrote. */
export function readTask(task: string): ScheduledTask {
  const { says, rest } = readRecord(`1${task}`, []);
  const length = Number(says["h"] ?? 0);
  const { [NAME_HEADER]: _, [TIME_HEADER]: __, ...headers } = readHeaders(rest.slice(0, length));
  const number = (name: keyof ScheduledOptions, letter: string) =>
    says[letter] === undefined ? {} : { [name]: Number(says[letter]) };
  return {
    payload: decodeValue(rest.slice(length)),
    ...number("lease", "l"),
    ...number("maxAttempts", "m"),
    ...number("resultTtl", "r"),
    ...number("deadTtl", "d"),
    ...(says["G"] !== undefined && { group: unescaped(says["G"]) }),
    ...number("priority", "P"),
    ...(Object.keys(headers).length > 0 && { headers }),
  };
}
