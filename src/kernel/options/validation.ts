import { invalidArgument } from "../../errors.ts";
import { MAX_BATCH } from "./limits.ts";

export const QUEUE = /^[A-Za-z0-9_-][A-Za-z0-9_.-]{0,127}$/;
export const ID = /^[A-Za-z0-9][!-~]{0,127}$/;
const QUEUE_OR_SHARD = /^[A-Za-z0-9_-][A-Za-z0-9_.-]{0,127}(?:\/(?:0|[1-9]\d?))?$/;
const PREFIX = /^[A-Za-z0-9_-][A-Za-z0-9_.:-]{0,63}$/;
export const TOKEN = /^[A-Za-z0-9_-]{8,64}$/;
export const KEY = /^[!-~]{1,255}$/;
const CURSOR = /^\d{1,20}$/;

/** Options of every call that is a request. */
export const REQUEST_OPTIONS = ["signal", "idempotencyKey"] as const;

function checked(value: unknown, pattern: RegExp, path: string, allowed: string): string {
  if (typeof value !== "string" || !pattern.test(value)) {
    throw invalidArgument(path, `must be ${allowed}`);
  }
  return value;
}

/**
 * Checks the name of a queue.
 * @throws {SluiceError} `invalid_argument`
 */
export function queueName(value: unknown, path = "queue"): string {
  return checked(value, QUEUE, path, "1 to 128 of A-Z a-z 0-9 _ . -, not beginning with a dot");
}

/**
 * Checks the name of a queue, or of a shard of a divided queue, such as `emails/3`.
 * @throws {SluiceError} `invalid_argument`
 */
export function shardName(value: string): string {
  return QUEUE_OR_SHARD.test(value) ? value : queueName(value);
}

/**
 * Checks the id of a task.
 * @throws {SluiceError} `invalid_argument`
 */
export function taskId(value: unknown, path = "id"): string {
  return checked(value, ID, path, "1 to 128 visible ASCII characters, beginning with a letter or a digit");
}

/**
 * Checks the name of a group, worker or incarnation, and escapes it for records, in which `;` ends a field.
 * @throws {SluiceError} `invalid_argument`
 */
export function recordName(value: unknown, path: string): string {
  return escaped(taskId(value, path));
}

/** Escapes a text for records. */
export function escaped(text: string): string {
  return text.replace(/[;%]/g, (unit) => (unit === ";" ? "%3B" : "%25"));
}

/** Reverses {@link escaped}. */
export function unescaped(text: string): string {
  return text.replaceAll("%3B", ";").replaceAll("%25", "%");
}

/** @throws {SluiceError} `invalid_argument` */
export function keyPrefix(value: unknown, path = "prefix"): string {
  return checked(value, PREFIX, path, "1 to 64 of A-Z a-z 0-9 _ . : -, not beginning with . or :");
}

/**
 * The idempotency key of a call; undefined if it has none.
 * @throws {SluiceError} `invalid_argument`
 */
export function requestKey({
  idempotencyKey: key,
}: {
  readonly idempotencyKey?: unknown;
}): string | undefined {
  return key === undefined
    ? undefined
    : checked(key, KEY, "idempotencyKey", "1 to 255 visible ASCII characters");
}

/** @throws {SluiceError} `invalid_argument` */
function scanCursor(value: unknown, path = "cursor"): string {
  return checked(value, CURSOR, path, "the cursor of an earlier page");
}

/** Options of a call that lists by pages. */
export const LIST_OPTIONS = ["cursor", "size", "signal", "idempotencyKey"] as const;

/**
 * The arguments of a script that scans: `size` is 1 to 1,000, 100 by default.
 * @throws {SluiceError} `invalid_argument`
 */
export function pageArguments({ cursor = "0", size = 100 }: { cursor?: unknown; size?: unknown }): {
  cursor: string;
  size: string;
} {
  return { cursor: scanCursor(cursor), size: String(wholeNumber(size, "size", 1, MAX_BATCH)) };
}

/** The cursor of the next page, from the one that a scan returned; null after the last page. */
export function nextCursor(cursor: string): string | null {
  return cursor === "0" ? null : cursor;
}

/** @throws {SluiceError} `invalid_argument` */
export function leaseToken(value: unknown, path = "token"): string {
  return checked(value, TOKEN, path, "8 to 64 of A-Z a-z 0-9 _ -");
}

/** @throws {SluiceError} `invalid_argument` */
export function wholeNumber(value: unknown, path: string, min: number, max: number): number {
  if (typeof value !== "number" || !Number.isInteger(value) || value < min || value > max) {
    throw invalidArgument(path, `must be a whole number from ${min} to ${max}`);
  }
  return value;
}

/**
 * Refuses unknown options. If a misspelt option were ignored, a task would lose its delay, or a purge its
 * filter. Checks `signal` too.
 * @param at what errors put before the names of options, such as `tasks[3].`
 * @throws {SluiceError} `invalid_argument` for a value that is not an object, an unknown option or an invalid
 *   signal
 */
export function onlyOptions(options: unknown, known: readonly string[], at = ""): void {
  optionsObject(options, at);
  const unknown = Object.keys(options).find((name) => !known.includes(name));
  if (unknown !== undefined) {
    throw invalidArgument(`${at}${unknown}`, `is an unknown option; expected one of ${known.join(", ")}`);
  }
}

/**
 * Checks that options are an object, and their `signal`.
 * @param at as for {@link onlyOptions}
 * @throws {SluiceError} `invalid_argument`
 */
export function optionsObject(options: unknown, at = ""): asserts options is object {
  if (typeof options !== "object" || options === null)
    throw invalidArgument(at.replace(/\.$/, "") || "options", "must be an object");
  if ("signal" in options) abortSignal(options.signal, `${at}signal`);
}

/** @throws {SluiceError} `invalid_argument` if it is neither undefined nor an AbortSignal (of any realm) */
export function abortSignal(value: unknown, path: string): void {
  const { addEventListener } = (value ?? {}) as Partial<AbortSignal>;
  if (value !== undefined && typeof addEventListener !== "function") {
    throw invalidArgument(path, "must be an AbortSignal");
  }
}

/** @throws {SluiceError} `invalid_argument` if it is neither undefined nor a function */
export function optionalFunction<F>(value: F, path: string): F {
  if (value !== undefined && typeof value !== "function") throw invalidArgument(path, "must be a function");
  return value;
}

/**
 * Checks the limit of payloads, results and errors in one reply.
 * @param value bytes; 8 MB by default
 * @throws {SluiceError} `invalid_argument`
 */
export function replyBytes(value: number = 8_000_000): number {
  return wholeNumber(value, "maxBytes", 1, 50_000_000);
}

/** @throws {SluiceError} `invalid_argument` */
export function trueOrFalse(value: unknown, path: string): boolean {
  if (typeof value !== "boolean") {
    throw invalidArgument(path, "must be true or false");
  }
  return value;
}

/**
 * Checks the length of an array.
 * @throws {SluiceError} `invalid_argument` if it is not an array, or longer than `most`
 */
export function listOf(value: unknown, path: string, most: number): void {
  if (!Array.isArray(value) || value.length > most) {
    throw invalidArgument(path, `must be an array of at most ${most} items`);
  }
}
