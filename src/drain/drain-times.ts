import type { DurationEstimator } from "./duration-estimator.ts";

/** The times of a drain that depend on its end. Instants are on the clock of `performance.now()`. */
export class DrainTimes {
  /** How long a handler may take to stop, ms. */
  readonly grace: number;
  readonly #end: number;
  readonly #budget: number;
  readonly #roundTrip: DurationEstimator;

  constructor(end: number, budget: number, roundTrip: DurationEstimator) {
    this.grace = Math.min(500, budget / 10);
    this.#end = end;
    this.#budget = budget;
    this.#roundTrip = roundTrip;
  }

  /** When to stop handlers, early enough for their settlements to reach Redis. */
  get stopAt(): number {
    const reserve = Math.max(Math.min(1_000, this.#budget / 10), this.#roundTrip.upperBound);
    return this.#end - this.grace - Math.min(reserve, this.#budget / 3);
  }

  /** How long it takes to stop a handler, and to settle its task, ms. */
  get stopTime(): number {
    return this.grace + Math.max(1_000, this.#roundTrip.upperBound);
  }
}
