/** The short texts of errors that a task keeps for each attempt. */
import { byteLength, encodeValue, toJson } from "./codec.ts";
import { isEnvelope } from "./envelope.ts";

/** The most characters (code points) of a short text. */
export const MAX_ERROR_TEXT = 200;

/** The most bytes of an encoded error that the script copies. */
const COPIED_BYTES = 1_800;

/**
 * An error as a person reads it, cut to 200 characters: `name: message` of an exception, a text itself, any
 * other value as JSON. Of bytes it says how many they are.
 */
export function errorText(error: unknown): string {
  if (typeof error === "string") return cutText(error);
  if (error instanceof Uint8Array) return `${error.length} bytes`;
  const { name, message } = (error ?? {}) as { readonly name?: unknown; readonly message?: unknown };
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
  // A code point has at most two units.
  const first = Array.from(text.slice(0, 2 * MAX_ERROR_TEXT + 1));
  return first.length > MAX_ERROR_TEXT ? `${first.slice(0, MAX_ERROR_TEXT - 1).join("")}…` : text;
}
