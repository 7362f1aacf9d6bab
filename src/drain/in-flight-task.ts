import type { LeasedTask } from "../kernel/lease/leased-task.ts";
import type { HandlerCallHooks } from "../kernel/hooks.ts";
import { isSuspect } from "../kernel/names/receipt.ts";
import type { Settled } from "../kernel/options/types.ts";
import type { Task } from "./types.ts";
import { StoppedError } from "./failures.ts";

/** The shortest time from one extend to the next, ms. */
const SHORTEST_PAUSE = 250;

/** Called with Redis's reply to an extend that was sent at `sentAt`. */
export type OnExtended<T> = (task: InFlightTask<T>, reply: Settled, sentAt: number) => void;

/** Sends an extend, as {@link Task.extend} does. */
export type ExtendTask = Task["extend"];

/**
 * Stops something once. Its signal is made when first read: many handlers need none, and making one is slow.
 */
class Stopper {
  #reason: StoppedError | undefined;
  #controller: AbortController | undefined;

  get isStopped(): boolean {
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

/**
 * A task as its handler sees it. A class, because V8 makes the getter of a literal among old objects: there it keeps
 * the task in memory until the next full garbage collection, and each small one copies all that it keeps.
 */
class HandlerTask<T> implements Task<T> {
  readonly id: string;
  readonly receipt: string;
  readonly payload: T;
  readonly attempt: number;
  readonly enqueuedAt: number;
  readonly headers: Task["headers"];
  readonly group: string | undefined;
  readonly extend: Task["extend"];
  readonly #stopper: Stopper;

  constructor(leased: LeasedTask<T>, stopper: Stopper, extend: Task["extend"]) {
    this.id = leased.id;
    this.receipt = leased.receipt;
    this.payload = leased.payload;
    this.attempt = leased.attempt;
    this.enqueuedAt = leased.enqueuedAt;
    this.headers = leased.headers;
    this.group = leased.group;
    this.extend = extend;
    this.#stopper = stopper;
  }

  get signal(): AbortSignal {
    return this.#stopper.signal;
  }
}

/** A leased task, until its handler has ended or its lease is lost. */
export class InFlightTask<T> {
  readonly leased: LeasedTask<T>;
  /** Whether a lease of the task expired before, perhaps because it killed its process. */
  readonly isSuspect: boolean;
  /** The task as its handler sees it. */
  readonly forHandler: Task<T>;
  /** True once the handler has ended, or the lease is lost. */
  isOver = false;
  /** When its handler began, on the clock of `performance.now()`. */
  beganAt: number | undefined;
  readonly #stopper = new Stopper();
  readonly #extendEvery: number;
  /** From the last extend to the next, ms. */
  #pause: number;
  #extendedAt: number;
  /** From the last extend to the end of the lease, ms. */
  #leasedFor: number;
  /** When Redis last confirmed the lease. */
  #confirmedAt = performance.now();

  /**
   * @param leasedAt when its dequeue was sent, or, after a long poll, answered; on the clock of
   *   `performance.now()`
   * @param extendEvery the longest time from one extend to the next, ms; a third of the lease if that is less
   * @param onExtended called after each extend that the handler itself sends
   * @param extendTask sends an extend of the handler. Default: as the task itself does
   */
  constructor(
    leased: LeasedTask<T>,
    leasedAt: number,
    extendEvery: number,
    onExtended: OnExtended<T>,
    extendTask: ExtendTask = (...args) => leased.extend(...args),
  ) {
    this.leased = leased;
    this.isSuspect = isSuspect(leased.receipt);
    this.#extendEvery = Math.max(SHORTEST_PAUSE, Math.min(extendEvery, leased.leasedFor / 3));
    // After a resent dequeue, less is left of the lease. If this clock is wrong, the first extend is only
    // earlier.
    const left = leased.deadlineAt - Date.now();
    this.#leasedFor = left > 0 ? Math.min(left, leased.leasedFor) : leased.leasedFor;
    const third = left > 0 ? left / 3 : this.#extendEvery;
    this.#pause = Math.max(SHORTEST_PAUSE, Math.min(this.#extendEvery, third));
    this.#extendedAt = leasedAt;
    this.forHandler = new HandlerTask(leased, this.#stopper, async (lease, options) => {
      const sentAt = performance.now();
      const reply = await extendTask(lease, options);
      onExtended(this, reply, sentAt);
      return reply;
    });
  }

  get isStopped(): boolean {
    return this.#stopper.isStopped;
  }

  stop(error: StoppedError): void {
    this.#stopper.stop(error);
  }

  /**
   * When to extend the lease at the latest. `early`: from when on to extend it with a request that goes out
   * anyway.
   */
  extendAt(early: boolean): number {
    return this.#extendedAt + (early ? this.#pause / 2 : this.#pause);
  }

  /**
   * The latest time to begin the task without extending its lease first. An earlier handler may have blocked
   * the event loop for so long that another consumer has the lease by now.
   */
  get beginBy(): number {
    return this.#confirmedAt + Math.max(this.#pause, this.leased.leasedFor / 2);
  }

  /**
   * When the task must be settled if its lease is not extended any more.
   * @param reserve the time that it takes to stop its handler and to settle it, ms; at most half of the lease
   */
  settleBy(reserve: number): number {
    return this.#extendedAt + this.#leasedFor - Math.min(reserve, this.#leasedFor / 2);
  }

  extended(sentAt: number): void {
    this.#leasedFor = this.leased.leasedFor;
    this.#extendedAt = Math.max(this.#extendedAt, sentAt);
    this.#confirmedAt = performance.now();
    this.#pause = this.#extendEvery;
  }
}

/**
 * One call of a handler, for one task or for all tasks of a dequeue. Times are on the clock of
 * `performance.now()`.
 */
export class HandlerCall<T> {
  readonly tasks: readonly InFlightTask<T>[];
  readonly beganAt: number;
  readonly timeoutAt: number;
  /** When it ended, or was given up. */
  endedAt: number | undefined;
  /** When the drain stops waiting for a stopped handler to end. */
  giveUpAt = Number.POSITIVE_INFINITY;
  /** Why the call as a whole is to stop. */
  stopped: StoppedError | undefined;
  hooks: HandlerCallHooks | undefined;
  readonly #stopper = new Stopper();

  constructor(tasks: readonly InFlightTask<T>[], timeout: number) {
    this.tasks = tasks;
    this.beganAt = performance.now();
    this.timeoutAt = this.beganAt + timeout;
    for (const task of tasks) task.beganAt = this.beganAt;
  }

  get signal(): AbortSignal {
    return this.#stopper.signal;
  }

  stop(error: StoppedError, giveUpAt: number): void {
    this.stopped ??= error;
    this.giveUpAt = Math.min(this.giveUpAt, giveUpAt);
    for (const task of this.tasks) task.stop(error);
    this.#stopper.stop(error);
  }

  /** The error of a call that did not end after it was stopped. */
  givenUp(now: number): StoppedError | undefined {
    return this.stopped && new StoppedError(this.stopped.code, now - this.beganAt);
  }
}
