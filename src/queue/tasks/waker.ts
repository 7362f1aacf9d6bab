import { invalidArgument, messageOf } from "../../errors.ts";
import { milliseconds, type Duration } from "../core/duration.ts";
import { onlyOptions } from "../core/validation.ts";

/**
 * Starts a consumer if none runs. The caller, an enqueue or a sweep, first makes sure that no other wake is
 * under way.
 */
export interface Waker {
  /**
   * Wakes a consumer of the queue. If it throws or rejects, `onError` gets the error, and the next sweep
   * wakes again.
   */
  readonly wake: (queue: string) => unknown;
  /** Whether it wakes consumers of the queue. @default all queues */
  readonly queues?: ((queue: string) => boolean) | undefined;
  /**
   * How long a wake counts: no other wake is sent until then, unless a consumer finds the queue empty. A
   * consumer that took tasks counts as awake for the same time after that dequeue. 100 ms to 1 h.
   * @default "5s"
   */
  readonly window?: Duration | undefined;
  /**
   * Keeps a promise running after the response, as `ctx.waitUntil`.
   * @default none: the enqueue waits for the wake
   */
  readonly waitUntil?: ((promise: Promise<unknown>) => void) | undefined;
  /** Called with the error if a wake fails. @default writes one line to the console */
  readonly onError?: ((error: unknown, queue: string) => void) | undefined;
}

/** Writes one line to the console for a failure in the background. */
export const toConsole =
  (what: "drain" | "wake") =>
  (error: unknown, queue: string): void => {
    console.error(JSON.stringify({ [what]: queue, failed: messageOf(error) }));
  };

const logFailure = toConsole("wake");

/** A waker with checked options. */
export class CheckedWaker {
  readonly #window: string;
  readonly #waker: Waker;

  /** @throws {SluiceError} `invalid_argument` */
  constructor(waker: Waker) {
    if (typeof waker?.wake !== "function") {
      throw invalidArgument("wake", "must be a Waker, such as webhookWaker makes");
    }
    onlyOptions(waker, ["wake", "queues", "window", "waitUntil", "onError"], "wake.");
    this.#waker = waker;
    this.#window = String(milliseconds(waker.window ?? "5s", "wake.window", { min: 100, max: 3_600_000 }));
  }

  /**
   * How long a wake counts, ms, as the scripts take it; empty if the waker does not wake consumers of the
   * queue.
   */
  window(queue: string): string {
    return (this.#waker.queues?.(queue) ?? true) ? this.#window : "";
  }

  /** Wakes a consumer: at once, or with `waitUntil` after the response. Never throws. */
  async wake(queue: string): Promise<void> {
    const { wake, waitUntil, onError = logFailure } = this.#waker;
    const woken = Promise.resolve()
      .then(() => wake(queue))
      .catch((error: unknown) => onError(error, queue))
      .catch((error: unknown) => logFailure(error, queue));
    try {
      if (waitUntil) return waitUntil(woken);
    } catch (error) {
      // `waitUntil` may throw, for example without its `this`. The tasks are stored, so the enqueue must not
      // fail.
      logFailure(error, queue);
    }
    await woken;
  }
}
