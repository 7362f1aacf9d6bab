/** After RFC 6298, which times TCP's segments: how much a sample moves the mean, and the deviation. */
const MEAN_GAIN = 1 / 8;
const DEVIATION_GAIN = 1 / 4;

/** How long something takes, ms, judged by what it has taken so far. */
export class DurationEstimator {
  #mean = 0;
  #deviation = 0;
  #known = false;

  add(ms: number): void {
    if (this.#known) {
      this.#deviation += DEVIATION_GAIN * (Math.abs(ms - this.#mean) - this.#deviation);
      this.#mean += MEAN_GAIN * (ms - this.#mean);
    } else {
      this.#mean = ms;
      // TCP assumes half; there a wrong guess costs more.
      this.#deviation = ms / 4;
      this.#known = true;
    }
  }

  get known(): boolean {
    return this.#known;
  }

  /** 0 before the first sample. */
  get mean(): number {
    return this.#mean;
  }

  /** What it seldom exceeds; 0 before the first sample. */
  get most(): number {
    return this.#mean + 4 * this.#deviation;
  }
}
