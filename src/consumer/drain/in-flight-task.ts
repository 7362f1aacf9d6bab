import type { LeasedTask } from "../../queue/tasks/leased-task.ts";
import type { Settled } from "../../queue/core/types.ts";
import type { Task } from "./types.ts";
import { StoppedError } from "./failures.ts";

/** The shortest time from one extend to the next, ms. */
const OFTEN = 250;

/** Told what Redis answered to an extend that was sent at that time. */
export type Hearing<T> = (held: InFlightTask<T>, answer: Settled, sentAt: number) => void;

/** Stops something once. Its signal is made when it is first asked for: many handlers do not, and it is dear. */
class Stopper {
  #reason: StoppedError | undefined;
  #controller: AbortController | undefined;

  get stopped(): boolean {
    return this.#reason !== undefined;
  }

  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController();
      if (this.#reason) this.#controller.abort(this.#reason);
    }
    return this.#controller.signal;
  }

  stop(error: StoppedError): void {
    this.#reason ??= error;
    this.#controller?.abort(this.#reason);
  }
}

/** A task that is leased, until its work is over or its lease is lost. */
export class InFlightTask<T> {
  readonly task: LeasedTask<T>;
  /** What a handler sees of it. */
  readonly shown: Task<T>;
  /** True when nothing that is heard of the lease matters any more. */
  over = false;
  readonly #stopper = new Stopper();
  readonly #extendEvery: number;
  /** From the last extend to the next, ms. */
  #pause: number;
  #extendedAt: number;
  /** When that was heard of. */
  #heardAt = performance.now();

  /**
   * @param leasedAt not later than when it was leased, on the clock of `performance.now()`
   * @param extendEvery the longest time from one extend to the next, ms; a third of the lease if that is less
   */
  constructor(task: LeasedTask<T>, leasedAt: number, extendEvery: number, hear: Hearing<T>) {
    this.task = task;
    this.#extendEvery = Math.max(OFTEN, Math.min(extendEvery, task.leasedFor / 3));
    // Less is left of a lease whose pull had to be sent again. A clock that is wrong at most makes it earlier.
    const left = task.deadlineAt - Date.now();
    this.#pause = Math.max(OFTEN, Math.min(this.#extendEvery, left > 0 ? left / 3 : this.#extendEvery));
    this.#extendedAt = leasedAt;
    const { id, receipt, payload, attempt, enqueuedAt, headers, group } = task;
    const stopper = this.#stopper;
    const extend: Task<T>["extend"] = async (lease, options) => {
      const sentAt = performance.now();
      const answer = await task.extend(lease, options);
      hear(this, answer, sentAt);
      return answer;
    };
    this.shown = {
      id,
      receipt,
      payload,
      attempt,
      enqueuedAt,
      headers,
      group,
      get signal() {
        return stopper.signal;
      },
      extend,
    };
  }

  get stopped(): boolean {
    return this.#stopper.stopped;
  }

  stop(error: StoppedError): void {
    this.#stopper.stop(error);
  }

  /** When to extend the lease, at the latest; earlier, with a request that goes out anyway. */
  renewAt(early: boolean): number {
    return this.#extendedAt + (early ? this.#pause / 2 : this.#pause);
  }

  /**
   * Until when it may be begun, unless the lease is extended first: a handler before it may have blocked the event loop
   * for so long that the lease is another's by now.
   */
  get beginBy(): number {
    return this.#heardAt + Math.max(this.#pause, this.task.leasedFor / 2);
  }

  extended(sentAt: number): void {
    this.#extendedAt = Math.max(this.#extendedAt, sentAt);
    this.#heardAt = performance.now();
    this.#pause = this.#extendEvery;
  }
}

/** One call of a handler, for one task or for all of a pull. */
export class HandlerCall<T> {
  readonly held: readonly InFlightTask<T>[];
  /** On the clock of `performance.now()`, like all its times. */
  readonly beganAt: number;
  /** When the handler has had its timeout. */
  readonly timeoutAt: number;
  /** When it is given up, where it is to stop. */
  cutOffAt = Number.POSITIVE_INFINITY;
  /** Why it is to stop as a whole. */
  stopped: StoppedError | undefined;
  readonly #stopper = new Stopper();

  constructor(held: readonly InFlightTask<T>[], timeout: number) {
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
    this.#stopper.stop(error);
  }

  /** Stops as a whole where each of its tasks is stopped. */
  heed(error: StoppedError): void {
    if (this.held.every(({ stopped }) => stopped)) this.#stopper.stop(error);
  }
}
