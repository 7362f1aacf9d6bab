import { milliseconds, type Duration } from "../../queue/core/duration.ts";
import { onlyOptions, trueOrFalse } from "../../queue/core/validation.ts";

/**
 * What a handler throws where another attempt would fail as well: the task becomes a dead letter at once. It is known by
 * its name too, so one of another copy of this package, or of another library, will do.
 * @example throw new NonRetryableError("no such customer")
 */
export class NonRetryableError extends Error {
  override readonly name: string = "NonRetryableError";
}

/**
 * What a handler throws to say when the next attempt is worth it, such as when a service that it calls asks for a pause.
 * Known by its name too.
 * @example throw new RetryAfter("90s", { cause: "the mail service is closed", count: false })
 */
export class RetryAfter extends Error {
  override readonly name: string = "RetryAfter";
  /** Before the next attempt, ms. */
  readonly delay: number;
  /** Whether this attempt counts towards `maxAttempts`. */
  readonly count: boolean;

  /**
   * @param delay before the next attempt
   * @param options.cause what is kept as the task's error. @default this error
   * @param options.count false refunds the attempt. @default true
   * @throws {SluiceError} `invalid_argument`
   */
  constructor(
    delay: Duration,
    options: { readonly cause?: unknown; readonly count?: boolean | undefined } = {},
  ) {
    onlyOptions(options, ["cause", "count"]);
    const ms = milliseconds(delay, "delay");
    super(
      `to be tried again in ${ms} ms`,
      options.cause === undefined ? undefined : { cause: options.cause },
    );
    this.delay = ms;
    this.count = trueOrFalse(options.count ?? true, "count");
  }
}

/** Why a task's work is to stop. */
export type StopReason =
  /** The task was cancelled. What its handler throws ends it; what it returns completes it all the same. */
  | "cancelled"
  /** Another may have the task by now: nothing that the handler does with it counts any more. */
  | "lease_lost"
  /** The handler has had its `timeout`. */
  | "timeout"
  /** The drain's budget is used up. */
  | "budget"
  /** The drain's own signal aborted. */
  | "aborted";

const MESSAGES: Readonly<Record<StopReason, string>> = {
  cancelled: "the task was cancelled",
  lease_lost: "the lease was lost: another may work on the task",
  timeout: "the handler took longer than its timeout",
  budget: "the drain's budget ended before the handler did",
  aborted: "the drain was aborted before the handler ended",
};

/** The `reason` of a held task's signal, and the error of a task whose handler was still at work shortly after. */
export class StoppedError extends Error {
  override readonly name = "StoppedError";
  readonly code: StopReason;

  constructor(code: StopReason) {
    super(MESSAGES[code]);
    this.code = code;
  }
}
