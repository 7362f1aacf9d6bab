/** Replaces the clocks and the randomness of this process, so that a run can be repeated and hours pass at once. */

const original = {
  date: Date.now.bind(Date),
  performance: performance.now.bind(performance),
  random: Math.random.bind(Math),
};

/** The time of the machine, for bounds of whole runs, by `performance.now()`. */
export const machineNow = (): number => original.performance();

/**
 * Lets the memory of function instances age with the clock that the scripts get: `Date.now` and
 * `performance.now` return it. `Math.random` is seeded.
 * @param now epoch ms
 * @returns what undoes it
 */
export function replaceClock(now: () => number, seed: number): () => void {
  let state = seed >>> 0;
  Date.now = now;
  performance.now = now;
  // mulberry32
  Math.random = () => {
    state = (state + 0x6d_2b_79_f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  return () => {
    Date.now = original.date;
    performance.now = original.performance;
    Math.random = original.random;
  };
}
