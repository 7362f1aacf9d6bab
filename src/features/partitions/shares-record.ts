/** The record of the shares of a queue's limits, in the control field `~shares` of partition 0. */
import { newerSchema, SluiceError } from "../../errors.ts";
import { digitOf, placeOf } from "../../kernel/names/slots.ts";
import { readSettings } from "../../kernel/record/settings-record.ts";
import type { Division } from "./share-targets.ts";

/** The limits that are shared, and the letter of each in the record. */
const LETTERS = { working: "m", rate: "r", pending: "b" } as const;

export type Kind = keyof typeof LETTERS;

export const KINDS = Object.keys(LETTERS) as readonly Kind[];

/** Something of each limit. */
export type Each<T> = Readonly<Record<Kind, T>>;

export function eachKind<T>(of: (kind: Kind) => T): Each<T> {
  return { working: of("working"), rate: of("rate"), pending: of("pending") };
}

/** A limit of the whole queue. */
interface Limit {
  readonly limit: number;
  /** Of a rate: its period, ms. */
  readonly per: number;
}

export type Limits = Each<Limit | undefined>;

/** A limit that was divided, and its shares. */
export interface LimitShares extends Limit, Division {}

export interface Shares {
  /** Rises with each change. Later than any that a deleted queue had, because it is a time, epoch ms. */
  readonly version: number;
  /** Whether all partitions have noted these shares, and no step is left to do. */
  readonly done: boolean;
  readonly partitions: readonly number[];
  readonly limits: Each<LimitShares | undefined>;
  /** As it is stored; empty if there are none. */
  readonly text: string;
}

function readLimit(text: string): Limit {
  const [limit = 0, per = 0] = text.split("/").map(Number);
  return { limit, per };
}

/** The limits of the whole queue, by the settings of partition 0. */
export function limitsOf(record: string): Limits {
  const { shares, ...set } = readSettings(record);
  const texts =
    shares === undefined
      ? { working: set.maxWorking, rate: set.rate, pending: set.maxPending }
      : { working: set.totalWorking, rate: set.totalRate, pending: set.totalPending };
  return eachKind((kind) => (texts[kind] === undefined ? undefined : readLimit(texts[kind])));
}

/**
 * Writes shares as they are stored: `1;<version>;<1 if done>;<partitions>`, then `;<letter>=<limit>,<first>,<share>…`
 * for each limit.
 */
export function writeShares(shares: Omit<Shares, "text">): Shares {
  const { version, done, partitions, limits } = shares;
  const parts = ["1", version, done ? "1" : "0", partitions.map(digitOf).join("")];
  for (const kind of KINDS) {
    const limit = limits[kind];
    if (!limit) continue;
    const most = limit.per > 0 ? `${limit.limit}/${limit.per}` : limit.limit;
    const given = partitions.map((partition) => limit.shares.get(partition) ?? 0);
    parts.push(`${LETTERS[kind]}=${[most, limit.first, ...given].join(",")}`);
  }
  return { ...shares, text: parts.join(";") };
}

/** @throws {SluiceError} `newer_schema`, or `unexpected_reply` if they are damaged */
export function readShares(text: string): Shares {
  if (/^\d+;/.test(text) && !text.startsWith("1;")) throw newerSchema("the shares of a queue's partitions");
  const [, version, done, digits = "", rest = ""] =
    /^1;(\d{1,15});([01]);([0-9A-Za-z]*)((?:;[a-z]=[\d,/]+)*)$/.exec(text) ?? [];
  if (version === undefined && text !== "")
    throw new SluiceError("unexpected_reply", "the shares of a queue's partitions are damaged");
  const partitions = Array.from(digits, placeOf);
  const given = new Map(rest.split(";").map((part) => part.split("=") as [string, string]));
  const limits = eachKind((kind): LimitShares | undefined => {
    const [most, first, ...shares] = given.get(LETTERS[kind])?.split(",") ?? [];
    if (most === undefined) return undefined;
    const shareOf = new Map(partitions.map((partition, i) => [partition, Number(shares[i])]));
    return { ...readLimit(most), first: Number(first), shares: shareOf };
  });
  return { version: Number(version ?? 0), done: done === "1", partitions, limits, text };
}
