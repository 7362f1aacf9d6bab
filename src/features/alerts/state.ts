/** The records of alerts in the hash `{prefix}:alerts`; lua/README.md specifies them. */

/** An alert that not all receivers have yet. */
export interface Message {
  readonly id: string;
  readonly firing: boolean;
  readonly reminder: boolean;
  readonly startedAt: number;
  readonly measuredAt: number;
  readonly value: number;
  readonly text: string;
  /** Until when another pass is sending it, epoch ms; 0 if none is. */
  readonly claimedUntil: number;
  /** The positions of the receivers that do not have it. */
  readonly to: readonly number[];
}

/** What is known of a rule and a queue. */
export interface RuleState {
  /** Since when the condition holds, epoch ms; undefined if it did not at the last pass. */
  readonly since?: number | undefined;
  /** The mark of the reading then. */
  readonly mark?: string | undefined;
  /** When the last alert was made, epoch ms. */
  readonly alertedAt?: number | undefined;
  /** True from an alert to its recovery. */
  readonly firing?: boolean | undefined;
  readonly message?: Message | undefined;
  /** From when on any pass may remove it if it does not know the rule or cannot read its condition, epoch ms. */
  readonly expiresAt: number;
}

/** The field of what concerns no queue. */
export const DATABASE = "~database";

/** The queue of a record; empty if it is that of the database. */
export const queueOf = (field: string): string => (field === DATABASE ? "" : field);

/** By the name of the rule. */
export type QueueState = ReadonlyMap<string, RuleState>;

const PREFIX = "1;";

/** Reads the record of a queue. Returns undefined if a newer release wrote it. An unreadable one counts as empty. */
export function readQueueState(record: string): QueueState | undefined {
  const version = /^(\d+);/.exec(record)?.[1];
  if (version !== undefined && version !== "1") return undefined;
  const states = new Map<string, RuleState>();
  try {
    const rules: unknown = JSON.parse(record.slice(PREFIX.length));
    for (const [rule, short] of Object.entries(Object(rules))) states.set(rule, readRule(Object(short)));
  } catch {
    return new Map();
  }
  return states;
}

/** The record of a queue; empty if nothing is known of it. */
export function formatQueueState(states: QueueState): string {
  if (states.size === 0) return "";
  // The same content makes the same text: an unchanged record is not written.
  const rules = [...states].toSorted(([one], [other]) => (one < other ? -1 : 1));
  return PREFIX + JSON.stringify(Object.fromEntries(rules.map(([rule, state]) => [rule, shortRule(state)])));
}

function shortRule({ since, mark, alertedAt, firing, message, expiresAt }: RuleState): object {
  const p = message && {
    i: message.id,
    f: message.firing ? 1 : 0,
    r: message.reminder ? 1 : 0,
    s: message.startedAt,
    a: message.measuredAt,
    v: message.value,
    t: message.text,
    c: message.claimedUntil,
    n: message.to,
  };
  return { s: since, m: mark, a: alertedAt, f: firing ? 1 : undefined, p, x: expiresAt };
}

/** What JSON may have under the letters of a record. */
type Short = {
  readonly [Letter in "a" | "c" | "f" | "i" | "m" | "n" | "p" | "r" | "s" | "t" | "v" | "x"]?: unknown;
};

function readRule(short: Short): RuleState {
  return {
    since: number(short.s),
    mark: typeof short.m === "string" ? short.m : undefined,
    alertedAt: number(short.a),
    firing: short.f === 1,
    message: short.p === undefined ? undefined : readMessage(Object(short.p)),
    expiresAt: number(short.x) ?? 0,
  };
}

function readMessage(short: Short): Message | undefined {
  const [startedAt, measuredAt, value] = [number(short.s), number(short.a), number(short.v)];
  const { i: id, t: text, n: to } = short;
  if (startedAt === undefined || measuredAt === undefined || value === undefined) return undefined;
  if (typeof id !== "string" || typeof text !== "string" || !Array.isArray(to)) return undefined;
  return {
    id,
    firing: short.f === 1,
    reminder: short.r === 1,
    startedAt,
    measuredAt,
    value,
    text,
    claimedUntil: number(short.c) ?? 0,
    to: to.filter((position) => typeof position === "number"),
  };
}

const number = (value: unknown) => (typeof value === "number" ? value : undefined);

/** The last pass of a set of rules. */
export interface Pass {
  /** When it began, epoch ms. */
  readonly beganAt: number;
  /** When the one before it began, epoch ms; 0 if there was none. */
  readonly before: number;
  /** What the script writes; it goes in front of {@link Pass.rest}. */
  readonly start: string;
  /** Where to go on in the registry; undefined at its beginning. */
  readonly cursor: string | undefined;
  /** When the round through the registry began that this pass goes on with, epoch ms. */
  readonly roundAt: number | undefined;
  /** When the round before began, epoch ms. */
  readonly roundBefore: number | undefined;
  readonly rest: string;
}

/** Reads the record of a pass: `1;<began>;<before>;<token>;<cursor of the hash>;<rest>`. */
export function readPass(record: string): Pass {
  const [, start = "", began, before, rest = ""] = /^(1;(\d+);(\d+);[^;]*;\d+;)(.*)$/.exec(record) ?? [];
  const [cursor = "0", round, roundBefore] = rest.split(",");
  return {
    beganAt: Number(began ?? 0),
    before: Number(before ?? 0),
    start,
    cursor: cursor === "0" || cursor === "" ? undefined : cursor,
    roundAt: round ? Number(round) : undefined,
    roundBefore: roundBefore ? Number(roundBefore) : undefined,
    rest,
  };
}

/** The {@link Pass.rest} after a pass. @param cursor where the next pass goes on; null at the end of the registry */
export function nextRest(pass: Pass, cursor: string | null): string {
  const isFirst = pass.cursor === undefined;
  // A round of one pass needs no note of its own: the pass itself has when it began.
  if (cursor === null && isFirst) return "";
  const roundAt = isFirst ? pass.beganAt : (pass.roundAt ?? pass.beganAt);
  if (cursor === null) return `0,${roundAt},`;
  return `${cursor},${roundAt},${roundBeforeOf(pass) ?? ""}`;
}

/** When the round before that of this pass began, epoch ms; undefined if there was none. */
export function roundBeforeOf(pass: Pass): number | undefined {
  if (pass.cursor !== undefined) return pass.roundBefore;
  return pass.roundAt ?? (pass.before > 0 ? pass.before : undefined);
}
