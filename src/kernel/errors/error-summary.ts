import { SluiceError } from "../../errors.ts";
import { cut, describeError } from "../record/codec.ts";

/** Name and message of an error, each cut to 500 characters, and its stack. */
export interface ErrorSummary {
  /** Absent if the error was a text. */
  readonly name?: string | undefined;
  readonly message: string;
  /** The message of the error's cause. */
  readonly cause?: string | undefined;
  /**
   * The stack, with that of the cause, cut to 4,000 characters. Only of an `Error` that this process threw, and not of
   * one that the library made, such as a `StoppedError`. Redis does not have it, except if a drain has the option `storeStack`.
   */
  readonly stack?: string | undefined;
}

const MOST = 500;
const MOST_STACK = 4_000;

/** Whether the library has made an error of a task itself. Its stack would say nothing about the handler. */
function isOwn(error: Error): boolean {
  if (error instanceof SluiceError) return error.code === "undecryptable" || error.code === "offload_failed";
  return error.name === "StoppedError";
}

/**
 * The stack of an error, and that of its cause.
 * @returns undefined if there is none, or it cannot be read
 */
export function stackOf(error: Error): string | undefined {
  try {
    if (isOwn(error) || typeof error.stack !== "string") return undefined;
    const { stack, cause } = error;
    const of = cause instanceof Error && typeof cause.stack === "string" ? `\n[cause]: ${cause.stack}` : "";
    return cut(stack + of, MOST_STACK);
  } catch {
    return undefined;
  }
}

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
    if (error instanceof Error) return withStack(describeError(error, MOST), stackOf(error));
    const { name, message, cause, stack } = Object(error) as Record<string, unknown>;
    if (typeof message === "string") {
      const summary = {
        ...(typeof name === "string" && { name: cut(name, MOST) }),
        message: cut(message, MOST),
        ...(typeof cause === "string" && { cause: cut(cause, MOST) }),
      };
      return withStack(summary, typeof stack === "string" ? cut(stack, MOST_STACK) : undefined);
    }
  } catch {
    // Reading an error may throw as well.
  }
  return { message: "a value that is not an Error" };
}

const withStack = (summary: ErrorSummary, stack: string | undefined): ErrorSummary =>
  stack === undefined ? summary : { ...summary, stack };

/** An error in one line: `TypeError: fetch failed (no route)`. */
export function lineOf({ name, message, cause }: ErrorSummary): string {
  return (name === undefined ? "" : `${name}: `) + message + (cause === undefined ? "" : ` (${cause})`);
}
