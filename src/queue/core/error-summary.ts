import { cut, describeError } from "./codec.ts";

/** Name and message of an error, each cut to 500 characters. */
export interface ErrorSummary {
  /** Absent if the error was a text. */
  readonly name?: string | undefined;
  readonly message: string;
  /** The message of the error's cause. */
  readonly cause?: string | undefined;
}

const MOST = 500;

/**
 * Summarises an error for a log: an `Error`, an error as `get` returns it, or a text. Of any other value it
 * shows nothing, because the value may be a payload.
 * @returns undefined for undefined
 */
export function summarizeError(error: unknown): ErrorSummary | undefined {
  if (error === undefined) return undefined;
  try {
    if (error instanceof Uint8Array) return { message: "bytes, perhaps encrypted" };
    if (typeof error === "string") return { message: cut(error, MOST) };
    if (error instanceof Error) return describeError(error, MOST);
    const { name, message, cause } = Object(error) as Record<string, unknown>;
    if (typeof message === "string") {
      return {
        ...(typeof name === "string" && { name: cut(name, MOST) }),
        message: cut(message, MOST),
        ...(typeof cause === "string" && { cause: cut(cause, MOST) }),
      };
    }
  } catch {
    // Reading an error may throw as well.
  }
  return { message: "a value that is not an Error" };
}

/** An error in one line: `TypeError: fetch failed (no route)`. */
export function lineOf({ name, message, cause }: ErrorSummary): string {
  return (name === undefined ? "" : `${name}: `) + message + (cause === undefined ? "" : ` (${cause})`);
}
