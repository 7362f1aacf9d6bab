import { sleep } from "./sleep.ts";

/** The longest wait after the first failure, and after any, ms. */
const FIRST_WAIT = 200;
const LONGEST_WAIT = 5_000;

/** How a source is opened again. */
export interface Reopening<Item, Gap> {
  readonly open: () => Promise<AsyncIterable<Item>>;
  /** Whether the source may be opened again after this failure. All others are thrown. */
  readonly mayPass: (error: unknown) => boolean;
  /** Makes what comes between the items before a failure and those after it. */
  readonly gap: () => Gap;
  /** Ends the iteration, which then throws nothing. */
  readonly until: AbortSignal;
}

/**
 * Reads a source that is opened again whenever it fails, for as long as that takes. It ends when the source ends
 * without a failure, or `until` aborts.
 * @param first the source, which is open
 */
export async function* reopened<Item, Gap>(
  first: AsyncIterable<Item>,
  { open, mayPass, gap, until }: Reopening<Item, Gap>,
): AsyncGenerator<Item | Gap, void> {
  let items: AsyncIterable<Item> | undefined = first;
  let openedAt = performance.now();
  for (let failures = 0; ; failures++) {
    try {
      if (!items) {
        items = await open();
        openedAt = performance.now();
        yield gap();
      }
      yield* items;
      return;
    } catch (error) {
      if (until.aborted) return;
      if (!mayPass(error)) throw error;
    }
    if (items && performance.now() - openedAt > LONGEST_WAIT) failures = 0;
    items = undefined;
    // A random part of the wait, so that those who lost their connections together come back one by one.
    await sleep(Math.random() * Math.min(LONGEST_WAIT, FIRST_WAIT * 2 ** failures), until);
    if (until.aborted) return;
  }
}
