import type { WaitUntil } from "./declared/tools.ts";
import { endsWithin } from "../sleep.ts";
import { LEAST_TIME } from "./invocation.ts";

/** Background work: of a process, or of an invocation. */
export class PendingWork {
  readonly #all = new Set<Promise<unknown>>();

  /** Tracks work until it ends or fails. */
  readonly add = (work: Promise<unknown>): void => {
    const tracked: Promise<unknown> = work.catch(() => {}).then(() => this.#all.delete(tracked));
    this.#all.add(tracked);
  };

  /** Resolves when no work is left. */
  async settled(): Promise<void> {
    // Work that ends may have started more.
    while (this.#all.size > 0) await Promise.all(this.#all);
  }
}

/**
 * Does the work of an invocation whose platform may have no `waitUntil`. Then it waits for the background
 * work too, until the invocation's time is over.
 * @param end when the time is over, on the clock of `performance.now()`
 * @param work gets the `waitUntil` to use
 */
export async function withWaitUntil<R>(
  waitUntil: WaitUntil | undefined,
  end: number,
  work: (waitUntil: WaitUntil) => Promise<R>,
): Promise<R> {
  if (waitUntil) return work(waitUntil);
  const background = new PendingWork();
  try {
    return await work(background.add);
  } finally {
    await endsWithin(Math.max(end - performance.now(), LEAST_TIME), background.settled());
  }
}
