import { SluiceError } from "../../errors.ts";

/**
 * Reads the fields of a record of one line by name: the letters of settings, or the events of statistics.
 * @throws {SluiceError} `unexpected_reply` for an invalid record
 */
export function readFields(record: string, versions = "1"): ReadonlyMap<string, string> {
  const [version = "", ...fields] = record.split(";");
  if (!versions.includes(version)) {
    throw new SluiceError("unexpected_reply", "a record is not of the form that this release writes");
  }
  return new Map(fields.map((field) => field.split("=") as [string, string]));
}

/** The letters of settings in records. */
const SETTING_LETTERS = {
  paused: "p",
  maxWorking: "m",
  rate: "r",
  maxPending: "b",
  events: "e",
  statistics: "s",
  weight: "k",
  /** Whether the tasks of a group are worked on one after the other, and whether a dead letter stops the group. */
  order: "o",
  onDead: "d",
  /** Of a divided queue: the limits of the whole queue, and the version of the shards' shares. */
  totalWorking: "M",
  totalRate: "R",
  totalPending: "B",
  shares: "v",
} as const;

/** The letters of the limits of which each shard of a divided queue has a share. */
export const SHARED_LETTERS: readonly string[] = [
  SETTING_LETTERS.maxWorking,
  SETTING_LETTERS.rate,
  SETTING_LETTERS.maxPending,
];

/** A setting of a queue or a group. */
export type SettingName = keyof typeof SETTING_LETTERS;

/** One setting as the scripts take it; an empty value unsets it. */
export function settingItem(name: SettingName, value: string): { letter: string; value: string } {
  return { letter: SETTING_LETTERS[name], value };
}

/**
 * Reads a record of settings: the value of each setting that is set. Version 2 has an order of groups.
 * @throws {SluiceError} `unexpected_reply` for an invalid record
 */
export function readSettings(record: string): Readonly<Partial<Record<SettingName, string>>> {
  const fields = readFields(record, "12");
  const names = Object.keys(SETTING_LETTERS) as SettingName[];
  const given = names.filter((name) => fields.has(SETTING_LETTERS[name]));
  return Object.fromEntries(given.map((name) => [name, fields.get(SETTING_LETTERS[name])]));
}
