import { SluiceError } from "../errors.ts";

/** The exit codes of `sluice`. */
export const EXIT = {
  /** The operation failed, or part of it was refused. */
  failed: 1,
  /** The command line is wrong. */
  usage: 2,
  /** The server or the database cannot be reached, or refuses the credentials. */
  unreachable: 3,
  /** Ctrl-C. */
  interrupted: 130,
} as const;

/** An error in the command line. The message says what is allowed. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** A refusal that the message explains, such as a task that is not found. */
export class Refusal extends Error {
  override readonly name = "Refusal";
}

const UNREACHABLE: ReadonlySet<string> = new Set([
  "unreachable",
  "unauthorized",
  "redis_unreachable",
  "redis_unauthorized",
  "redis_quota",
]);

/** The exit code for an error that ended a command. */
export function exitCodeOf(error: unknown): number {
  if (error instanceof UsageError) return EXIT.usage;
  if (!(error instanceof SluiceError)) return EXIT.failed;
  if (error.code === "aborted") return EXIT.interrupted;
  if (error.code === "invalid_argument") return EXIT.usage;
  return UNREACHABLE.has(error.code) ? EXIT.unreachable : EXIT.failed;
}
