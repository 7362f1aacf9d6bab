/** What a queue or a group can be set to, and how records hold it. */
import { milliseconds, type Duration } from "../core/duration.ts";
import { onlyOptions, trueOrFalse, wholeNumber } from "../core/validation.ts";

/** At most `max` dequeues in any period of that length. */
export interface Rate<Period = Duration> {
  /** 1 to 1,000,000. */
  readonly max: number;
  /** At least 1 ms. As Redis holds it: in ms. */
  readonly per: Period;
}

/** Settings of a queue to change. What is absent stays as it is; null unsets. */
export interface QueueChanges {
  /** At most so many tasks working at once, 1 to 1,000,000. */
  readonly maxWorking?: number | null | undefined;
  readonly rate?: Rate | null | undefined;
  /**
   * At most so many tasks pending, 1 to 100,000,000: an enqueue of more than fit throws `queue_full`. Delayed
   * tasks do not count until they are due, and what is requeued or redriven is never refused.
   */
  readonly maxPending?: number | null | undefined;
  /** Whether what happens to tasks is published. */
  readonly events?: boolean | null | undefined;
  /** Whether what happens to tasks is counted, by the minute, for an hour. */
  readonly statistics?: boolean | null | undefined;
}

/** The settings of a queue; null where there is no limit. */
export interface QueueSettings {
  readonly paused: boolean;
  readonly maxWorking: number | null;
  readonly rate: Rate<number> | null;
  readonly maxPending: number | null;
  readonly events: boolean;
  readonly statistics: boolean;
}

/** Settings of a group to change. What is absent stays as it is; null unsets. */
export interface GroupChanges {
  /** Its share of the queue beside those of other groups, 1 to 100. Unset: 1. */
  readonly weight?: number | null | undefined;
  /** At most so many of its tasks working at once, 1 to 1,000,000. */
  readonly maxWorking?: number | null | undefined;
  readonly rate?: Rate | null | undefined;
}

/** The settings of a group; null where there is no limit. */
export interface GroupSettings {
  readonly weight: number;
  readonly maxWorking: number | null;
  readonly rate: Rate<number> | null;
}

/** One setting as the scripts take it; an empty value unsets it. */
export interface Change {
  readonly letter: string;
  readonly value: string;
}

/** A setting's letter in the record, and how a value that sets it is written. */
type Form = readonly [letter: string, write: (value: never, path: string) => string];

const count = (most: number) => (value: number, path: string) => String(wholeNumber(value, path, 1, most));

const flag = (value: boolean, path: string) => (trueOrFalse(value, path) ? "1" : "");

function rate(value: Rate, path: string): string {
  onlyOptions(value, ["max", "per"], `${path}.`);
  const max = count(1_000_000)(value.max, `${path}.max`);
  return `${max}/${milliseconds(value.per, `${path}.per`, { min: 1 })}`;
}

const QUEUE_FORMS: Readonly<Record<keyof QueueChanges, Form>> = {
  maxWorking: ["m", count(1_000_000)],
  rate: ["r", rate],
  maxPending: ["b", count(100_000_000)],
  events: ["e", flag],
  statistics: ["s", flag],
};

const GROUP_FORMS: Readonly<Record<keyof GroupChanges, Form>> = {
  weight: ["k", count(100)],
  maxWorking: ["m", count(1_000_000)],
  rate: ["r", rate],
};

function written(changes: object, forms: Readonly<Record<string, Form>>): Change[] {
  onlyOptions(changes, Object.keys(forms));
  return Object.entries(forms).flatMap(([name, [letter, write]]) => {
    const value = (changes as Readonly<Record<string, unknown>>)[name];
    return value === undefined ? [] : [{ letter, value: value === null ? "" : write(value as never, name) }];
  });
}

/** @throws {SluiceError} `invalid_argument` */
export function queueChanges(changes: QueueChanges): Change[] {
  return written(changes, QUEUE_FORMS);
}

/** @throws {SluiceError} `invalid_argument` */
export function groupChanges(changes: GroupChanges): Change[] {
  return written(changes, GROUP_FORMS);
}

function readCount(letters: ReadonlyMap<string, string>, letter: string): number | null {
  return letters.has(letter) ? Number(letters.get(letter)) : null;
}

function readRate(letters: ReadonlyMap<string, string>): Rate<number> | null {
  const [max, per] = (letters.get("r") ?? "").split("/").map(Number);
  return max !== undefined && per !== undefined ? { max, per } : null;
}

export function readQueueSettings(letters: ReadonlyMap<string, string>): QueueSettings {
  return {
    paused: letters.has("p"),
    maxWorking: readCount(letters, "m"),
    rate: readRate(letters),
    maxPending: readCount(letters, "b"),
    events: letters.has("e"),
    statistics: letters.has("s"),
  };
}

export function readGroupSettings(letters: ReadonlyMap<string, string>): GroupSettings {
  return {
    weight: readCount(letters, "k") ?? 1,
    maxWorking: readCount(letters, "m"),
    rate: readRate(letters),
  };
}
