import { setTimeout as sleep } from "node:timers/promises";
import { vi } from "vitest";

/**
 * The longest time of a try in {@link inOwnTime}, ms: so long that it passes only if the test says so. A deadline
 * must be longer.
 */
export const TRY = 1_000_000;

/**
 * Makes a call for which time passes as the test says, however slow the machine is, and otherwise hardly at all.
 * @param passing called again and again while the call is under way: how much time has passed since, ms
 */
export async function inOwnTime<T>(call: () => Promise<T>, passing: () => number): Promise<T> {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
  try {
    const run = { isOver: false };
    const calling = call().finally(() => (run.isOver = true));
    calling.catch(() => {});
    while (!run.isOver) {
      // Real: it lets the other side work.
      await sleep(1);
      // A timer of no time takes a millisecond.
      await vi.advanceTimersByTimeAsync(passing() + 1);
    }
    return await calling;
  } finally {
    vi.useRealTimers();
  }
}

/**
 * Time that passes only after an event.
 * @param ms how much each time
 * @param times how often
 */
export function passingAfter(event: Promise<unknown>, ms: number, times = 1): () => number {
  let left = 0;
  event.then(
    () => (left = times),
    () => {},
  );
  return () => (left-- > 0 ? ms : 0);
}
