import { deadlineOf, type Duration } from "../core/duration.ts";
import { wholeNumber } from "../core/validation.ts";
import type { RequestOptions } from "../core/types.ts";

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
export async function runPages(
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
