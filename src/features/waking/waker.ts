import { invalidArgument } from "../../errors.ts";
import { milliseconds, type Duration } from "../../kernel/options/duration.ts";
import type { AddPlainly, Taken } from "../../kernel/store.ts";
import { onlyOptions } from "../../kernel/options/validation.ts";
import { wakeFailed } from "../../log/lines.ts";
import { toConsole } from "../../log/logger.ts";

/**
 * Starts a consumer if none runs. The caller, such as an enqueue or a sweep, first makes sure that no other
 * wake is under way.
 */
export interface Waker {
  /**
   * Wakes a consumer of the queue. If it throws or rejects, `onError` gets the error, and the next sweep
   * wakes again.
   */
  readonly wake: (queue: string) => unknown;
  /**
   * Arranges a wake of the queue's consumer at an instant, when tasks will be due. Enqueues and requeues with
   * a delay call it, and each sweep. It may be called many times. Only the earliest instant of a queue
   * matters, and instants that later sweeps report in time may be ignored.
   * @param at epoch ms, by Redis's clock
   * @default none: the next sweep after that instant wakes the consumer
   */
  readonly wakeAt?: ((queue: string, at: number) => unknown) | undefined;
  /**
   * Arranges a sweep of the queue at an instant, when one of its schedules will be due: `sweep` with the
   * option `queue`, and with this waker. It may be called as often as {@link wakeAt}, for any queue.
   * @param at epoch ms, by Redis's clock
   * @default none: the next sweep after that instant enqueues the occurrence
   */
  readonly sweepAt?: ((queue: string, at: number) => unknown) | undefined;
  /**
   * Returns what hands new tasks to a consumer of the queue, if it is here and can begin them at once. Deployments set
   * it.
   * @param count how many tasks
   * @default every task waits in the queue until a consumer takes it
   */
  readonly handOver?: ((queue: string, count: number) => HandOver | undefined) | undefined;
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
  /** Called with the error if a wake, or its arrangement, fails. @default writes one line to the console */
  readonly onError?: ((error: unknown, queue: string) => void) | undefined;
}

const logWakeFailure = (error: unknown, queue: string): void => toConsole(wakeFailed(queue, error));

const WAKER_OPTIONS = [
  "wake",
  "wakeAt",
  "sweepAt",
  "handOver",
  "queues",
  "window",
  "waitUntil",
  "onError",
] as const satisfies readonly (keyof Waker)[];

/** A consumer that can begin at once with tasks that an enqueue has leased for it. */
export interface HandOver {
  /** Makes the call that adds plain tasks, and may lease them. */
  readonly addPlainly: AddPlainly;
  /** Starts the consumer with tasks that the call has leased. */
  readonly begin: (taken: Taken) => unknown;
}

/** A waker with checked options. */
export class CheckedWaker {
  readonly #window: string;
  /** As it was given. */
  readonly given: Waker;

  /** @throws {SluiceError} `invalid_argument` */
  constructor(waker: Waker) {
    if (typeof waker?.wake !== "function") {
      throw invalidArgument("wake", "must be a Waker, such as webhookWaker makes");
    }
    onlyOptions(waker, WAKER_OPTIONS, "wake.");
    this.given = waker;
    this.#window = String(milliseconds(waker.window ?? "5s", "wake.window", { min: 100, max: 3_600_000 }));
  }

  /**
   * How long a wake counts, ms, as the scripts take it; empty if the waker does not wake consumers of the
   * queue.
   */
  window(queue: string): string {
    return (this.given.queues?.(queue) ?? true) ? this.#window : "";
  }

  /** Whether it arranges wakes of the queue's consumer for instants to come. */
  looksAhead(queue: string): boolean {
    return this.given.wakeAt !== undefined && this.window(queue) !== "";
  }

  /** Wakes a consumer: at once, or with `waitUntil` after the response. Never throws. */
  wake(queue: string): Promise<void> {
    return this.call(queue, () => this.given.wake(queue));
  }

  /**
   * Arranges a wake, if the waker does so for the queue. Never throws.
   * @param at epoch ms, by Redis's clock; undefined if nothing is due later
   */
  async wakeAt(queue: string, at: number | undefined): Promise<void> {
    if (at === undefined || !this.looksAhead(queue)) return;
    await this.call(queue, () => this.given.wakeAt?.(queue, at));
  }

  /**
   * Arranges a sweep, if the waker does so. Never throws.
   * @param at epoch ms, by Redis's clock
   */
  async sweepAt(queue: string, at: number): Promise<void> {
    if (this.given.sweepAt) await this.call(queue, () => this.given.sweepAt?.(queue, at));
  }

  /** Calls the waker: at once, or with `waitUntil` after the response. Never throws. */
  async call(queue: string, call: () => unknown): Promise<void> {
    const { waitUntil, onError = logWakeFailure } = this.given;
    const called = Promise.resolve()
      .then(call)
      .catch((error: unknown) => onError(error, queue))
      .catch((error: unknown) => logWakeFailure(error, queue));
    try {
      if (waitUntil) return waitUntil(called);
    } catch (error) {
      // `waitUntil` may throw, for example without its `this`. The tasks are stored, so the enqueue must not
      // fail.
      logWakeFailure(error, queue);
    }
    await called;
  }
}
