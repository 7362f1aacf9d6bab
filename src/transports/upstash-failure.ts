import { SluiceError } from "../errors.ts";
import { networkError, Transient } from "../retry.ts";
import type { CommandWords } from "./command-words.ts";
import { redisError, redact } from "./redis-error.ts";

/** HTTP errors that another try would also get. Credentials, quota and size are not here: they have codes. */
const PERMANENT = /syntax error|parse|malformed|unsupported|bad request|not found|not allowed/i;

/**
 * The error for an exception of the SDK, without the commands and replies that its message may quote.
 * @param named the variable of the token, if it has one
 */
export function failureOf(error: unknown, commands: readonly CommandWords[], named?: string): Error {
  if (!(error instanceof Error)) return new Transient("an unknown failure");
  if (error.name === "UpstashJSONParseError") return new Transient("a reply that is not JSON");
  const text = redact(error.message, ...commands);
  if (error.name !== "UpstashError") return networkError(error, text);
  const refusal = redisError(text);
  if (refusal.code === "redis_unauthorized" && named !== undefined)
    return new SluiceError(refusal.code, `${refusal.message}; the token is that of ${named}`);
  if (refusal.code !== "redis_error" || PERMANENT.test(text)) return refusal;
  return new Transient(`an HTTP error (${text})`);
}
