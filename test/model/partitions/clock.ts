import { dice } from "../../support/dice.ts";

/**
 * Replaces the clocks and the randomness of this process, so that a run can be repeated and hours pass at once: the
 * memory of function instances ages with the clock that the scripts get.
 * @param now epoch ms, which `Date.now` and `performance.now` return
 * @param seed of `Math.random`
 * @returns what undoes it
 */
export function replaceClock(now: () => number, seed: number): () => void {
  const original = [Date.now, performance.now, Math.random] as const;
  [Date.now, performance.now, Math.random] = [now, now, dice(seed)];
  return () => {
    [Date.now, performance.now, Math.random] = original;
  };
}
