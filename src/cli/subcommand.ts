/** `process.env`. */
export type ProcessEnvironment = Readonly<Record<string, string | undefined>>;

/** One command of `sluice`. */
export interface Subcommand {
  /** One line for the list of commands. */
  readonly summary: string;
  /** The text of `--help`, with a newline at its end. */
  readonly usage: string;
  /**
   * Runs the command. A command that serves returns when its server is listening.
   * @throws {UsageError} for an unknown or invalid option
   */
  run(args: readonly string[], env: ProcessEnvironment): Promise<void>;
}

/** An error in the command line. The message says what is allowed. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}
