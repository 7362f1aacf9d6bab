const first = 1_000;
const longest = 8_000;

/**
 * How long to wait after the given attempt, in ms: up to 1 s, 2 s, 4 s, 8 s. Any time up to there (full
 * jitter), so that what failed together does not come back together.
 */
export function backoff(attempt: number, random: () => number = Math.random): number {
  return Math.ceil(random() * Math.min(longest, first * 2 ** (attempt - 1)));
}
