import { SluiceError } from "../../errors.ts";

/**
 * Whether a command failed because a key holds a value of another type, as each script does at its first command on
 * the keys of a queue that was divided: they hold markers. It has changed nothing then.
 */
export function isWrongType(error: unknown): boolean {
  return error instanceof SluiceError && error.code === "redis_error" && /\bWRONGTYPE\b/.test(error.message);
}
