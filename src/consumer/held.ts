import type { LeasedTask } from "../queue/leased-task.ts";
import type { Settled } from "../queue/types.ts";
import type { HeldTask } from "./drain.ts";
import { StoppedError } from "./failures.ts";

/**
 * From one extend to the next, ms: a third of the lease, within these bounds. The upper one is also how late a cancel
 * is seen.
 */
const OFTEN = 250;
const SELDOM = 5_000;
/** Where the clocks of this function and of Redis disagree so much that they tell nothing of the lease. */
const UNKNOWN = 1_000;

/** Told what Redis answered to an extend that was sent at that time. */
export type Hearing<T> = (held: Held<T>, answer: Settled, sentAt: number) => void;

/** A task that is leased, until its work is over or its lease is lost. */
export class Held<T> {
  readonly task: LeasedTask<T>;
  /** What a handler sees of it. */
  readonly shown: HeldTask<T>;
  /** True when nothing that is heard of the lease matters any more. */
  over = false;
  readonly #stopper = new AbortController();
  readonly #mostPause: number;
  #pause: number;
  #extendedAt: number;

  /**
   * @param leasedAt not later than when it was leased, on the clock of `performance.now()`
   * @param lease of tasks that fixed none, ms
   */
  constructor(task: LeasedTask<T>, leasedAt: number, lease: number | undefined, hear: Hearing<T>) {
    this.task = task;
    this.#mostPause = Math.min(SELDOM, (lease ?? Number.POSITIVE_INFINITY) / 3);
    this.#pause = this.#pauseUntil(task.deadlineAt);
    this.#extendedAt = leasedAt;
    const { id, receipt, payload, attempt, enqueuedAt, headers, group } = task;
    const { signal } = this.#stopper;
    const extend: HeldTask<T>["extend"] = async (lease, options) => {
      const sentAt = performance.now();
      const answer = await task.extend(lease, options);
      hear(this, answer, sentAt);
      return answer;
    };
    this.shown = { id, receipt, payload, attempt, enqueuedAt, headers, group, signal, extend };
  }

  get stopped(): boolean {
    return this.#stopper.signal.aborted;
  }

  stop(error: StoppedError): void {
    this.#stopper.abort(error);
  }

  /** When to extend the lease, at the latest; earlier, with a request that goes out anyway. */
  renewAt(early: boolean): number {
    return this.#extendedAt + (early ? this.#pause / 2 : this.#pause);
  }

  extended(sentAt: number, deadlineAt: number): void {
    this.#extendedAt = Math.max(this.#extendedAt, sentAt);
    this.#pause = this.#pauseUntil(deadlineAt);
  }

  // The only use of this function's clock; where it is wrong, extends are too many, or, of leases under 15 s, too few.
  #pauseUntil(deadlineAt: number): number {
    const left = deadlineAt - Date.now();
    return Math.max(OFTEN, Math.min(this.#mostPause, left > 0 ? left / 3 : UNKNOWN));
  }
}

/** One call of a handler, for one task or for all of a pull. */
export class Call<T> {
  readonly held: readonly Held<T>[];
  /** On the clock of `performance.now()`, like all its times. */
  readonly beganAt: number;
  /** When the handler has had its timeout. */
  readonly timeoutAt: number;
  /** When it is given up, where it is to stop. */
  cutOffAt = Number.POSITIVE_INFINITY;
  /** Why it is to stop as a whole. */
  stopped: StoppedError | undefined;
  readonly #stopper = new AbortController();

  constructor(held: readonly Held<T>[], timeout: number) {
    this.held = held;
    this.beganAt = performance.now();
    this.timeoutAt = this.beganAt + timeout;
  }

  get signal(): AbortSignal {
    return this.#stopper.signal;
  }

  stop(error: StoppedError, cutOffAt: number): void {
    this.stopped ??= error;
    this.cutOffAt = Math.min(this.cutOffAt, cutOffAt);
    for (const held of this.held) held.stop(error);
    this.#stopper.abort(error);
  }

  /** Stops as a whole where each of its tasks is stopped. */
  heed(error: StoppedError): void {
    if (this.held.every(({ stopped }) => stopped)) this.#stopper.abort(error);
  }
}
