import { invalidArgument, SluiceError } from "../../errors.ts";
import { fromBase64, toBase64 } from "../../base64.ts";
import { byteLength } from "./byte-length.ts";
import { ENVELOPE_OVERHEAD, isEnvelope, isReference } from "./envelope.ts";
import { MAX_ERROR_BYTES, MAX_VALUE_BYTES } from "../options/limits.ts";
import { notJson } from "./not-json.ts";

/** Longest path into a value that an error shows, in characters: property names may have any length. */
const MAX_PATH = 500;

/**
 * Encodes a value as Redis stores it: `j` and JSON, or `b` and base64 for a `Uint8Array`. JSON escapes lone
 * surrogates, so the text is always valid UTF-8.
 * @param limit in bytes
 * @throws {SluiceError} `invalid_argument` with the path of the part that JSON cannot express or would change;
 *   `too_large` over the limit
 */
export function encodeValue(value: unknown, path: string, limit: number = MAX_VALUE_BYTES): string {
  return encode(value, path, limit, false);
}

/** @param whole whether to refuse what {@link encodePayload} refuses too */
function encode(value: unknown, path: string, limit: number, whole: boolean): string {
  let text: string;
  let size: number;
  if (value instanceof Uint8Array) {
    // The limit applies to the value in the envelope.
    size = isEnvelope(value) ? Math.max(0, value.length - ENVELOPE_OVERHEAD) : value.length;
    text = size > limit ? "" : `b${toBase64(value)}`;
  } else {
    const json = losslessJson(value, path, whole);
    text = `j${json}`;
    size = byteLength(json, limit);
  }
  if (size > limit) {
    throw new SluiceError("too_large", `${path} has ${size} bytes; at most ${limit} are allowed`, path);
  }
  return text;
}

/** JSON writes bytes as an object with the properties 0, 1 and so on, and those of a Buffer with its type. */
const TRACES = ["{}", '{"0":', '{"type":"Buffer"'];

/**
 * Encodes a payload, as {@link encodeValue}. Also refuses objects of which JSON keeps nothing, such as a
 * Promise, a Map or an invalid Date, bytes in an object, and references to objects. A result may have them: refusing it
 * would fail a task whose work is done.
 * @throws {SluiceError} as {@link encodeValue}
 */
export function encodePayload(payload: unknown, path: string, limit: number = MAX_VALUE_BYTES): string {
  const text = encode(payload, path, limit, true);
  // The object belongs to another task, and goes away with it.
  if (isReference(payload))
    throw invalidArgument(path, "must be the payload, not the reference to its object");
  return text;
}

/**
 * JSON of a value, as `JSON.stringify` writes it: NaN and infinite numbers as null.
 * @throws {SluiceError} `invalid_argument` if JSON cannot express the value, with the path of the part
 */
export function toJson(value: unknown, path: string): string {
  const json = orNothing(() => JSON.stringify(value) as string | undefined);
  if (json === undefined) {
    refuseLoss(value, path);
    const kind = typeof value === "object" ? "" : `is ${describeKind(value)}; it `;
    throw invalidArgument(path, `${kind}must be a Uint8Array or something that JSON can express`);
  }
  return json;
}

/**
 * JSON of a value that it has not changed.
 * @param whole whether to refuse also what {@link encodePayload} refuses
 * @throws {SluiceError} `invalid_argument` with the path of the part that JSON cannot express or would change
 */
export function losslessJson(value: unknown, path: string, whole: boolean): string {
  const json = toJson(value, path);
  // Only a text with a trace of what JSON has changed is searched.
  if (json.includes("null") || (whole && TRACES.some((trace) => json.includes(trace))))
    refuseLoss(value, path, whole);
  return json;
}

/** @throws {SluiceError} `invalid_argument` for the first part of a value that JSON cannot express as it is */
function refuseLoss(value: unknown, path: string, all = false): void {
  const lost = orNothing(() => notJson(value, path, all));
  if (lost) throw invalidArgument(cut(lost.path, MAX_PATH), lost.problem);
}

/** The result of a function that may run code of the value, such as a `toJSON`. Its error may quote the value. */
function orNothing<T>(run: () => T): T | undefined {
  try {
    return run();
  } catch {
    return undefined;
  }
}

function describeKind(value: unknown): string {
  return value === undefined ? "undefined" : `a ${typeof value}`;
}

/**
 * Decodes the value that {@link encodeValue} wrote; `undefined` for the empty text.
 * @throws {SluiceError} `unexpected_reply` for an invalid text
 */
export function decodeValue(text: string): unknown {
  if (text === "") return undefined;
  try {
    if (text[0] === "j") return JSON.parse(text.slice(1));
    const bytes = text[0] === "b" && fromBase64(text.slice(1));
    if (bytes) return bytes;
  } catch {
    // The message of the parser may quote the value.
  }
  throw new SluiceError("unexpected_reply", "a stored value is neither JSON nor base64");
}

/**
 * Encodes an error to store. An `Error` becomes `{ name, message }`, with the message of its `cause` if that
 * is an `Error` too. Each of these, and a text, is cut to 4,000 characters, or fewer if they do not fit, so
 * that a failure can always be stored.
 * @returns the empty text for `undefined`
 * @throws {SluiceError} as {@link encodeValue}, for other values
 */
export function encodeError(error: unknown, path: string): string {
  if (error === undefined) return "";
  if (!(error instanceof Error) && typeof error !== "string") {
    return encodeValue(error, path, MAX_ERROR_BYTES);
  }
  for (let most = 4_000; ; most /= 2) {
    const text = encodeValue(typeof error === "string" ? cut(error, most) : describeError(error, most), path);
    if (byteLength(text, MAX_ERROR_BYTES) - 1 <= MAX_ERROR_BYTES) return text;
  }
}

/**
 * Name and message of an error, and the message of its cause, each cut to `most` characters. A part that is no
 * text, or cannot be read, is left out: the name is then `Error`, and the message empty.
 */
export function describeError(
  error: Error,
  most: number,
): { readonly name: string; readonly message: string; readonly cause?: string } {
  const cause = causeOf(error);
  return {
    name: cut(textOf(error, "name") ?? "Error", most),
    message: cut(textOf(error, "message") ?? "", most),
    ...(cause !== undefined && { cause: cut(cause, most) }),
  };
}

/** The message of the cause: an error of `fetch` has the reason there. */
function causeOf(error: Error): string | undefined {
  const cause = propertyOf(error, "cause");
  if (!(cause instanceof Error)) return undefined;
  const code = propertyOf(cause, "code");
  return textOf(cause, "message") || (typeof code === "string" && code) || textOf(cause, "name");
}

/** A property of an error as text; undefined if it is an object or missing, or reading it throws. */
function textOf(error: Error, name: string): string | undefined {
  const value = propertyOf(error, name);
  if (typeof value === "string") return value;
  return typeof value === "number" || typeof value === "bigint" ? String(value) : undefined;
}

function propertyOf(error: Error, name: string): unknown {
  return orNothing(() => (error as unknown as Record<string, unknown>)[name]);
}

/** Cuts a text to at most so many characters. */
export function cut(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most - 1)}…` : text;
}
