/** Longest time of a timer, ms. A timer that is set to more fires at once. */
export const LONGEST_TIMER = 2 ** 31 - 1;

/** Resolves after `ms`, or at once when the signal aborts. */
export function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const end = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal?.addEventListener("abort", end);
  });
}

/** Waits until the work ends or the time is over. Returns whether the work ended in time. */
export async function endsWithin(ms: number, work: Promise<unknown>): Promise<boolean> {
  const over = new AbortController();
  const inTime = await Promise.race([work.then(() => true), sleep(ms, over.signal).then(() => false)]);
  over.abort();
  return inTime;
}
