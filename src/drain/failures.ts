import { milliseconds, type Duration } from "../kernel/options/duration.ts";
import { onlyOptions, trueOrFalse } from "../kernel/options/validation.ts";

/**
 * Thrown by a handler if another attempt would fail as well: the task becomes a dead letter at once. An error
 * of another library with the same `name` has the same effect.
 * @example throw new NonRetryableError("no such customer")
 */
export class NonRetryableError extends Error {
  override readonly name: string = "NonRetryableError";
}

/**
 * Thrown by a handler to set the delay before the next attempt, such as when a service that it calls asks for
 * a pause. An error of another library with the same `name`, a `delay`, `count` and perhaps `queue` has the same effect.
 * @example throw new RetryAfter("90s", { cause: "the mail service is closed", count: false })
 */
export class RetryAfter extends Error {
  override readonly name: string = "RetryAfter";
  /** The delay before the next attempt, ms. */
  readonly delay: number;
  /** Whether this attempt counts towards `maxAttempts`. */
  readonly count: boolean;
  /** Whether the queue is paused for the delay. */
  readonly queue: boolean;

  /**
   * @param delay before the next attempt, in ms or as "90s"
   * @param options.cause stored as the task's error. Default: this error
   * @param options.count false refunds the attempt. Default: true
   * @param options.queue true also pauses the queue for the delay, unless it is paused for longer, and ends the drain:
   *   for a service that refuses all requests. Default: false
   * @throws {SluiceError} `invalid_argument`
   */
  constructor(
    delay: Duration,
    options: {
      readonly cause?: unknown;
      readonly count?: boolean | undefined;
      readonly queue?: boolean | undefined;
    } = {},
  ) {
    onlyOptions(options, ["cause", "count", "queue"]);
    const ms = milliseconds(delay, "delay");
    super(`retry after ${ms} ms`, options.cause === undefined ? undefined : { cause: options.cause });
    this.delay = ms;
    this.count = trueOrFalse(options.count ?? true, "count");
    this.queue = trueOrFalse(options.queue ?? false, "queue");
  }
}

/** Why a handler is to stop. */
export type StopReason =
  /**
   * The task was cancelled. If its handler throws, the task ends as cancelled, also if it does not end within half a
   * second; if it returns, the task is completed.
   */
  | "cancelled"
  /** Another consumer may have the task by now. The outcome of this handler is dropped. */
  | "lease_lost"
  /** The handler took longer than its `timeout`. */
  | "timeout"
  /** The drain's budget is used up. */
  | "budget"
  /** Too few of the drain's `requests` are left to extend the lease. */
  | "requests"
  /** The drain's own signal aborted, as when a server closes and its grace is over. */
  | "aborted";

const MESSAGES: Readonly<Record<StopReason, string>> = {
  cancelled: "the task was cancelled",
  lease_lost: "the lease was lost; another consumer may work on the task",
  timeout: "the handler took longer than its timeout",
  budget: "the drain's budget ended before the handler did",
  requests: "too few requests were left to extend the lease until the handler ended",
  aborted: "the consumer was closed before the handler ended",
};

export const STOP_REASONS = Object.keys(MESSAGES) as readonly StopReason[];

/**
 * The `reason` of a task's signal. If the handler does not stop in time, it is also stored as the task's
 * error.
 */
export class StoppedError extends Error {
  override readonly name = "StoppedError";
  readonly code: StopReason;

  /** @param ranFor how long the handler ran until it was given up, ms. Default: it was not given up */
  constructor(code: StopReason, ranFor?: number) {
    super(MESSAGES[code] + (ranFor === undefined ? "" : `; given up after ${Math.round(ranFor)} ms`));
    this.code = code;
  }
}
