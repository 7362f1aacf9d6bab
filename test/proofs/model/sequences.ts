/** Runs of random sequences of calls, and the search for the shortest one that fails. */
import { assert, asyncProperty, PreconditionFailure, type Arbitrary } from "fast-check";

const machine = performance.now.bind(performance);

/** Most calls of the search for a shorter sequence; not more than those of the run. */
const SEARCH = 10_000;

export interface Bounds {
  readonly calls: number;
  /** The latest end, by {@link machineNow}. */
  readonly until?: number | undefined;
  readonly seed?: number | undefined;
  readonly path?: string | undefined;
  /** Called once after a failure, before the search for a shorter sequence. */
  readonly onFailure?: ((error: unknown) => void) | undefined;
}

/** The time of the machine, ms, also while a run replaces the clocks of its process. */
export const machineNow = (): number => machine();

/**
 * Runs sequences until that many calls were made, or until one fails.
 * @param count counts all calls, those of earlier runs too
 * @returns the number of calls made
 * @throws with the seed and the shortest sequence that was found to fail
 */
export async function runSequences<T>(
  drawn: Arbitrary<T>,
  count: () => number,
  { calls, until = Number.POSITIVE_INFINITY, seed, path, onFailure }: Bounds,
  run: (sequence: T) => Promise<void>,
): Promise<number> {
  const first = count();
  let last = first + calls;
  let hasFailed = false;
  const property = asyncProperty(drawn, async (sequence) => {
    // Ends the runs: fast-check would go on to draw thousands of unneeded sequences.
    if (count() >= last || (!hasFailed && machineNow() >= until)) throw new PreconditionFailure(true);
    try {
      await run(sequence);
    } catch (error) {
      if (!hasFailed) {
        last = count() + Math.min(SEARCH, calls);
        onFailure?.(error);
      }
      hasFailed = true;
      throw error;
    }
  });
  await assert(property, {
    numRuns: calls,
    ...(seed !== undefined && { seed }),
    ...(path !== undefined && { path, endOnFailure: true }),
  });
  return count() - first;
}
