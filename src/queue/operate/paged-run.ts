import { endOf, type Duration } from "../core/duration.ts";
import { wholeNumber } from "../core/validation.ts";
import type { RequestOptions } from "../core/types.ts";

/** Most tasks of one redrive or purge script call: more would keep Redis busy for too long. */
export const MAX_STEP = 160;

/** The options that bound a run. */
export const BOUNDS = ["limit", "cursor", "budget"] as const satisfies readonly (keyof RunOptions)[];

/** How far a call goes that may need several requests. */
export interface RunOptions extends RequestOptions {
  /** The cursor of an earlier call that was not done. @default from the beginning */
  readonly cursor?: string | undefined;
  /** Most tasks in all. @default all */
  readonly limit?: number | undefined;
  /** When to stop and give a cursor; 0 is one request. @default "20s" */
  readonly budget?: Duration | undefined;
}

/** What a run has done. */
export interface RunReport {
  /** To go on; null where nothing is left to do. */
  readonly cursor: string | null;
  /** Tasks left alone because a newer release of Sluice wrote their records, or because those are broken. */
  readonly unreadable: number;
}

interface Step {
  readonly count: number;
  readonly cursor: string;
  readonly left: number;
}

/** Bounded calls until nothing is left, the limit is reached, or the budget is used up. */
export async function untilDone(
  options: RunOptions & { readonly cursor: string },
  step: (cursor: string, limit: string) => Promise<Step>,
): Promise<RunReport & { readonly count: number }> {
  const deadline = endOf(options.budget);
  const limit =
    options.limit === undefined
      ? Number.POSITIVE_INFINITY
      : wholeNumber(options.limit, "limit", 1, 1_000_000_000);
  let { cursor } = options;
  let count = 0;
  let unreadable = 0;
  do {
    const done = await step(cursor, String(Math.min(limit - count, MAX_STEP)));
    cursor = done.cursor;
    count += done.count;
    unreadable += done.left;
  } while (cursor !== "" && count < limit && performance.now() < deadline);
  return { count, cursor: cursor || null, unreadable };
}
