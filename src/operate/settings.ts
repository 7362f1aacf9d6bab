/** The settings of a queue and of a group: checks them, and reads and writes them as records hold them. */
import { invalidArgument } from "../errors.ts";
import { milliseconds, type Duration } from "../kernel/options/duration.ts";
import { settingItem, type readSettings, type SettingName } from "../kernel/record/settings-record.ts";
import { onlyOptions, trueOrFalse, wholeNumber } from "../kernel/options/validation.ts";

/** At most `most` dequeues in any period of the length `per`. */
export interface Rate<Period = Duration> {
  /** 1 to 1,000,000. */
  readonly most: number;
  /** At least 1 ms. Settings that are read have it in ms. */
  readonly per: Period;
}

/** Changes of a queue's settings. An absent setting is unchanged; null unsets it. */
export interface QueueChanges {
  /** Most tasks working at once, 1 to 1,000,000. */
  readonly maxWorking?: number | null | undefined;
  /** Most dequeues in a period, such as `{ most: 5, per: "1s" }`. */
  readonly rate?: Rate | null | undefined;
  /**
   * Most pending tasks, 1 to 100,000,000: an enqueue of more throws `queue_full`. Delayed tasks do not count
   * until they are due. Requeued and redriven tasks are never refused.
   */
  readonly maxPending?: number | null | undefined;
  /** Whether events of tasks are published. */
  readonly events?: boolean | null | undefined;
  /** Whether events of tasks are counted: by the minute for an hour, by five minutes for a day. */
  readonly statistics?: boolean | null | undefined;
  /**
   * `"strict"`: of each group, one task at a time is worked on, and the next one begins when it has ended. A task that
   * is tried again keeps its place at the head of its group, and the group waits. Tasks without a group have no order.
   * Unset: groups share the queue, and their tasks are worked on side by side.
   */
  readonly order?: Order | null | undefined;
  /**
   * With an order, what follows a task that becomes a dead letter: the next task of its group (`"continue"`), or none
   * (`"stop"`) until an operator redrives, removes or skips it. Unset: `"continue"`.
   */
  readonly onDead?: OnDead | null | undefined;
}

/** How the tasks of a group follow each other. */
export type Order = "strict";

/** What follows a dead letter in a group with an order. */
export type OnDead = "continue" | "stop";

/** Whether a queue or a group is paused. */
interface Pause {
  readonly paused: boolean;
  /** When the pause ends, epoch ms; null if it lasts until it is resumed. */
  readonly pausedUntil: number | null;
}

/** The settings of a queue; null if there is no limit. */
export interface QueueSettings extends Pause {
  readonly maxWorking: number | null;
  readonly rate: Rate<number> | null;
  readonly maxPending: number | null;
  readonly events: boolean;
  readonly statistics: boolean;
  readonly order: Order | null;
  readonly onDead: OnDead;
}

/** How long a pause lasts. */
export interface PauseOptions {
  /**
   * For how long, at least 1 ms. It does not end a pause that lasts until it is resumed.
   * @default until it is resumed
   */
  readonly for?: Duration | undefined;
}

/** Changes of a group's settings. An absent setting is unchanged; null unsets it. */
export interface GroupChanges {
  /** The group's share of the queue relative to other groups, 1 to 100. Unset: 1. */
  readonly weight?: number | null | undefined;
  /**
   * True delivers no task of the group until it is unset; `{ for: "5m" }` for that time. Enqueue and settle work as
   * before.
   */
  readonly paused?: boolean | PauseOptions | null | undefined;
  /** Most tasks of the group working at once, 1 to 1,000,000. */
  readonly maxWorking?: number | null | undefined;
  /** Most dequeues of its tasks in a period, such as `{ most: 5, per: "1s" }`. */
  readonly rate?: Rate | null | undefined;
  /** As of the queue; `"none"` for a group of a queue with an order that has none. Unset: that of the queue. */
  readonly order?: Order | "none" | null | undefined;
  /** As of the queue. Unset: that of the queue. */
  readonly onDead?: OnDead | null | undefined;
}

/** The settings of a group; null if there is no limit. */
export interface GroupSettings extends Pause {
  readonly weight: number;
  readonly maxWorking: number | null;
  readonly rate: Rate<number> | null;
  readonly order: Order | "none" | null;
  readonly onDead: OnDead | null;
}

/** One setting as the scripts take it. */
export type SettingItem = ReturnType<typeof settingItem>;

/** The settings that a record has. */
export type StoredSettings = ReturnType<typeof readSettings>;

/** Checks a value, and writes it as records hold it. */
type Write = (value: never, path: string) => string;

const count = (most: number) => (value: number, path: string) => String(wholeNumber(value, path, 1, most));

const flag = (value: boolean, path: string) => (trueOrFalse(value, path) ? "1" : "");

/** A setting with one of several values; a record has what `values` says. */
const choice = (values: Readonly<Record<string, string>>) => (value: string, path: string) => {
  const stored = Object.hasOwn(values, value) ? values[value] : undefined;
  if (stored !== undefined) return stored;
  throw invalidArgument(
    path,
    `must be ${Object.keys(values)
      .map((one) => `"${one}"`)
      .join(" or ")}`,
  );
};

const onDead = choice({ continue: "0", stop: "1" });

function rate(value: Rate, path: string): string {
  if (typeof value !== "object" || value === null) {
    throw invalidArgument(path, 'must be { most, per }, such as { most: 5, per: "1s" }');
  }
  onlyOptions(value, ["most", "per"], `${path}.`);
  const most = count(1_000_000)(value.most, `${path}.most`);
  return `${most}/${milliseconds(value.per, `${path}.per`, { min: 1 })}`;
}

/**
 * A pause as the scripts take it.
 * @param at what errors put before the name of the option
 */
export function pauseFor(options: PauseOptions, at = ""): string {
  onlyOptions(options, ["for"], at);
  return options.for === undefined ? "1" : `+${milliseconds(options.for, `${at}for`, { min: 1 })}`;
}

/**
 * A pause until an instant as the scripts take it. It shortens no other pause.
 * @param at epoch ms
 */
export const pauseUntil = (at: number): SettingItem => settingItem("paused", String(at));

const QUEUE_SETTINGS: Readonly<Record<keyof QueueChanges, Write>> = {
  maxWorking: count(1_000_000),
  rate,
  maxPending: count(100_000_000),
  events: flag,
  statistics: flag,
  order: choice({ strict: "1" }),
  onDead,
};

const GROUP_SETTINGS: Readonly<Record<keyof GroupChanges, Write>> = {
  paused: (value: boolean | PauseOptions, path) =>
    typeof value === "object" ? pauseFor(value, `${path}.`) : flag(value, path),
  weight: count(100),
  maxWorking: count(1_000_000),
  rate,
  order: choice({ strict: "1", none: "0" }),
  onDead,
};

function writeChanges(changes: object, settings: Readonly<Partial<Record<SettingName, Write>>>) {
  onlyOptions(changes, Object.keys(settings));
  return Object.entries(settings).flatMap(([name, write]) => {
    const value = (changes as Readonly<Record<string, unknown>>)[name];
    if (value === undefined) return [];
    return [settingItem(name as SettingName, value === null ? "" : write(value as never, name))];
  });
}

/** @throws {SluiceError} `invalid_argument` */
export function queueChanges(changes: QueueChanges): SettingItem[] {
  return writeChanges(changes, QUEUE_SETTINGS);
}

/** @throws {SluiceError} `invalid_argument` */
export function groupChanges(changes: GroupChanges): SettingItem[] {
  return writeChanges(changes, GROUP_SETTINGS);
}

function readCount(text: string | undefined): number | null {
  return text === undefined ? null : Number(text);
}

const readPause = ({ paused }: StoredSettings): Pause => ({
  paused: paused !== undefined,
  pausedUntil: paused === undefined || paused === "1" ? null : Number(paused),
});

function readRate(text = ""): Rate<number> | null {
  const [most, per] = text.split("/").map(Number);
  return most !== undefined && per !== undefined ? { most, per } : null;
}

/** @param stored of a queue with partitions, those of partition 0 */
export function queueSettings(stored: StoredSettings): QueueSettings {
  // A partition with shares has the limits of the whole queue beside them.
  const shared = stored.shares !== undefined;
  return {
    ...readPause(stored),
    maxWorking: readCount(shared ? stored.totalWorking : stored.maxWorking),
    rate: readRate(shared ? stored.totalRate : stored.rate),
    maxPending: readCount(shared ? stored.totalPending : stored.maxPending),
    events: stored.events !== undefined,
    statistics: stored.statistics !== undefined,
    order: stored.order === "1" ? "strict" : null,
    onDead: readOnDead(stored.onDead) ?? "continue",
  };
}

export function groupSettings(stored: StoredSettings): GroupSettings {
  return {
    ...readPause(stored),
    weight: readCount(stored.weight) ?? 1,
    maxWorking: readCount(stored.maxWorking),
    rate: readRate(stored.rate),
    order: stored.order === undefined ? null : stored.order === "1" ? "strict" : "none",
    onDead: readOnDead(stored.onDead),
  };
}

function readOnDead(text: string | undefined): OnDead | null {
  return text === undefined ? null : text === "1" ? "stop" : "continue";
}
