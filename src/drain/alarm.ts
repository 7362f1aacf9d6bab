import { LONGEST_TIMER } from "../sleep.ts";

/** Rings once, at the earliest of the times that it was set to since it last rang. */
export class Alarm {
  readonly #ring: () => void;
  #at = Number.POSITIVE_INFINITY;
  #unset: () => void = () => {};

  constructor(ring: () => void) {
    this.#ring = () => {
      this.#at = Number.POSITIVE_INFINITY;
      ring();
    };
  }

  /** @param at on the clock of `performance.now()`; a past time rings in the next turn of the event loop */
  set(at: number): void {
    if (at >= this.#at) return;
    this.#unset();
    this.#at = at;
    const ms = Math.ceil(at - performance.now());
    try {
      // Preferred if the platform has it: a timer takes at least a millisecond. That of Edge functions of Next.js throws.
      if (ms <= 0) return this.#setImmediate();
    } catch {}
    const timer = setTimeout(this.#ring, Math.min(Math.max(0, ms), LONGEST_TIMER));
    this.#unset = () => clearTimeout(timer);
  }

  #setImmediate(): void {
    const immediate = setImmediate(this.#ring);
    this.#unset = () => clearImmediate(immediate);
  }

  clear(): void {
    this.#unset();
    this.#at = Number.POSITIVE_INFINITY;
  }
}
