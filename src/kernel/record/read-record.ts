/** Reads the records of tasks. */
import { SluiceError } from "../../errors.ts";
import { decodeValue } from "./codec.ts";
import { readErrors } from "../errors/error-text.ts";
import type { TaskInfo, Transition } from "./task-info.ts";
import type { TaskState, WorkerName } from "../options/types.ts";
import { unescaped } from "../options/validation.ts";

/** Records hold these fields by position, in this order. The letters are names in this file only. */
const FIXED_POSITIONS = ["e"];
const CHANGING_POSITIONS = ["v", "e", "a", "c", "s", "n", "k", "q", "l"];

/**
 * Splits a record into the fields of its first line, by letter, and the text after it.
 * @param positions the letters for the fields that records hold by position
 * @throws {SluiceError} `unexpected_reply` for an invalid record
 */
function splitRecord(
  record: string,
  positions: readonly string[],
): { fields: Record<string, string>; rest: string } {
  const stop = record.indexOf("\n");
  if (!/^[12];/.test(record) || stop < 0) {
    throw new SluiceError("unexpected_reply", "a record is not of the form that this release writes");
  }
  // A letter is never the name of an inherited property.
  const fields: Record<string, string> = {};
  for (const [i, field] of record.slice(2, stop).split(";").entries()) {
    const letter = positions[i];
    if (letter === undefined) fields[field.slice(0, 1)] = field.slice(2);
    else if (field !== "") fields[letter] = field;
  }
  return { fields, rest: record.slice(stop + 1) };
}

function instant(text: string | undefined): number {
  const ms = Number(text);
  if (text === undefined || !Number.isSafeInteger(ms)) {
    throw new SluiceError("unexpected_reply", "a record lacks a number that it must have");
  }
  return ms;
}

function readHeaders(json: string): Record<string, string> {
  try {
    return JSON.parse(json) as Record<string, string>;
  } catch {
    // The message of the parser quotes the text.
    throw new SluiceError("unexpected_reply", "a task's headers are not JSON");
  }
}

/** Reads the options of a fixed record; durations in ms. An option that it leaves out is undefined. */
function readOptions({ l, m, r, d, U, G, P }: Readonly<Record<string, string>>) {
  const number = (text: string | undefined) => (text === undefined ? undefined : Number(text));
  return {
    lease: number(l),
    maxAttempts: number(m),
    resultTtl: number(r),
    deadTtl: number(d),
    unique: number(U),
    group: G === undefined ? undefined : unescaped(G),
    priority: number(P),
  };
}

/** The headers and the payload behind the first line of a fixed record. */
function readBody({ h: headersLength = "0" }: Readonly<Record<string, string>>, rest: string) {
  const length = Number(headersLength);
  return {
    headers: length > 0 ? readHeaders(rest.slice(0, length)) : undefined,
    payload: decodeValue(rest.slice(length)),
  };
}

/**
 * Reads a fixed record as a dequeue returns it. The lease, ms, is undefined if the task fixed none.
 * @throws {SluiceError} `unexpected_reply` for an invalid record
 */
export function readFixed(record: string): {
  enqueuedAt: number;
  lease: number | undefined;
  headers: Readonly<Record<string, string>> | undefined;
  group: string | undefined;
  payload: unknown;
} {
  const { fields, rest } = splitRecord(record, FIXED_POSITIONS);
  const { lease, group } = readOptions(fields);
  return { enqueuedAt: instant(fields["e"]), lease, group, ...readBody(fields, rest) };
}

/**
 * The lease in a fixed record, ms; undefined if it has none. The rest of the record may be invalid.
 */
export function leaseOf(record: string): number | undefined {
  const [, lease] = /^[^\n]*;l=(\d+)/.exec(record) ?? [];
  return lease === undefined ? undefined : Number(lease);
}

/**
 * Reads the options, headers and payload that {@link writeFixed} wrote.
 * @throws {SluiceError} `unexpected_reply` for an invalid record
 */
export function readWritten(written: string) {
  const { fields, rest } = splitRecord(`1;${written}`, []);
  return { ...readOptions(fields), ...readBody(fields, rest) };
}

export function readWorker(text: string): WorkerName {
  const [name = "", incarnation = ""] = text.split(" ").map(unescaped);
  return incarnation === "" ? { name } : { name, incarnation };
}

/** By their letters in a history. `p` is pending. */
const STATES: Readonly<Record<string, Transition["to"]>> = {
  b: "blocked",
  d: "delayed",
  w: "working",
  c: "completed",
  r: "rejected",
  f: "cancelRequested",
};

/**
 * The transitions in a history: for each a letter, and the ms since enqueue. The last one has the current
 * version.
 */
function readHistory(text: string, version: number, enqueuedAt: number): Transition[] {
  const found = [...text.matchAll(/([a-z])(\d+)/g)];
  return found.map(([, letter = "", ms], i) => ({
    version: version - found.length + 1 + i,
    to: STATES[letter] ?? "pending",
    at: enqueuedAt + Number(ms),
  }));
}

/** An object with the property, or an empty one if the record lacks it. */
function optional<Name extends string, T>(
  name: Name,
  text: string | undefined,
  read: (text: string) => T,
): { readonly [N in Name]?: T } {
  return text === undefined ? {} : ({ [name]: read(text) } as Record<Name, T>);
}

/**
 * Reads the records of a task as `get` and `list` return them; one of them may be empty.
 * @param found.at when the task is due, or its lease ends, epoch ms
 * @throws {SluiceError} `unexpected_reply` for an invalid record
 */
export function readTaskInfo(
  queue: string,
  id: string,
  found: { state: TaskState; at: number; fixed: string; payload: string; changing: string },
): TaskInfo {
  const none = { fields: {} as Record<string, string | undefined>, rest: "" };
  const fixed = found.fixed === "" ? none : splitRecord(found.fixed, FIXED_POSITIONS);
  const changing = found.changing === "" ? none : splitRecord(found.changing, CHANGING_POSITIONS);
  const { e: fixedEnqueued, h: headersLength, G: fixedGroup, P: fixedPriority } = fixed.fields;
  const {
    a: attempt = "0",
    b: requeues = "0",
    c: charged = "0",
    e: enqueued = fixedEnqueued,
    f: cancelRequested,
    h: history = "",
    n: lease = "0",
    q: dequeued,
    u: requeued,
    v: version = "1",
    y: reason,
    z: ended,
    E: errors = "",
    G: group = fixedGroup,
    O: progress,
    P: priority = fixedPriority,
    W: worker,
  }: Record<string, string | undefined> = changing.fields;
  const enqueuedAt = instant(enqueued);
  const {
    group: _,
    priority: __,
    ...options
  } = readOptions(fixed.fields as Readonly<Record<string, string>>);
  const chosen = Object.entries(options).filter(([, value]) => value !== undefined);
  const task: Partial<Record<keyof TaskInfo, unknown>> = {
    id,
    queue,
    state: found.state,
    ...(reason !== undefined && { reason }),
    attempt: Number(attempt),
    charged: Number(charged),
    lease: Number(lease),
    requeues: Number(requeues),
    version: Number(version),
    transitions: readHistory(history, Number(version), enqueuedAt),
    errors: readErrors(errors, enqueuedAt),
    enqueuedAt,
    ...(found.state === "delayed" && { dueAt: found.at }),
    ...(found.state === "working" && { deadlineAt: found.at }),
    ...optional("dequeuedAt", dequeued, instant),
    ...optional("requeuedAt", requeued, instant),
    ...optional("endedAt", ended, instant),
    ...(cancelRequested !== undefined && { cancelRequested: true as const }),
    ...optional("group", group, unescaped),
    ...optional("priority", priority, Number),
    ...optional("worker", worker, readWorker),
    ...(progress !== undefined && { progress: decodeValue(unescaped(progress)) }),
    ...(headersLength !== undefined && { headers: readHeaders(fixed.rest) }),
    ...(found.payload !== "" && { payload: decodeValue(found.payload) }),
    ...(chosen.length > 0 && { options: Object.fromEntries(chosen) }),
    ...(changing.rest !== "" && {
      [found.state === "completed" ? "result" : "error"]: decodeValue(changing.rest),
    }),
  };
  // A valid record has what its state needs.
  return task as TaskInfo;
}
