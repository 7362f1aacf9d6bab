/** The short texts of errors that a task keeps for each attempt. */
import { SluiceError } from "../../errors.ts";
import { byteLength } from "../record/byte-length.ts";
import { decodeValue, describeError, encodeValue, toJson } from "../record/codec.ts";
import { isEnvelope } from "../record/envelope.ts";
import type { AttemptError } from "../record/task-info.ts";
import { unescaped } from "../options/validation.ts";

/** The most characters (code points) of a short text. */
export const MAX_ERROR_TEXT = 200;

/** How much of a text is read, in UTF-16 units: a code point has at most two. */
const MOST_READ = 2 * MAX_ERROR_TEXT + 1;

/** The most bytes of an encoded error that the script copies. */
const COPIED_BYTES = 1_800;

/**
 * An error as a person reads it, cut to 200 characters: `name: message` of an exception, a text itself, any
 * other value as JSON. Of bytes it says how many they are.
 */
export function errorText(error: unknown): string {
  if (typeof error === "string") return cutText(error);
  if (error instanceof Uint8Array) return `${error.length} bytes`;
  const { name, message } = (error instanceof Error ? describeError(error, MOST_READ) : (error ?? {})) as {
    readonly name?: unknown;
    readonly message?: unknown;
  };
  if (typeof name !== "string" || typeof message !== "string") return cutText(toJson(error, "error"));
  return cutText(message === "" ? name : `${name}: ${message}`);
}

/**
 * The short form of an error, as the codec writes it; empty if the error itself is no longer, because the
 * script then copies it. An error that the caller has encrypted is copied as long as it may be.
 * @param encoded the error as the codec wrote it
 */
export function shortForm(error: unknown, encoded: string): string {
  if (encoded === "" || (isEnvelope(error) && encoded.length <= COPIED_BYTES)) return "";
  const short = encodeValue(errorText(error), "error");
  return byteLength(short) < byteLength(encoded) ? short : "";
}

/** Cuts between code points, so that no half of a surrogate pair is left. */
function cutText(text: string): string {
  const first = Array.from(text.slice(0, MOST_READ));
  return first.length > MAX_ERROR_TEXT ? `${first.slice(0, MAX_ERROR_TEXT - 1).join("")}…` : text;
}

/**
 * Reads the errors of attempts in a record: for each the number of the attempt, the ms since enqueue, and the
 * error, if there is one, or `taken_back` if an operator took the task back. An encrypted error is returned as bytes.
 * @throws {SluiceError} `unexpected_reply` for an invalid text
 */
export function readErrors(text: string, enqueuedAt: number): AttemptError[] {
  if (text === "") return [];
  return text.split("\t").map((entry) => {
    const [, attempt, ms, error] = /^(\d+) (\d+)(?: (.*))?$/s.exec(entry) ?? [];
    if (attempt === undefined) {
      throw new SluiceError("unexpected_reply", "a record has an invalid error of an attempt");
    }
    const ended = { attempt: Number(attempt), at: enqueuedAt + Number(ms) };
    if (error === undefined) return { ...ended, error: null };
    if (error === "taken_back") return { ...ended, error: null, takenBack: true };
    const value = decodeValue(unescaped(error));
    return { ...ended, error: isEnvelope(value) ? (value as Uint8Array) : errorText(value) };
  });
}
