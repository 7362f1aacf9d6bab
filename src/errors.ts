/**
 * Why an operation threw. Expected refusals (`lease_lost`, `not_found`, …) are values, not errors. A
 * {@link SluiceError} means a bug, invalid input or a broken transport.
 */
export type SluiceErrorCode =
  /** An argument is invalid. The message says which one, and what is allowed. */
  | "invalid_argument"
  /**
   * An earlier enqueue with the same idempotency key had other tasks. Nothing was written. Use a new key for
   * new tasks.
   */
  | "idempotency_key_reused"
  /** A payload, result or request is larger than the limit that the message names. */
  | "too_large"
  /**
   * More tasks would be pending than the queue's `maxPending` allows; or Redis is full; or a key of the queue
   * has reached the size that Upstash allows. An enqueue has written nothing. Any other call can be repeated.
   */
  | "queue_full"
  /**
   * A value cannot be decrypted: its key is unknown, it was altered, or it belongs to another task or queue.
   * Or a value is not encrypted, but must be. The message names the key, if the value has one.
   */
  | "undecryptable"
  /**
   * A payload could not be written to the object store or read from it; or its object is missing or damaged; or
   * the queue has no `offload`. An enqueue has written no task.
   */
  | "offload_failed"
  /**
   * A newer release of Sluice wrote a record: deploy that release here too. Or the queue has tasks that depend on each
   * other: give it `linked(transport)` of `sluice-queue/linked`, and a deployment or an app the option `order`,
   * or `flows`. Nothing was written.
   */
  | "newer_schema"
  /**
   * The transport or the server does not support the call. For example, a custom transport may not subscribe.
   */
  | "unsupported"
  /**
   * A feature needs a package that is not installed. The message names the package and the command that
   * installs it.
   */
  | "not_installed"
  /**
   * The server of the HTTP interface does not know the client's token, or the token does not allow the call.
   */
  | "unauthorized"
  /** Redis refused the credentials, or they do not allow the command. */
  | "redis_unauthorized"
  /** The Redis account has used up its quota of requests. */
  | "redis_quota"
  /**
   * Redis could not be reached, or returned no useful reply, until the deadline. The call may have taken
   * effect.
   */
  | "redis_unreachable"
  /**
   * The server of the HTTP interface could not be reached, or returned no useful reply, until the client's
   * deadline. The call may have taken effect.
   */
  | "unreachable"
  /** The caller's signal aborted the request. The message says whether it may have taken effect. */
  | "aborted"
  /** Redis replied with an error that has no code of its own. */
  | "redis_error"
  /** Redis, or the server in front of it, sent an invalid reply. */
  | "unexpected_reply";

/** One reason why a payload does not match its schema, in the words of the schema, which may quote the payload. */
export interface PayloadIssue {
  /** Such as `to.address`; empty for the payload as a whole. */
  readonly path: string;
  readonly message: string;
}

/**
 * The error of every call that throws. It never holds a token, a result or a payload, except what a schema
 * quotes of a payload that it refuses.
 * @example
 * try {
 *   await emails.enqueue(payload);
 * } catch (error) {
 *   if (error instanceof SluiceError && error.code === "queue_full") return tryLater();
 *   throw error;
 * }
 */
export class SluiceError extends Error {
  override readonly name = "SluiceError";
  readonly code: SluiceErrorCode;
  /** The invalid part of the caller's input, such as `tasks[3].delay`; undefined for other errors. */
  readonly path: string | undefined;
  /** Why a payload does not match the schema of the queue, at most ten reasons; undefined for other errors. */
  readonly issues: readonly PayloadIssue[] | undefined;

  constructor(code: SluiceErrorCode, message: string, path?: string, issues?: readonly PayloadIssue[]) {
    super(message);
    this.code = code;
    this.path = path;
    this.issues = issues;
  }
}

/**
 * An `invalid_argument` error. Its message is the path and the problem.
 * @param path of the input, such as `tasks[3].delay`
 * @param problem what is allowed, such as "must be true or false"
 */
export function invalidArgument(path: string, problem: string): SluiceError {
  return new SluiceError("invalid_argument", `${path} ${problem}`, path);
}

/**
 * The error of a call that its caller's signal has aborted.
 * @param sent whether a request of it was sent, so that it may have taken effect
 */
export function abortedBySignal(sent: boolean): SluiceError {
  const effect = sent ? "it may have taken effect" : "it was not sent";
  return new SluiceError("aborted", `the request was aborted by its signal; ${effect}`);
}

/**
 * Runs a check of a part of the input. The path of its error, and its message, then begin with that of the part.
 * @param at such as `consumers[0].`
 */
export function checkedAt<R>(at: string, check: () => R): R {
  try {
    return check();
  } catch (error) {
    throw errorAt(at, error);
  }
}

/** The error of a part of the input. Its path and message begin with that of the part. */
export function errorAt(at: string, error: unknown): unknown {
  if (!(error instanceof SluiceError)) return error;
  return new SluiceError(error.code, at + error.message, at + (error.path ?? ""), error.issues);
}

/**
 * The error for a record of a newer release.
 * @param what names the record, such as "the task with this id"
 */
export function newerSchema(what: string): SluiceError {
  return new SluiceError(
    "newer_schema",
    `${what} needs linked(transport), the option flows or order, or a newer release`,
  );
}

/** The message of an error, or of any other value that was thrown. Never throws. */
export function messageOf(thrown: unknown): string {
  try {
    return String(thrown instanceof Error ? thrown.message : thrown);
  } catch {
    return "an error that cannot be read";
  }
}
