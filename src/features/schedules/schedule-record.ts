/** The records in a queue's timetable: when each schedule recurs, and the task that it enqueues. */
import { calendarOf, type Rhythm } from "./calendar.ts";
import { invalidArgument, newerSchema, SluiceError } from "../../errors.ts";
import { slotOf, tagOf } from "../../kernel/names/slots.ts";
import { LAST_INSTANT } from "../../kernel/options/instants.ts";
import { escaped, unescaped } from "../../kernel/options/validation.ts";
import { fixedOptions } from "../../kernel/enqueue/task-options.ts";
import { writeFixed } from "../../kernel/record/record.ts";
import { readWritten } from "../../kernel/record/read-record.ts";
import { readFields } from "../../kernel/record/settings-record.ts";
import type { EnqueueOptions, TaskDefaults } from "../../kernel/options/types.ts";

/** The next occurrence of a schedule that is paused or has ended: later than any instant. */
export const NEVER = LAST_INSTANT + 1;

/**
 * The headers of a task: the schedule's name, and the occurrence, epoch ms, which the script adds at enqueue.
 */
const NAME_HEADER = "schedule";
const TIME_HEADER = "scheduled-at";

/** Options of the task that a schedule enqueues. */
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

/** A schedule without its task, as its record has it. Instants are epoch ms. */
export interface Plan {
  readonly rhythm: Rhythm;
  /** The schedule ends after this instant. */
  readonly until: number | undefined;
  readonly missed: "last" | "all";
  /** Undefined if it is not paused. */
  readonly pausedAt: number | undefined;
  readonly createdAt: number;
  /** The last occurrence that was enqueued. */
  readonly lastAt: number | undefined;
}

/** A schedule without its task. Instants are epoch ms, durations ms. */
export type ListedSchedule = Rhythm & {
  readonly name: string;
  readonly queue: string;
  /** The schedule ends after this instant. */
  readonly until?: number | undefined;
  readonly missed: "last" | "all";
  readonly paused: boolean;
  /** Since when it is paused. */
  readonly pausedAt?: number | undefined;
  readonly createdAt: number;
  /** The next occurrence; null while the schedule is paused, and after it has ended. */
  readonly nextAt: number | null;
  /** The last occurrence that was enqueued; null before the first. */
  readonly lastAt: number | null;
};

/** The task of a schedule, with the options that were given. Durations are in ms. */
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

/** Writes a record. {@link readPlan} reads it. */
export function writePlan({ rhythm, until, missed, pausedAt, createdAt, lastAt }: Plan): string {
  const letters: readonly (readonly [letter: string, value: string | number | undefined])[] = [
    ["a", missed === "all" ? 1 : undefined],
    ["c", "cron" in rhythm ? escaped(rhythm.cron) : undefined],
    ["e", "every" in rhythm ? rhythm.every : undefined],
    ["f", "every" in rhythm ? rhythm.from : undefined],
    ["o", lastAt],
    ["p", pausedAt],
    ["s", createdAt],
    ["u", until],
    ["z", "cron" in rhythm ? rhythm.timeZone : undefined],
  ];
  const given = letters.filter(([, value]) => value !== undefined);
  return `1${given.map(([letter, value]) => `;${letter}=${value}`).join("")}`;
}

/**
 * Reads a record.
 * @throws {SluiceError} `unexpected_reply` for an invalid record, `newer_schema` for the record of a newer
 *   release
 */
export function readPlan(record: string): Plan {
  if (/^(?!1;)\d+;/.test(record)) {
    throw newerSchema("a schedule");
  }
  const letters = readFields(record);
  const numberOf = (letter: string) => (letters.has(letter) ? Number(letters.get(letter)) : undefined);
  const [cron, every] = [letters.get("c"), numberOf("e")];
  if (cron === undefined && every === undefined) {
    throw new SluiceError("unexpected_reply", "a schedule's record has neither cron nor interval");
  }
  return {
    rhythm:
      cron === undefined
        ? { every: every ?? 0, from: numberOf("f") ?? 0 }
        : { cron: unescaped(cron), timeZone: letters.get("z") ?? "UTC" },
    until: numberOf("u"),
    missed: letters.has("a") ? "all" : "last",
    pausedAt: numberOf("p"),
    createdAt: numberOf("s") ?? 0,
    lastAt: numberOf("o"),
  };
}

/** The first occurrence from now on that was not enqueued yet, epoch ms; {@link NEVER} if there is none. */
export function nextOccurrence({ rhythm, until, lastAt = -1 }: Plan, now: number): number {
  return calendarOf(rhythm, until).firstFrom(Math.max(now, lastAt + 1)) ?? NEVER;
}

/**
 * Computes an occurrence of a stored schedule. The runtime that stored it may know a time zone that this one
 * does not.
 * @throws {SluiceError} `unsupported` if this runtime cannot compute it
 */
export function orUnsupported<T>(compute: () => T): T {
  try {
    return compute();
  } catch {
    throw new SluiceError("unsupported", "this runtime cannot compute when a schedule occurs");
  }
}

/**
 * A schedule as callers see it.
 * @param at its next occurrence, epoch ms
 */
export function listedSchedule(queue: string, name: string, plan: Plan, at: number): ListedSchedule {
  const { rhythm, until, missed, pausedAt, createdAt, lastAt } = plan;
  return {
    name,
    queue,
    ...rhythm,
    ...(until !== undefined && { until }),
    missed,
    paused: pausedAt !== undefined,
    ...(pausedAt !== undefined && { pausedAt }),
    createdAt,
    nextAt: at >= NEVER ? null : at,
    lastAt: lastAt ?? null,
  };
}

/**
 * Writes the fixed record of a schedule's tasks, from its options on.
 * @param payload as the codec wrote it, or encrypted
 * @throws {SluiceError} `invalid_argument`
 */
export function writeTask(
  name: string,
  defaults: TaskDefaults,
  task: ScheduledOptions,
  payload: string,
): string {
  const fixed = fixedOptions(defaults, task, "");
  for (const header of [NAME_HEADER, TIME_HEADER]) {
    if (fixed.headers && Object.hasOwn(fixed.headers, header)) {
      throw invalidArgument(`headers.${header}`, "must not be set: the schedule sets it");
    }
  }
  const headers = (time: string) => ({ ...fixed.headers, [NAME_HEADER]: name, [TIME_HEADER]: time });
  // Checks the limit of headers at their greatest length.
  fixedOptions({}, { headers: headers(String(LAST_INSTANT)) }, "");
  return writeFixed({ token: undefined, ...fixed, headers: headers(""), payload });
}

/** The group of the task that {@link writeTask} wrote; empty if it has none. */
export function groupOfTask(task: string): string {
  return unescaped(/^[^\n]*;G=([^;\n]*)/.exec(task)?.[1] ?? "");
}

/**
 * The id of an occurrence whose task has a group, in a queue with partitions: it has the slot of the group.
 * @param time of the occurrence, epoch ms
 * @throws {SluiceError} `invalid_argument` if the schedule's name has something else in braces
 */
export function occurrenceId(name: string, time: number, group: string): string {
  const slot = slotOf(group);
  // Of several texts in braces only the first one decides.
  const id = `${name}.${time}${name.includes("{") ? "" : tagOf(slot)}`;
  if (slotOf(id) === slot) return id;
  throw invalidArgument(
    "name",
    `must have the group of its tasks in braces, such as "daily{${group}}", or no brace: in a queue with ` +
      "partitions both are then in the same partition",
  );
}

/**
 * Writes the fixed record of an occurrence, as the script that enqueues it does for tasks without a group.
 * @param task as {@link writeTask} wrote it
 * @param time of the occurrence, epoch ms
 * @param token distinguishes the producer
 * @param unique for how long the id is to stay known, ms; undefined: as that of any task
 * @throws {SluiceError} `unexpected_reply` for an invalid task
 */
export function writeOccurrence(
  task: string,
  time: number,
  token: string,
  unique: number | undefined,
): string {
  const [line, front, size, back] = /^([^\n]*);h=(\d+)([^\n]*)\n/.exec(task) ?? [];
  if (line === undefined) throw new SluiceError("unexpected_reply", "a schedule's task is invalid");
  // The time goes between the last two quotes of the headers.
  const at = line.length + Number(size) - 2;
  const longer = Number(size) + String(time).length;
  const known = unique === undefined ? "" : `;U=${unique}`;
  return `;t=${token}${front}${known};h=${longer}${back}\n${task.slice(line.length, at)}${time}${task.slice(at)}`;
}

/** Reads the task that {@link writeTask} wrote. */
export function readTask(task: string): ScheduledTask {
  const { payload, headers: stored = {}, ...options } = readWritten(task);
  const { [NAME_HEADER]: _, [TIME_HEADER]: __, ...headers } = stored;
  const given = Object.entries(options).filter(([, value]) => value !== undefined);
  return {
    payload,
    ...(Object.fromEntries(given) as Partial<ScheduledTask>),
    ...(Object.keys(headers).length > 0 && { headers }),
  };
}
