/** Replaces the clocks and the randomness of this process, so that a run can be repeated and hours pass at once. */

/**
 * Lets the memory of function instances age with the clock that the scripts get: `Date.now` and
 * `performance.now` return it. `Math.random` is seeded.
 * @param now epoch ms
 * @returns what undoes it
 */
export function replaceClock(now: () => number, seed: number): () => void {
  const original = [Date.now, performance.now, Math.random] as const;
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
    [Date.now, performance.now, Math.random] = original;
  };
}
