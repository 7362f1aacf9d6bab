import { SluiceError } from "../../errors.ts";
import type { ProblemCode } from "./codes.ts";

/** A failure of this server or of Redis, not of the caller. */
export interface LoggedError {
  /** The `instance` in the response. */
  readonly instance: string;
  readonly code: ProblemCode;
  readonly method: string;
  /** Such as `/v1/queues/:queue/tasks`. */
  readonly route: string | undefined;
  readonly error: unknown;
}

/**
 * Logs a failure as one line of JSON. An error that is not a {@link SluiceError} is logged by its name and
 * frames, because its message may quote a payload.
 */
export function logError({ error, ...rest }: LoggedError): void {
  const line = { ...rest, error: name(error), message: message(error), frames: frames(error) };
  console.error(JSON.stringify(line));
}

const name = (error: unknown) => (error instanceof Error ? error.name : typeof error);
const message = (error: unknown) => (error instanceof SluiceError ? error.message : undefined);

function frames(error: unknown): string[] | undefined {
  if (!(error instanceof Error) || error instanceof SluiceError) return undefined;
  return error.stack
    ?.split("\n")
    .filter((line) => /^\s+at /.test(line))
    .slice(0, 8);
}
