import { invalidArgument } from "../../errors.ts";
import { encodeValue } from "./codec.ts";
import { MAX_PROGRESS_BYTES } from "../options/limits.ts";
import type { WorkerName } from "../options/types.ts";
import { recordName } from "../options/validation.ts";

/** Defaults of the options that a record leaves out. lua/parts/records.lua has the same values. */
export const RECORD_DEFAULTS = {
  maxAttempts: 10,
  resultTtl: 3_600_000,
  deadTtl: 604_800_000,
} as const;

/** ms */
export const DEFAULT_LEASE = 300_000;

/** Limit of a task's headers, in bytes of JSON. */
export const MAX_HEADER_BYTES = 16_384;

/** The options that a task fixes at enqueue; durations in ms. */
export interface Fixed {
  /** Distinguishes the producer's own resend from another producer's task with the same id. */
  readonly token: string | undefined;
  readonly lease: number | undefined;
  readonly maxAttempts: number | undefined;
  readonly resultTtl: number | undefined;
  readonly deadTtl: number | undefined;
  /** For how long from the enqueue on another enqueue of the id is refused. */
  readonly unique: number | undefined;
  readonly headers: Readonly<Record<string, string>> | undefined;
  /** As {@link recordName} writes it. */
  readonly group: string | undefined;
  readonly priority: number | undefined;
  /** As {@link encodeValue} wrote it. */
  readonly payload: string;
}

/** Writes a fixed record without its version and time. The script puts these in front. */
export function writeFixed(task: Fixed): string {
  const headers = task.headers ? asciiJson(task.headers) : "";
  const head =
    option("t", task.token) +
    option("l", task.lease) +
    option("m", task.maxAttempts, RECORD_DEFAULTS.maxAttempts) +
    option("r", task.resultTtl, RECORD_DEFAULTS.resultTtl) +
    option("d", task.deadTtl, RECORD_DEFAULTS.deadTtl) +
    option("U", task.unique, 0) +
    option("h", headers.length || undefined) +
    option("G", task.group) +
    option("P", task.priority, 0);
  return `${head}\n${headers}${task.payload}`;
}

function option(letter: string, value: string | number | undefined, implied?: number): string {
  return value === undefined || value === implied ? "" : `;${letter}=${value}`;
}

/** JSON in ASCII only, so that its length in characters is its length in bytes. */
export function asciiJson(value: unknown): string {
  return inAscii(JSON.stringify(value));
}

function inAscii(json: string): string {
  return json.replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/**
 * Progress as the first line of a record holds it, before it is escaped.
 * @throws {SluiceError} `invalid_argument`, `too_large`
 */
export function encodeProgress(progress: unknown, path: string): string {
  if (progress instanceof Uint8Array) {
    throw invalidArgument(path, "must be something that JSON can express");
  }
  return inAscii(encodeValue(progress, path, MAX_PROGRESS_BYTES));
}

/**
 * A worker as records hold it: its name and incarnation, which may be empty.
 * @throws {SluiceError} `invalid_argument`
 */
export function writeWorker(worker: WorkerName, path: string): string {
  if (typeof worker !== "object" || worker === null) {
    throw invalidArgument(path, "must be an object with a name");
  }
  const { name, incarnation } = worker;
  const which = incarnation === undefined ? "" : recordName(incarnation, `${path}.incarnation`);
  return `${recordName(name, `${path}.name`)} ${which}`;
}
