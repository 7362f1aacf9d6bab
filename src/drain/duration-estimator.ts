/** How much a sample moves the mean and the deviation, after RFC 6298, which times TCP's segments. */
const MEAN_GAIN = 1 / 8;
const DEVIATION_GAIN = 1 / 4;

/** Estimates how long something takes, ms, from how long it has taken so far. */
export class DurationEstimator {
  #mean = 0;
  #deviation = 0;
  #hasSamples = false;

  add(ms: number): void {
    if (this.#hasSamples) {
      this.#deviation += DEVIATION_GAIN * (Math.abs(ms - this.#mean) - this.#deviation);
      this.#mean += MEAN_GAIN * (ms - this.#mean);
    } else {
      this.#mean = ms;
      // TCP assumes half: a wrong guess costs more there.
      this.#deviation = ms / 4;
      this.#hasSamples = true;
    }
  }

  get hasSamples(): boolean {
    return this.#hasSamples;
  }

  /** 0 before the first sample. */
  get mean(): number {
    return this.#mean;
  }

  /** The duration that is seldom exceeded; 0 before the first sample. */
  get upperBound(): number {
    return this.#mean + 4 * this.#deviation;
  }
}
