/** One command of `sluice`. */
export interface Subcommand {
  /** One line for the list of commands. */
  readonly summary: string;
  /** The text of `--help`, with a newline at its end. */
  readonly usage: string;
  /**
   * Runs until the command is done; one that serves returns once it serves.
   * @throws {UsageError} for options that it does not know or cannot use
   */
  run(args: readonly string[], env: Readonly<Record<string, string | undefined>>): Promise<void>;
}

/** The command line is wrong. The message says what is allowed. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}
