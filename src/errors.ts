/**
 * Why an operation threw. Expected refusals (`lease_lost`, `not_found`, …) are values, not errors;
 * a {@link SluiceError} means a bug, bad input or a broken transport.
 */
export type SluiceErrorCode =
  /** An argument is of the wrong form; the message says which one and what is allowed. */
  | "invalid_argument"
  /**
   * An enqueue has the idempotency key of an earlier one, but other tasks. Nothing was written. Use a new key for new
   * tasks.
   */
  | "idempotency_key_reused"
  /** A payload, result or request is larger than the limit that the message names. */
  | "too_large"
  /**
   * The queue has as many pending tasks as its `maxPending` allows; or Redis is full, or the queue's record has
   * reached the size Upstash allows. An enqueue has written nothing; another call can be sent again as it was.
   */
  | "queue_full"
  /**
   * A value is encrypted and cannot be decrypted: its key is not known, it was altered, or it belongs to another task or
   * queue; or it is not encrypted where it has to be. The message names the key.
   */
  | "undecryptable"
  /** A record was written by a newer release of Sluice. Deploy that release here too. Nothing was written. */
  | "newer_schema"
  /** The transport, or the server, cannot do what was asked: a transport of one's own need not be able to subscribe. */
  | "unsupported"
  /** A feature needs a package that is not installed. The message names the package and the command that installs it. */
  | "not_installed"
  /** The server of the HTTP interface does not know the client's token, or the token does not allow the call. */
  | "unauthorized"
  /** Redis refused the credentials, or they do not allow the command. */
  | "redis_unauthorized"
  /** The Redis account has used up its quota of requests. */
  | "redis_quota"
  /** Redis could not be reached, or gave no useful answer, until the deadline. */
  | "redis_unreachable"
  /** The server of the HTTP interface could not be reached, or gave no useful answer, until the client's deadline. */
  | "unreachable"
  /** The caller's signal aborted the request. It may or may not have taken effect. */
  | "aborted"
  /** Redis answered a command with an error that is none of the above. */
  | "redis_error"
  /** Redis, or the server in front of it, answered with something that is no reply to what was sent. */
  | "unexpected_reply";

/** The one exception type of the project. It never carries a payload, a result or a token. */
export class SluiceError extends Error {
  override readonly name = "SluiceError";
  readonly code: SluiceErrorCode;
  /** Where the fault is in the caller's input, such as `tasks[3].delay`; absent where it is not input. */
  readonly path: string | undefined;

  constructor(code: SluiceErrorCode, message: string, path?: string) {
    super(message);
    this.code = code;
    this.path = path;
  }
}

/** @param problem what is wrong with the input at the path, and what is allowed */
export function invalidArgument(path: string, problem: string): SluiceError {
  return new SluiceError("invalid_argument", `${path} ${problem}`, path);
}

/** What an error says, whatever was thrown. */
export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}
