import { type Command, InvalidArgumentError, Option } from "commander";
import {
  deadReasons,
  type RejectReason,
  rejectReasons,
  type TaskState,
  taskStates,
} from "../kernel/options/types.ts";
import { milliseconds, type Duration } from "../kernel/options/duration.ts";
import { QUEUE_PATTERN, queuePatternForm } from "../kernel/names/queue-pattern.ts";
import { messageOf } from "../errors.ts";

/** Checks an option's value; the message says what is allowed. */
function refused(message: string): never {
  throw new InvalidArgumentError(message);
}

/** A whole number from `least` to `most`. */
export function whole(least: number, most?: number): (text: string) => number {
  return (text) =>
    /^\d{1,15}$/.test(text) && Number(text) >= least && Number(text) <= (most ?? Infinity)
      ? Number(text)
      : refused(
          `must be a whole number ${most === undefined ? `of at least ${least}` : `from ${least} to ${most}`}`,
        );
}

/** A duration in ms, from `30s` or a number of ms. */
export const duration = (text: string): number => durationWithin({})(text);

/** A duration in ms, as {@link duration}. @param bounds both in ms */
export const durationWithin =
  (bounds: { min?: number; max?: number }) =>
  (text: string): number => {
    const given = (/^\d{1,15}$/.test(text) ? Number(text) : text) as Duration;
    try {
      return milliseconds(given, "it", bounds);
    } catch (error) {
      return refused(messageOf(error).replace(/^it /, ""));
    }
  };

/** Patterns of queue names, one in each argument. */
export function queuePatterns(text: string, before: readonly string[] = []): readonly string[] {
  return QUEUE_PATTERN.test(text)
    ? [...before, text]
    : refused(`${queuePatternForm}; several have spaces between them`);
}

/** A rate: `<number>/<duration>`, or a number a second. */
export function rate(text: string): { readonly most: number; readonly per: number } {
  const [, number, length = "1s"] = /^([\d.]+)(?:\/(\d+|[\d.]+(?:ms|s|m|h|d)))?$/.exec(text) ?? [];
  const [most, per] = [Number(number), duration(length)];
  return most > 0 && per > 0
    ? { most, per }
    : refused("must be <number>/<duration>, such as 5/1s, or a number a second");
}

export function json(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return refused("must be JSON; a text has double quotes, such as '\"hello\"'");
  }
}

/**
 * An instant in the past, epoch ms: a duration ago (`2h`), a local time (`02:00`, the last one; `2026-11-23`;
 * `2026-11-23T02:00`), or epoch ms.
 */
export function pastInstant(text: string): number {
  if (/^[\d.]+(ms|s|m|h|d)$/.test(text)) return Date.now() - duration(text);
  const allowed = "a duration ago, such as 2h, or a local time, such as 02:00 or 2026-11-23T02:00";
  return instant(text, -1) ?? refused(`must be ${allowed}`);
}

/** When something begins that is past: a duration ago, which the server counts from its own time, or an instant. */
export function since(text: string): Duration | Date {
  if (!/^[\d.]+(ms|s|m|h|d)$/.test(text)) return new Date(pastInstant(text));
  return duration(text);
}

/** An instant in the future, epoch ms: a local time (`09:00`, the next one; as {@link pastInstant}), or epoch ms. */
export function futureInstant(text: string): number {
  return instant(text, 1) ?? refused("must be a local time, such as 09:00 or 2026-11-24T09:00");
}

/**
 * @param direction of a time of day: -1 is the last one, 1 is the next one
 * @returns epoch ms; undefined if the text is no instant
 */
function instant(text: string, direction: -1 | 1): number | undefined {
  // Fewer digits are seconds, or a year.
  if (/^\d{12,16}$/.test(text)) return Number(text);
  const time = /^([01]?\d|2[0-3]):([0-5]\d)$/.exec(text);
  if (time) {
    const date = new Date();
    date.setHours(Number(time[1]), Number(time[2]), 0, 0);
    const isOther = direction < 0 ? date.getTime() > Date.now() : date.getTime() < Date.now();
    return isOther ? date.setDate(date.getDate() + direction) : date.getTime();
  }
  if (!/^\d{4}-\d{2}-\d{2}([T ]|$)/.test(text)) return undefined;
  // A date alone would be read as UTC.
  const at = Date.parse(text.length === 10 ? `${text}T00:00` : text.replace(" ", "T"));
  return Number.isNaN(at) ? undefined : at;
}

/** A state, also by the word that tables have for it; undefined for other texts. */
export function stateNamed(text: string, known: readonly TaskState[] = taskStates): TaskState | undefined {
  const name = text === "dead" ? "rejected" : text;
  return known.find((state) => state === name);
}

/** The option `--state` for one of the states. */
export function stateOption(description: string, known?: readonly TaskState[]): Option {
  const choices = [...(known ?? taskStates), "dead"];
  return new Option("--state <state>", description)
    .choices(choices)
    .argParser((text) => stateNamed(text, known) ?? refused(`must be one of ${choices.join(", ")}`));
}

/** Parses a list of some of the reasons. */
const reasonsOf =
  (known: readonly RejectReason[]) =>
  (text: string): readonly RejectReason[] => {
    const names = text.split(",").map((reason) => reason.trim());
    const found = known.filter((reason) => names.includes(reason));
    const isKnown = names.every((name) => known.some((reason) => reason === name));
    return isKnown ? found : refused(`must be one or more of ${known.join(", ")}`);
  };

/** The options that select tasks. */
export interface FilterOptions {
  readonly text?: string;
  readonly group?: string;
  readonly reason?: readonly RejectReason[];
  readonly since?: number;
  readonly until?: number;
  readonly enqueuedSince?: number;
  readonly enqueuedUntil?: number;
}

/**
 * Adds the options of {@link FilterOptions}.
 * @param which dead letters, or tasks in any state
 */
export function withFilter(command: Command, which: "tasks" | "dead letters"): Command {
  const known = which === "tasks" ? rejectReasons : deadReasons;
  const orResult = which === "tasks" ? ", or result once they are completed," : "";
  return command
    .optionsGroup("Which tasks:")
    .option("--text <text>", `those whose last error${orResult} contains the text`)
    .option("--group <group>", "those of the group")
    .addOption(
      new Option(
        "--reason <reasons>",
        `those rejected for one of these reasons, or several with commas: ${known.join(", ")}`,
      ).argParser(reasonsOf(known)),
    )
    .addOption(
      new Option("--since <time>", "those that ended since: 2h (ago), 02:00, 2026-11-23T02:00").argParser(
        pastInstant,
      ),
    )
    .addOption(new Option("--until <time>", "those that ended before").argParser(pastInstant))
    .addOption(new Option("--enqueued-since <time>", "those enqueued since").argParser(pastInstant))
    .addOption(new Option("--enqueued-until <time>", "those enqueued before").argParser(pastInstant));
}

/** The filter as the HTTP interface takes it. */
export function filterOf({ reason: reasons, since, until, ...others }: FilterOptions) {
  const { text, group, enqueuedSince, enqueuedUntil } = others;
  // A list may not have `cancelled`, which is a reason alone.
  const reason = reasons?.length === 1 ? reasons[0] : reasons;
  return { text, group, reason, endedSince: since, endedUntil: until, enqueuedSince, enqueuedUntil };
}

/** Whether any option of the filter is given. */
export function isFiltered(options: FilterOptions): boolean {
  return Object.values(filterOf(options)).some((value) => value !== undefined);
}
