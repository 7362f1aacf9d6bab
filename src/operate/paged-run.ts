import type { Shard } from "../kernel/shard.ts";
import type { Adds } from "../kernel/store.ts";
import { deadlineOf, type Duration } from "../kernel/options/duration.ts";
import { wholeNumber } from "../kernel/options/validation.ts";
import type { RequestOptions } from "../kernel/options/types.ts";
import { cursorAfter, dividedPlaces, readShardCursor } from "./shard-cursor.ts";

/** Most tasks of one redrive or purge call of a script: more would keep Redis busy for too long. */
export const MAX_STEP = 160;

/** Options that limit a run. */
export const RUN_BOUNDS = ["limit", "cursor", "budget"] as const satisfies readonly (keyof RunOptions)[];

/** Limits of a call that may need several requests. */
export interface RunOptions extends RequestOptions {
  /** The cursor of an earlier report, to continue from there. @default from the beginning */
  readonly cursor?: string | undefined;
  /** Most tasks in all. @default all */
  readonly limit?: number | undefined;
  /** When to stop and return a cursor. 0 makes one request. @default "20s" */
  readonly budget?: Duration | undefined;
}

/** The report of a run. */
export interface RunReport {
  /** To continue with the option `cursor`; null if nothing is left to do. */
  readonly cursor: string | null;
  /** Tasks that were skipped, because their records are invalid or of a newer release of Sluice. */
  readonly unreadable: number;
}

/** The reply of one script call. */
interface Page {
  readonly count: number;
  /** Empty after the last page. */
  readonly cursor: string;
  readonly unreadable: number;
}

/**
 * Runs pages until nothing is left, the limit is reached, or the budget is used up.
 * @param runPage runs one page
 */
async function runPages(
  options: RunOptions & { readonly cursor: string },
  runPage: (cursor: string, limit: string) => Promise<Page>,
): Promise<RunReport & { readonly count: number }> {
  const deadline = deadlineOf(options.budget);
  const limit =
    options.limit === undefined
      ? Number.POSITIVE_INFINITY
      : wholeNumber(options.limit, "limit", 1, 1_000_000_000);
  let { cursor } = options;
  let count = 0;
  let unreadable = 0;
  do {
    const page = await runPage(cursor, String(Math.min(limit - count, MAX_STEP)));
    cursor = page.cursor;
    count += page.count;
    unreadable += page.unreadable;
  } while (cursor !== "" && count < limit && performance.now() < deadline);
  return { count, cursor: cursor || null, unreadable };
}

/**
 * Runs pages over one shard after the other, as {@link runPages}.
 * @param runPage runs a page of a shard. `begin` is the cursor with which the next shard begins
 */
export async function runOverShards(
  store: Adds,
  options: RunOptions,
  kind: Parameters<typeof readShardCursor>[1],
  runPage: (shard: Shard, cursor: string, limit: string) => Promise<Page & { readonly begin?: string }>,
): Promise<RunReport & { readonly count: number }> {
  const [first] = await store.shards({ ...options, fresh: true });
  const read = (cursor: string) =>
    readShardCursor(cursor === "" ? undefined : cursor, kind, first?.place ?? 0);
  // Checked even if no request follows.
  readShardCursor(options.cursor, kind, 0);
  // Each page by itself: if the queue is divided meanwhile, what the pages before have done counts.
  return runPages({ ...options, cursor: options.cursor ?? "" }, (cursor, limit) =>
    store.over(async () => {
      const { place, inner } = read(cursor);
      const page = await runPage(store.shard(place), inner, limit);
      const places = await dividedPlaces(store, options);
      return places ? { ...page, cursor: cursorAfter(places, place, page.cursor, page.begin) } : page;
    }, options),
  );
}
