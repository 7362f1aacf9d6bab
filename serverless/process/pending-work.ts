import { sleep } from "../../src/sleep.ts";

/** The background work of a process. */
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

/** Waits until the work ends or the time is over. Returns whether the work ended in time. */
export async function endsWithin(ms: number, work: Promise<unknown>): Promise<boolean> {
  const over = new AbortController();
  const inTime = await Promise.race([work.then(() => true), sleep(ms, over.signal).then(() => false)]);
  over.abort();
  return inTime;
}
