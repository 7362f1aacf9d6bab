import type { DurationEstimator } from "./duration-estimator.ts";
import type { HandlerPool } from "./handler-pool.ts";

/** What a pull asks for at least, and at most, where a drain is not told its `batch`; the HTTP interface takes 100. */
const LEAST = 10;
const MOST = 100;
/** The longest that a pull asks ahead for, beside a round trip, ms. */
const AHEAD = 50;

export interface PaceOptions {
  readonly concurrency: number;
  /** Most tasks of one pull; undefined: as many as the handlers are about to begin. */
  readonly batch: number | undefined;
  /** Whether one call takes all tasks of a pull. */
  readonly together: boolean;
}

type PacedHandlers = Pick<HandlerPool<never>, "idle" | "waiting" | "vacant" | "mean" | "beginWithin">;

/**
 * When a drain pulls, and how much: enough for its handlers never to wait for a request, so that settlements can gather
 * meanwhile; and no more, for tasks that wait here could run elsewhere.
 */
export class Pace {
  readonly #options: PaceOptions;
  readonly #handlers: PacedHandlers;
  readonly #roundTrip: DurationEstimator;

  constructor(options: PaceOptions, hands: PacedHandlers, roundTrip: DurationEstimator) {
    this.#options = options;
    this.#handlers = hands;
    this.#roundTrip = roundTrip;
  }

  /** Whether handlers are about to run out of tasks: all that wait will have begun when a pull is answered. */
  get runsOut(): boolean {
    const { concurrency, batch = MOST, together } = this.#options;
    if (together || concurrency === 1 || this.#handlers.idle) return false;
    const meanwhile = this.#handlers.beginWithin(this.#roundTrip.mean);
    return this.#handlers.waiting + 1 <= Math.min(meanwhile, batch / 2);
  }

  /** How many tasks a pull asks for, as far as time allows. */
  get batch(): number {
    const { batch } = this.#options;
    if (batch !== undefined) return batch;
    const { vacant, waiting, mean } = this.#handlers;
    const begin = this.#handlers.beginWithin(this.#roundTrip.mean + Math.min(mean / 2, AHEAD));
    return Math.max(LEAST, Math.min(Math.ceil(vacant + begin) - waiting, MOST));
  }
}
