import { SluiceError } from "../errors.ts";
import type { Batch } from "../kernel/lease/leased-task.ts";
import type { DequeueOptions, Settled } from "../kernel/options/types.ts";
import { DurationEstimator } from "./duration-estimator.ts";
import type { InFlightTask } from "./in-flight-task.ts";
import { type OutgoingSettlement, SettlementBuffer } from "./settlement-buffer.ts";
import type { RequestShare } from "./request-share.ts";
import type { TaskSource } from "./source.ts";

/** From a failed request to the next one, ms. */
const RETRY_PAUSE = 1_000;
/** The time that each request gets at least, ms, even if the budget is over. */
const MIN_REQUEST_TIME = 1_000;
/** The time to read a reply that arrived while a handler blocked the event loop, ms. */
const READ_TIME = 200;

const TOO_LATE =
  "Redis did not answer before the drain's budget ended; " +
  "tasks that were not settled are delivered again when their leases expire";

/** What one dequeue of a drain asks for; `wait` in ms. */
export type DequeueRequest = Pick<DequeueOptions, "max" | "lease" | "worker" | "token"> & {
  readonly wait?: number | undefined;
};

/** Called with the reply to each settlement and extend. */
export type OnSettled<T> = (settlement: OutgoingSettlement<T>, reply: Settled, sentAt: number) => void;

/**
 * A drain's requests: one that dequeues, and settles finished tasks, over TCP perhaps two; and, while they wait for
 * tasks or are slow, one that only settles. All times are on the clock of
 * `performance.now()`.
 */
export class DrainRequests<T> {
  /** The settlements to send. */
  readonly buffer = new SettlementBuffer<T>();
  readonly roundTrip = new DurationEstimator();
  /** How many dequeues are under way. */
  dequeues = 0;
  /** Whether the dequeue waits for tasks. */
  isPolling = false;
  /** How many requests are under way that only settle: at most one. */
  settles = 0;
  /** The failure of the first request that failed. */
  failure: { readonly error: unknown } | undefined;
  /** When to try again after a failure. */
  retryAt = 0;
  /** True if the last try failed too. */
  hasGivenUp = false;
  /** A long poll that was cut short. It may have leased tasks: the same dequeue, sent again, returns them. */
  interruptedPoll: DequeueRequest | undefined;
  readonly #source: TaskSource<T>;
  readonly #end: number;
  readonly #onSettled: OnSettled<T>;
  readonly #share: RequestShare | undefined;
  readonly #polls = new AbortController();
  #otherRequests = new AbortController();
  #sentAt = 0;
  #abortAt: number | undefined;

  /** @param end when the drain must be over */
  constructor(source: TaskSource<T>, end: number, onSettled: OnSettled<T>, share: RequestShare | undefined) {
    this.#source = source;
    this.#end = end;
    this.#onSettled = onSettled;
    this.#share = share;
  }

  get isIdle(): boolean {
    return this.dequeues + this.settles === 0;
  }

  /** Cuts a long poll short, and allows no other. */
  stopPolling(): void {
    this.#polls.abort();
  }

  /** Aborts pending requests when the budget is over. */
  enforceEnd(isDue: (at: number) => boolean): void {
    if (this.isIdle) return;
    if (this.#abortAt === undefined) {
      if (!isDue(Math.max(this.#end, this.#sentAt + MIN_REQUEST_TIME) - READ_TIME)) return;
      this.#abortAt = performance.now() + READ_TIME;
    }
    if (isDue(this.#abortAt)) {
      this.#abortAt = Number.POSITIVE_INFINITY;
      this.#otherRequests.abort();
      this.#otherRequests = new AbortController();
    }
  }

  /**
   * Extends leases, settles what the buffer holds, and dequeues if asked to. Does not throw: see `failure`.
   * @param isLast whether this is the last try after a failure
   * @param onTasks called with the dequeued tasks, and when the dequeue was sent; after a long poll, when it
   *   was answered
   */
  async send(
    tasksToExtend: readonly InFlightTask<T>[],
    dequeue: DequeueRequest | undefined,
    isLast: boolean,
    onTasks: (tasks: Batch<T>, leasedAt: number) => void,
  ): Promise<void> {
    const settlements = this.buffer.take(tasksToExtend);
    const polls = dequeue?.wait !== undefined;
    const sentAt = performance.now();
    this.#sentAt = sentAt;
    this.#abortAt = undefined;
    if (dequeue) this.interruptedPoll = undefined;
    const pending = dequeue ? "dequeues" : "settles";
    this[pending]++;
    if (dequeue) this.isPolling = polls;
    const { signal } = polls ? this.#polls : this.#otherRequests;
    const reply = await this.#exchange(settlements, dequeue, signal).catch((error: unknown) => {
      this.buffer.putBack(settlements);
      const isRefused = this.#share?.isRefusal(error) === true;
      const wasCut = isRefused || this.#polls.signal.aborted;
      if (polls && wasCut) this.interruptedPoll = { ...dequeue, wait: undefined };
      else if (!isRefused) this.#fail(error, isLast);
    });
    this[pending]--;
    if (dequeue) this.isPolling = false;
    if (!reply) return;
    const answeredAt = performance.now();
    if (!polls) this.roundTrip.add(answeredAt - sentAt);
    if (reply.tasks) onTasks(reply.tasks, polls ? answeredAt : sentAt);
    for (const [i, one] of settlements.entries()) this.#onSettled(one, reply.settled[i] as Settled, sentAt);
  }

  async #exchange(
    outgoing: readonly OutgoingSettlement<T>[],
    dequeue: DequeueRequest | undefined,
    signal: AbortSignal,
  ): Promise<{ settled: Settled[]; tasks?: Batch<T> }> {
    const settlements = outgoing.map(({ settlement }) => settlement);
    if (!dequeue) return { settled: await this.#source.settle(settlements, { signal }) };
    return settlements.length > 0
      ? this.#source.settleAndDequeue(settlements, { ...dequeue, signal })
      : { settled: [], tasks: await this.#source.dequeue({ ...dequeue, signal }) };
  }

  #fail(error: unknown, isLast: boolean): void {
    const now = performance.now();
    const isLate = error instanceof SluiceError && error.code === "aborted";
    this.failure ??= { error: isLate ? new SluiceError("redis_unreachable", TOO_LATE) : error };
    this.retryAt = now + RETRY_PAUSE;
    this.hasGivenUp ||= isLast || now >= this.#end;
  }
}
