import { milliseconds, type Duration } from "../../kernel/options/duration.ts";
import type { TaskDefaults } from "../../kernel/options/types.ts";
import type { NewSchedule } from "../../features/schedules/index.ts";
import type { DeclaredSettings } from "./declaration.ts";

/** The options that are durations. */
const DURATIONS: ReadonlySet<string> = new Set([
  "per",
  "every",
  "lease",
  "resultTtl",
  "deadTtl",
  "delay",
  "unique",
]);

/**
 * A declaration as a text that is the same for the same declaration, however it is written: the order of options,
 * `"1m"` or 60,000, a `Date` or its epoch ms. Payloads count as JSON has them.
 */
export function canonicalDeclaration(
  settings: DeclaredSettings,
  schedules: Readonly<Record<string, NewSchedule<unknown>>>,
  defaults: Partial<TaskDefaults>,
): string {
  const timetable = sorted(schedules).map(([name, { payload, ...schedule }]) => [
    name,
    options(schedule),
    payload,
  ]);
  return JSON.stringify([options(settings), timetable, options(defaults)]);
}

/** The options that are given, by name. */
function options(given: object): unknown[] {
  return sorted(given)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => [name, plain(name, value)]);
}

function plain(name: string, value: unknown): unknown {
  if (value instanceof Date) return value.getTime();
  if (DURATIONS.has(name)) return durationOr(value);
  return typeof value === "object" && value !== null ? options(value) : value;
}

/** The duration in ms; an invalid one as it is, because the call that uses it reports it. */
function durationOr(value: unknown): unknown {
  try {
    return milliseconds(value as Duration, "duration");
  } catch {
    return value;
  }
}

function sorted<T>(object: Readonly<Record<string, T>>): [string, T][];
function sorted(object: object): [string, unknown][];
function sorted(object: object): [string, unknown][] {
  return Object.entries(object).toSorted(([one], [other]) => (one < other ? -1 : 1));
}
