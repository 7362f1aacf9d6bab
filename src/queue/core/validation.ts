import { invalidArgument } from "../../errors.ts";

/** The last instant that a date can have, epoch ms. */
export const LAST_INSTANT = 8_640_000_000_000_000;

/** The last instant that a task can wait for, epoch ms: half a millisecond, which marks those that share, must still show. */
export const LAST_DUE = 2 ** 52 - 1;

export const QUEUE = /^[A-Za-z0-9_-][A-Za-z0-9_.-]{0,127}$/;
export const ID = /^[A-Za-z0-9][!-~]{0,127}$/;
const PREFIX = /^[A-Za-z0-9_-][A-Za-z0-9_.:-]{0,63}$/;
export const TOKEN = /^[A-Za-z0-9_-]{8,64}$/;
export const KEY = /^[!-~]{1,255}$/;
const CURSOR = /^\d{1,20}$/;

function checked(value: unknown, pattern: RegExp, path: string, allowed: string): string {
  if (typeof value !== "string" || !pattern.test(value)) {
    throw invalidArgument(path, `must be ${allowed}`);
  }
  return value;
}

/** @throws {SluiceError} `invalid_argument` */
export function queueName(value: unknown, path = "queue"): string {
  return checked(value, QUEUE, path, "1 to 128 of A-Z a-z 0-9 _ . -, not beginning with a dot");
}

/** @throws {SluiceError} `invalid_argument` */
export function taskId(value: unknown, path = "id"): string {
  return checked(value, ID, path, "1 to 128 visible ASCII characters, beginning with a letter or a digit");
}

/**
 * The name of a group, worker or incarnation, as records hold it: there `;` ends a field.
 * @throws {SluiceError} `invalid_argument`
 */
export function recordName(value: unknown, path: string): string {
  return escaped(taskId(value, path));
}

/** A text as records hold it. */
export function escaped(text: string): string {
  return text.replace(/[;%]/g, (unit) => (unit === ";" ? "%3B" : "%25"));
}

/** The text that {@link escaped} wrote. */
export function unescaped(text: string): string {
  return text.replaceAll("%3B", ";").replaceAll("%25", "%");
}

/** @throws {SluiceError} `invalid_argument` */
export function keyPrefix(value: unknown, path = "prefix"): string {
  return checked(value, PREFIX, path, "1 to 64 of A-Z a-z 0-9 _ . : -, beginning with none of . :");
}

/**
 * Undefined where there is none.
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
export function scanCursor(value: unknown, path = "cursor"): string {
  return checked(value, CURSOR, path, "one that an earlier page gave");
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

/** Options of every call that is a request. */
export const REQUEST_OPTIONS = ["signal", "idempotencyKey"] as const;

/**
 * A misspelt option must not be as good as none: no delay, or all tasks.
 * @param at what stands before the options' names in errors
 * @throws {SluiceError} `invalid_argument` for what is no object, or has other options, or a `signal` that is none
 */
export function onlyOptions(options: unknown, known: readonly string[], at = ""): void {
  if (typeof options !== "object" || options === null) {
    const path = at.replace(/\.$/, "") || "options";
    throw invalidArgument(path, "must be an object");
  }
  const unknown = Object.keys(options).find((name) => !known.includes(name));
  if (unknown !== undefined) {
    throw invalidArgument(`${at}${unknown}`, `is no option here; there are ${known.join(", ")}`);
  }
  if ("signal" in options) abortSignal(options.signal, `${at}signal`);
}

/** @throws {SluiceError} `invalid_argument` for what is neither undefined nor an AbortSignal, of whichever realm */
export function abortSignal(value: unknown, path: string): void {
  const { addEventListener } = (value ?? {}) as Partial<AbortSignal>;
  if (value !== undefined && typeof addEventListener !== "function") {
    throw invalidArgument(path, "must be an AbortSignal");
  }
}

/**
 * Bound on the bytes of payloads, results and errors in one reply.
 * @param value 8 MB where there is none
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

/** @throws {SluiceError} `invalid_argument` for what is no list, or a longer one */
export function listOf(value: unknown, path: string, most: number): void {
  if (!Array.isArray(value) || value.length > most) {
    throw invalidArgument(path, `must be an array of at most ${most}`);
  }
}
