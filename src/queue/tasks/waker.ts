import { invalidArgument, messageOf } from "../../errors.ts";
import { milliseconds, type Duration } from "../core/duration.ts";
import { onlyOptions } from "../core/validation.ts";

/** Starts a consumer where none runs. What calls it, enqueue or sweep, has first made sure that nobody else does. */
export interface Waker {
  /**
   * Wakes a consumer of the queue. A rejection is not the caller's: it goes to `onError`, and the next sweep wakes again.
   */
  readonly wake: (queue: string) => unknown;
  /** Which queues have a consumer that it wakes. @default all */
  readonly queues?: ((queue: string) => boolean) | undefined;
  /**
   * For how long a wake counts that nothing was heard of, and someone who took tasks and did not come back: until then
   * none other is sent. A consumer that finds the queue empty ends it at once. 100 ms to 1 h. @default "5s"
   */
  readonly window?: Duration | undefined;
  /**
   * Where the platform lets work go on after the response. @default none: the call waits for the wake
   */
  readonly waitUntil?: ((promise: Promise<unknown>) => void) | undefined;
  /** Told why a wake failed. @default one line on the console */
  readonly onError?: ((error: unknown, queue: string) => void) | undefined;
}

/** One line on the console for each failure of which nobody waits to hear. */
export const toConsole =
  (what: "drain" | "wake") =>
  (error: unknown, queue: string): void => {
    console.error(JSON.stringify({ [what]: queue, failed: messageOf(error) }));
  };

const tellFailure = toConsole("wake");

/** A waker as the queue uses it, checked. */
export class CheckedWaker {
  readonly #window: string;
  readonly #waker: Waker;

  /** @throws {SluiceError} `invalid_argument` */
  constructor(waker: Waker) {
    if (typeof waker?.wake !== "function") {
      throw invalidArgument("wake", "must be a Waker: webhookWaker makes one");
    }
    onlyOptions(waker, ["wake", "queues", "window", "waitUntil", "onError"], "wake.");
    this.#waker = waker;
    this.#window = String(milliseconds(waker.window ?? "5s", "wake.window", { min: 100, max: 3_600_000 }));
  }

  /** What the scripts are told of a queue: how long a wake counts, ms; empty where it has nobody to wake. */
  window(queue: string): string {
    return (this.#waker.queues?.(queue) ?? true) ? this.#window : "";
  }

  /** Wakes: at once, or, where the platform can, after the response. Never throws. */
  async wake(queue: string): Promise<void> {
    const { wake, waitUntil, onError = tellFailure } = this.#waker;
    const woken = Promise.resolve()
      .then(() => wake(queue))
      .catch((error: unknown) => onError(error, queue))
      .catch((error: unknown) => tellFailure(error, queue));
    try {
      if (waitUntil) return waitUntil(woken);
    } catch (error) {
      // Such as one without its `this`. The tasks stand: what called must not fail for it.
      tellFailure(error, queue);
    }
    await woken;
  }
}
