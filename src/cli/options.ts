import { type Command, InvalidArgumentError, Option } from "commander";
import { rejectReasons } from "../queue/core/types.ts";
import { milliseconds, type Duration } from "../queue/core/duration.ts";
import { messageOf } from "../errors.ts";

/** Checks an option's value; the message says what is allowed. */
function refused(message: string): never {
  throw new InvalidArgumentError(message);
}

/** A whole number of at least `from`. */
export function whole(from: number): (text: string) => number {
  return (text) =>
    /^\d{1,15}$/.test(text) && Number(text) >= from
      ? Number(text)
      : refused(`must be a whole number of at least ${from}`);
}

export function positive(text: string): number {
  return Number(text) > 0 ? Number(text) : refused("must be a number above 0");
}

/** A duration in ms, from `30s` or a number of ms. */
export function duration(text: string): number {
  const given = (/^\d{1,15}$/.test(text) ? Number(text) : text) as Duration;
  try {
    return milliseconds(given, "it");
  } catch (error) {
    return refused(messageOf(error).replace(/^it /, ""));
  }
}

export function json(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return refused("must be JSON; a text has double quotes, such as '\"hello\"'");
  }
}

/**
 * An instant, epoch ms: a duration ago (`2h`), a local time (`02:00`, the last one; `2026-11-23`;
 * `2026-11-23T02:00`), or epoch ms.
 */
export function instant(text: string): number {
  if (/^\d{10,16}$/.test(text)) return Number(text);
  const time = /^(\d{1,2}):(\d{2})$/.exec(text);
  if (time) {
    const date = new Date();
    date.setHours(Number(time[1]), Number(time[2]), 0, 0);
    return date.getTime() > Date.now() ? date.setDate(date.getDate() - 1) : date.getTime();
  }
  if (/^\d{4}-\d{2}-\d{2}/.test(text)) {
    // A date alone would be read as UTC.
    const at = Date.parse(text.length === 10 ? `${text}T00:00` : text.replace(" ", "T"));
    if (!Number.isNaN(at)) return at;
  }
  if (/^[\d.]+(ms|s|m|h|d)$/.test(text)) return Date.now() - duration(text);
  return refused("must be a duration ago, such as 2h, or a local time, such as 02:00 or 2026-11-23T02:00");
}

function reasons(text: string): readonly string[] {
  const given = text.split(",").map((reason) => reason.trim());
  const wrong = given.find((reason) => !rejectReasons.some((known) => known === reason));
  return wrong === undefined ? given : refused(`must be one or more of ${rejectReasons.join(", ")}`);
}

/** The options that select tasks. */
export interface FilterOptions {
  readonly text?: string;
  readonly group?: string;
  readonly reason?: readonly string[];
  readonly since?: number;
  readonly until?: number;
  readonly enqueuedSince?: number;
  readonly enqueuedUntil?: number;
}

/** Adds the options of {@link FilterOptions}. */
export function withFilter(command: Command): Command {
  return command
    .optionsGroup("Which tasks:")
    .option("--text <text>", "those whose error or result contains the text")
    .option("--group <group>", "those of the group")
    .addOption(
      new Option("--reason <reasons>", `those rejected for one of: ${rejectReasons.join(", ")}`).argParser(
        reasons,
      ),
    )
    .addOption(
      new Option("--since <time>", "those that ended since: 2h (ago), 02:00, 2026-11-23T02:00").argParser(
        instant,
      ),
    )
    .addOption(new Option("--until <time>", "those that ended before").argParser(instant))
    .addOption(new Option("--enqueued-since <time>", "those enqueued since").argParser(instant))
    .addOption(new Option("--enqueued-until <time>", "those enqueued before").argParser(instant));
}

/** The filter as the HTTP interface takes it. */
export function filterOf({ text, group, reason, since, until, enqueuedSince, enqueuedUntil }: FilterOptions) {
  return { text, group, reason, endedSince: since, endedUntil: until, enqueuedSince, enqueuedUntil };
}

/** Whether any option of the filter is given. */
export function isFiltered(options: FilterOptions): boolean {
  return Object.values(filterOf(options)).some((value) => value !== undefined);
}
