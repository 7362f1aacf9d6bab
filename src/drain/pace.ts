import type { DrainRequests } from "./drain-requests.ts";
import type { HandlerPool } from "./handler-pool.ts";

/** Fewest and most tasks of one dequeue if the drain has no `batch`; the HTTP interface allows 100. */
const SMALLEST_BATCH = 10;
const LARGEST_BATCH = 100;
/** Over TCP, handlers are quick if they begin the tasks of two of the largest batches within this time, ms. */
const QUICK = 10;
/** Over TCP a dequeue asks for the tasks of one and a half round trips and of this time after it, ms. */
const SOON = 5;
/** A dequeue asks for the tasks of a round trip and of at most this time after it, ms. */
const MAX_PREFETCH = 50;

export interface PaceOptions {
  readonly concurrency: number;
  /** Most tasks of one dequeue; undefined: as many as the handlers are about to begin. */
  readonly batch: number | undefined;
  /** Whether one handler call takes all tasks of a dequeue. */
  readonly wholeBatches: boolean;
  /** Whether requests cost little: a dequeue then takes no more tasks than begin until its reply is there. */
  readonly connected: boolean;
}

type PacedHandlers = Pick<
  HandlerPool<never>,
  "isIdle" | "waitingCalls" | "freeHandlers" | "meanDuration" | "callsBegunWithin"
>;

type PacedRequests = Pick<DrainRequests<never>, "dequeues" | "roundTrip">;

/**
 * Decides when a drain dequeues, and how many tasks. The drain dequeues before its handlers run out of tasks,
 * so that none waits for a request. It takes no more tasks than that needs: another consumer could work on
 * those that wait here.
 */
export class Pace {
  readonly #options: PaceOptions;
  readonly #handlers: PacedHandlers;
  readonly #requests: PacedRequests;

  constructor(options: PaceOptions, handlers: PacedHandlers, requests: PacedRequests) {
    this.#options = options;
    this.#handlers = handlers;
    this.#requests = requests;
  }

  /** Whether two dequeues may be under way: Redis works on one while the tasks of the other one begin. */
  get isQuick(): boolean {
    const { batch, connected } = this.#options;
    return connected && !batch && this.#handlers.callsBegunWithin(QUICK) >= 2 * LARGEST_BATCH;
  }

  /** How many tasks handlers begin so soon that a drain over TCP holds them. */
  get #begunSoon(): number {
    return this.#handlers.callsBegunWithin(1.5 * this.#requests.roundTrip.mean + SOON);
  }

  /** Whether every waiting task will have begun when a dequeue is answered. */
  get runsOut(): boolean {
    const { concurrency, batch = LARGEST_BATCH, wholeBatches, connected } = this.#options;
    const { isIdle, waitingCalls } = this.#handlers;
    const { dequeues, roundTrip } = this.#requests;
    if (this.isQuick) return waitingCalls <= LARGEST_BATCH * (1 - dequeues);
    if (wholeBatches || isIdle || (concurrency === 1 && !connected)) return false;
    const meanwhile = this.#handlers.callsBegunWithin(roundTrip.mean);
    if (connected && waitingCalls > 2 * meanwhile) return false;
    return waitingCalls + 1 <= Math.min(connected ? this.#begunSoon : meanwhile, batch / 2);
  }

  /** How many tasks a dequeue asks for, if time allows. */
  get batch(): number {
    const { batch, connected } = this.#options;
    if (batch !== undefined) return batch;
    if (this.isQuick) return LARGEST_BATCH;
    const { freeHandlers, waitingCalls, meanDuration } = this.#handlers;
    if (connected) {
      return Math.max(1, Math.min(Math.floor(freeHandlers + this.#begunSoon) - waitingCalls, LARGEST_BATCH));
    }
    const ahead = this.#requests.roundTrip.mean + Math.min(meanDuration / 2, MAX_PREFETCH);
    const begin = this.#handlers.callsBegunWithin(ahead);
    return Math.max(SMALLEST_BATCH, Math.min(Math.ceil(freeHandlers + begin) - waitingCalls, LARGEST_BATCH));
  }
}
