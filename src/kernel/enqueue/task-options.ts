/** The options of one task at enqueue: checks them, and writes them as the script takes them. */
import { invalidArgument, SluiceError } from "../../errors.ts";
import { milliseconds } from "../options/duration.ts";
import { DEFAULT_OPTIONS } from "../options/default-options.ts";
import { headerTexts } from "../record/headers.ts";
import { instantMs, LAST_DUE } from "../options/instants.ts";
import { onlyOptions, recordName, taskId, trueOrFalse, wholeNumber } from "../options/validation.ts";
import { asciiJson, MAX_HEADER_BYTES } from "../record/record.ts";
import type { EnqueueOptions, TaskDefaults } from "../options/types.ts";

/** Options of a task. */
export const TASK_OPTIONS = [
  ...DEFAULT_OPTIONS,
  "id",
  "at",
  "group",
  "priority",
  "dedup",
  "again",
  "headers",
] as const satisfies readonly (keyof EnqueueOptions)[];

/**
 * When a task is due, as the enqueue script takes it: empty for now, `+ms`, or an instant.
 * @throws {SluiceError} `invalid_argument`
 */
export function whenReady(defaults: TaskDefaults, task: EnqueueOptions, at: string): string {
  if (task.at !== undefined) {
    if (task.delay !== undefined) {
      throw invalidArgument(`${at}at`, `must not be given with ${at}delay`);
    }
    return String(instantMs(task.at, `${at}at`, LAST_DUE));
  }
  const delay = task.delay ?? defaults.delay;
  const ms = delay === undefined ? 0 : milliseconds(delay, `${at}delay`);
  return ms > 0 ? `+${ms}` : "";
}

/**
 * What makes a task unique, as the enqueue script takes it: empty, `again`, or `<window, ms> <key>`.
 * @throws {SluiceError} `invalid_argument`
 */
export function uniqueness({ id, dedup, ...task }: EnqueueOptions, at: string): string {
  const again = trueOrFalse(task.again ?? false, `${at}again`);
  if (again && id === undefined) {
    throw invalidArgument(`${at}again`, "must be given with an id");
  }
  if (task.unique !== undefined && id === undefined) {
    throw invalidArgument(`${at}unique`, "must be given with an id");
  }
  if (task.unique !== undefined && again) {
    throw invalidArgument(`${at}unique`, "must not be given with again");
  }
  if (dedup === undefined) return again ? "again" : "";
  if (again) {
    throw invalidArgument(`${at}again`, "must not be given with dedup");
  }
  onlyOptions(dedup, ["key", "window"], `${at}dedup.`);
  const window = milliseconds(dedup.window, `${at}dedup.window`, { min: 1 });
  return `${window} ${taskId(dedup.key, `${at}dedup.key`)}`;
}

/**
 * The options that a task fixes at enqueue, checked; durations in ms.
 * @throws {SluiceError} `invalid_argument`, `too_large` for headers
 */
export function fixedOptions(defaults: TaskDefaults, task: EnqueueOptions, at: string) {
  const lease = task.lease ?? defaults.lease;
  const maxAttempts = task.maxAttempts ?? defaults.maxAttempts;
  const resultTtl = task.resultTtl ?? defaults.resultTtl;
  const deadTtl = task.deadTtl ?? defaults.deadTtl;
  const unique = task.unique ?? (task.id === undefined || task.again ? undefined : defaults.unique);
  return {
    lease: ifGiven(lease, (value) => milliseconds(value, `${at}lease`, { min: 1 })),
    maxAttempts: ifGiven(maxAttempts, (value) => wholeNumber(value, `${at}maxAttempts`, 0, 1_000_000)),
    resultTtl: ifGiven(resultTtl, (value) => milliseconds(value, `${at}resultTtl`)),
    deadTtl: ifGiven(deadTtl, (value) => milliseconds(value, `${at}deadTtl`)),
    unique: ifGiven(unique, (value) => milliseconds(value, `${at}unique`)),
    group: ifGiven(task.group, (value) => recordName(value, `${at}group`)),
    priority: ifGiven(task.priority, (value) => wholeNumber(value, `${at}priority`, 0, 9)),
    headers: ifGiven(task.headers, (value) => checkedHeaders(value, `${at}headers`)),
  };
}

function ifGiven<T, R>(value: T | undefined, check: (value: T) => R): R | undefined {
  return value === undefined ? undefined : check(value);
}

function checkedHeaders(value: unknown, path: string) {
  const headers = headerTexts(value, path);
  const size = asciiJson(headers).length;
  if (size > MAX_HEADER_BYTES) {
    throw new SluiceError(
      "too_large",
      `${path} have ${size} bytes of JSON; at most ${MAX_HEADER_BYTES} are allowed`,
      path,
    );
  }
  return Object.keys(headers).length > 0 ? headers : undefined;
}
