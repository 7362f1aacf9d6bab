import { decodeValue, encodeValue, MAX_PROGRESS_BYTES } from "./codec.ts";
import { invalidArgument, SluiceError } from "../../errors.ts";
import { recordName, unescaped } from "./validation.ts";
import type { RejectReason, TaskInfo, TaskState, Transition, WorkerName } from "./types.ts";

/** What a record means where it fixes nothing itself; the Lua prelude holds the same. */
export const RECORD_DEFAULTS = {
  maxAttempts: 5,
  resultTtl: 3_600_000,
  deadTtl: 604_800_000,
} as const;

export const DEFAULT_LEASE = 300_000;

/** Limit of a task's headers, in bytes of JSON. */
export const MAX_HEADER_BYTES = 16_384;

/** What one task fixes at enqueue; durations in ms. */
export interface Fixed {
  /** Tells the producer's own resend from another producer's task of the same id. */
  readonly token: string | undefined;
  readonly lease: number | undefined;
  readonly maxAttempts: number | undefined;
  readonly resultTtl: number | undefined;
  readonly deadTtl: number | undefined;
  readonly headers: Readonly<Record<string, string>> | undefined;
  /** As {@link recordName} writes it. */
  readonly group: string | undefined;
  readonly priority: number | undefined;
  /** As {@link encodeValue} wrote it. */
  readonly payload: string;
}

/** A fixed record from its options on; the script puts version and time in front. */
export function writeFixed(task: Fixed): string {
  const headers = task.headers ? asciiJson(task.headers) : "";
  const head =
    option("t", task.token) +
    option("l", task.lease) +
    option("m", task.maxAttempts, RECORD_DEFAULTS.maxAttempts) +
    option("r", task.resultTtl, RECORD_DEFAULTS.resultTtl) +
    option("d", task.deadTtl, RECORD_DEFAULTS.deadTtl) +
    option("h", headers.length || undefined) +
    option("G", task.group) +
    option("P", task.priority, 0);
  return `${head}\n${headers}${task.payload}`;
}

function option(letter: string, value: string | number | undefined, implied?: number): string {
  return value === undefined || value === implied ? "" : `;${letter}=${value}`;
}

/** JSON in ASCII only, so that its length is the same in characters and in Redis's bytes. */
export function asciiJson(value: unknown): string {
  return inAscii(JSON.stringify(value));
}

function inAscii(json: string): string {
  return json.replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** Progress as a record's first line can hold it, once it is escaped. */
export function encodeProgress(progress: unknown, path: string): string {
  if (progress instanceof Uint8Array) {
    throw invalidArgument(path, "must be something that JSON can express");
  }
  return inAscii(encodeValue(progress, path, MAX_PROGRESS_BYTES));
}

/** What a record's first line says: the fields in fixed places under the names given, then letters. */
export function readRecord(
  record: string,
  names: readonly string[],
): { says: Record<string, string>; rest: string } {
  const stop = record.indexOf("\n");
  if (!record.startsWith("1;") || stop < 0) {
    throw new SluiceError("unexpected_reply", "a record is not of the form that this release writes");
  }
  // No name is longer than a letter, and no object has such properties of its own accord.
  const says: Record<string, string> = {};
  const fields = record.slice(2, stop).split(";");
  fields.forEach((field, i) => {
    const name = names[i];
    if (name === undefined) says[field.slice(0, 1)] = field.slice(2);
    else if (field !== "") says[name] = field;
  });
  return { says, rest: record.slice(stop + 1) };
}

const FIXED = ["e"];
const CHANGING = ["v", "e", "a", "c", "s", "n", "k", "q", "l"];

function instant(text: string | undefined): number {
  const ms = Number(text);
  if (text === undefined || !Number.isSafeInteger(ms)) {
    throw new SluiceError("unexpected_reply", "a record lacks a number that it must have");
  }
  return ms;
}

export function readHeaders(json: string): Record<string, string> {
  try {
    return JSON.parse(json) as Record<string, string>;
  } catch {
    // The parser's message quotes the text.
    throw new SluiceError("unexpected_reply", "a task's headers are not JSON");
  }
}

/** What a dequeue tells of a task. */
export function readFixed(record: string): {
  enqueuedAt: number;
  /** The lease that it fixed, ms. */
  lease: number | undefined;
  headers: Readonly<Record<string, string>> | undefined;
  group: string | undefined;
  payload: unknown;
} {
  const { says, rest } = readRecord(record, FIXED);
  const length = Number(says["h"] ?? 0);
  return {
    enqueuedAt: instant(says["e"]),
    lease: says["l"] === undefined ? undefined : Number(says["l"]),
    headers: length > 0 ? readHeaders(rest.slice(0, length)) : undefined,
    group: says["G"] === undefined ? undefined : unescaped(says["G"]),
    payload: decodeValue(rest.slice(length)),
  };
}

/** A worker as records hold it: name and incarnation, which may be empty. */
export function writeWorker(worker: WorkerName, path: string): string {
  if (typeof worker !== "object" || worker === null) {
    throw invalidArgument(path, "must be an object with a name");
  }
  const { name, incarnation } = worker;
  const which = incarnation === undefined ? "" : recordName(incarnation, `${path}.incarnation`);
  return `${recordName(name, `${path}.name`)} ${which}`;
}

export function readWorker(text: string): WorkerName {
  const [name = "", incarnation = ""] = text.split(" ").map(unescaped);
  return incarnation === "" ? { name } : { name, incarnation };
}

const STATES: Readonly<Record<string, Transition["to"]>> = {
  p: "pending",
  d: "delayed",
  w: "working",
  c: "completed",
  r: "rejected",
  f: "cancelRequested",
};

/** Transitions in a record's history: a letter and the ms since enqueue, each; the last made the version. */
function readHistory(text: string, version: number, enqueuedAt: number): Transition[] {
  const found = Array.from(text.matchAll(/([a-z])(\d+)/g), ([, letter, ms]) => ({ letter, ms: Number(ms) }));
  return found.map(({ letter = "", ms }, i) => ({
    version: version - found.length + 1 + i,
    to: STATES[letter] ?? "pending",
    at: enqueuedAt + ms,
  }));
}

/** What inspect tells of a task. */
export function readTaskInfo(
  queue: string,
  id: string,
  found: { state: TaskState; at: number; fixed: string; changing: string },
): TaskInfo {
  const fixed = found.fixed === "" ? undefined : readRecord(found.fixed, FIXED);
  const { says, rest } =
    found.changing === ""
      ? { says: {} as Record<string, string>, rest: "" }
      : readRecord(found.changing, CHANGING);
  const enqueuedAt = instant(says["e"] ?? fixed?.says["e"]);
  const group = says["G"] ?? fixed?.says["G"];
  const priority = says["P"] ?? fixed?.says["P"];
  const optional = (name: string, letter: string) =>
    says[letter] === undefined ? {} : { [name]: instant(says[letter]) };
  return {
    id,
    queue,
    state: found.state,
    ...(says["y"] !== undefined && { reason: says["y"] as RejectReason }),
    attempt: Number(says["a"] ?? 0),
    charged: Number(says["c"] ?? 0),
    lease: Number(says["n"] ?? 0),
    requeues: Number(says["b"] ?? 0),
    version: Number(says["v"] ?? 1),
    transitions: readHistory(says["h"] ?? "", Number(says["v"] ?? 1), enqueuedAt),
    enqueuedAt,
    ...(found.state === "delayed" && { dueAt: found.at }),
    ...(found.state === "working" && { deadlineAt: found.at }),
    ...optional("dequeuedAt", "q"),
    ...optional("requeuedAt", "u"),
    ...optional("endedAt", "z"),
    ...(says["f"] !== undefined && { cancelRequested: true as const }),
    ...(group !== undefined && { group: unescaped(group) }),
    ...(priority !== undefined && { priority: Number(priority) }),
    ...(says["W"] !== undefined && { worker: readWorker(says["W"]) }),
    ...(says["O"] !== undefined && { progress: decodeValue(unescaped(says["O"])) }),
    ...(fixed?.says["h"] !== undefined && { headers: readHeaders(fixed.rest) }),
    ...(rest !== "" && { [found.state === "completed" ? "result" : "error"]: decodeValue(rest) }),
  };
}

/** The letters of a record of settings, or the events of one of statistics. */
export function readLetters(record: string): ReadonlyMap<string, string> {
  const [version, ...fields] = record.split(";");
  if (record !== "" && version !== "1") {
    throw new SluiceError("unexpected_reply", "a record is not of the form that this release writes");
  }
  return new Map(fields.map((field) => field.split("=") as [string, string]));
}
