/** The errors of attempts, as findings quote them. */
import { type ErrorSummary, summarizeError } from "../../kernel/errors/error-summary.ts";
import { cut, decodeValue } from "../../kernel/record/codec.ts";

/** The most characters of a quoted error. */
const QUOTED = 300;

/** Reads the error in the record of a task. @returns undefined for none, and for one that cannot be read */
export function readError(stored: string): ErrorSummary | undefined {
  try {
    return stored === "" ? undefined : summarizeError(decodeValue(stored));
  } catch {
    return undefined;
  }
}

/** An error with its cause: `TypeError: fetch failed: Headers Timeout Error`. */
export function quoted({ name, message, cause }: ErrorSummary): string {
  return cut([name, message, cause].filter(Boolean).join(": ").replaceAll(/\s+/g, " "), QUOTED);
}
