import { sleep } from "../../src/sleep.ts";

/** The work of a process for which no request waits. */
export class PendingWork {
  readonly #all = new Set<Promise<unknown>>();

  /** Notes work, until it has ended in one way or another. */
  readonly add = (work: Promise<unknown>): void => {
    const noted: Promise<unknown> = work.catch(() => {}).then(() => this.#all.delete(noted));
    this.#all.add(noted);
  };

  /** Resolves when nothing is under way any more. */
  async settled(): Promise<void> {
    // What ends may have begun more.
    while (this.#all.size > 0) await Promise.all(this.#all);
  }
}

/** Waits for the end of some work, and tells whether that came in time. */
export async function endsWithin(ms: number, work: Promise<unknown>): Promise<boolean> {
  const over = new AbortController();
  const inTime = await Promise.race([work.then(() => true), sleep(ms, over.signal).then(() => false)]);
  over.abort();
  return inTime;
}
