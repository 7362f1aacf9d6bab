import { invalidArgument } from "../../errors.ts";
import { instantMs, LAST_INSTANT } from "../../kernel/options/instants.ts";
import { onlyOptions, taskId, trueOrFalse } from "../../kernel/options/validation.ts";
import { readRecurrence, RECURRENCE, type Recurrence } from "./calendar.ts";
import { SCHEDULED_OPTIONS, type ScheduledOptions } from "./schedule-record.ts";

/** Longest name of a schedule, in characters: a task's id is the name and a time. */
export const MAX_SCHEDULE_NAME = 100;

const OPTIONS = [...RECURRENCE, ...SCHEDULED_OPTIONS, "payload", "missed", "until", "paused"];

/** The recurrence of a schedule, and the task that each occurrence enqueues. */
export type NewSchedule<T> = Recurrence &
  ScheduledOptions & {
    /** The payload of each task: anything that JSON can express, or a `Uint8Array`; at most 1 MiB. */
    readonly payload: T;
    /** Which occurrences to enqueue if no sweep ran in time: the last one, or all of them. @default "last" */
    readonly missed?: "last" | "all" | undefined;
    /** The schedule ends after this instant: a `Date`, or epoch ms. @default never */
    readonly until?: Date | number | undefined;
    /** True pauses the schedule, false resumes it. @default unchanged; a new schedule is not paused */
    readonly paused?: boolean | undefined;
  };

/** @throws {SluiceError} `invalid_argument` */
export function scheduleName(name: unknown, path = "name"): string {
  const checked = taskId(name, path);
  if (checked.length > MAX_SCHEDULE_NAME) {
    throw invalidArgument(path, `must have at most ${MAX_SCHEDULE_NAME} characters`);
  }
  return checked;
}

/**
 * Checks a schedule, except its payload and the options of its task.
 * @param at what the paths of unknown options begin with
 * @throws {SluiceError} `invalid_argument`
 */
export function checkedSchedule(schedule: NewSchedule<unknown>, at = "schedule.") {
  onlyOptions(schedule, OPTIONS, at);
  const recurrence = readRecurrence(schedule);
  const { missed = "last", until, paused } = schedule;
  if (missed !== "last" && missed !== "all") throw invalidArgument("missed", 'must be "last" or "all"');
  return {
    recurrence,
    missed,
    until: until === undefined ? undefined : instantMs(until, "until", LAST_INSTANT),
    paused: paused === undefined ? undefined : trueOrFalse(paused, "paused"),
  };
}
