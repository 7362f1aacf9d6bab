import type { Heartbeat } from "../core/types.ts";
import type { heartbeatScript } from "../redis/task-scripts.ts";

type HeartbeatReply = ReturnType<typeof heartbeatScript.decode>;

/** A page of leases: those of one shard, from a lease number on. */
export interface LeasePage {
  readonly place: number;
  readonly from: number;
}

/**
 * Extends a worker's leases in all shards, page by page. The worker is lost if one shard has failed it: it
 * then has not all of its tasks, so none of the others matter.
 * @param extendPages extends a page of each of these shards, in one request
 * @param byReceipts whether the leases were given by receipts, so that some may be lost
 */
export async function extendLeases(
  places: readonly number[],
  extendPages: (pages: readonly LeasePage[]) => Promise<readonly HeartbeatReply[]>,
  byReceipts: boolean,
): Promise<Heartbeat> {
  let leases = 0;
  let deadlineAt: number | null = null;
  const cancelRequested: string[] = [];
  const lost: string[] = [];
  let pages: LeasePage[] = places.map((place) => ({ place, from: 0 }));
  while (pages.length > 0) {
    const rest: LeasePage[] = [];
    for (const [i, page] of (await extendPages(pages)).entries()) {
      if (page === null) return { ok: false, code: "worker_lost" };
      leases += page.leases;
      if (page.leases > 0) deadlineAt = Math.min(deadlineAt ?? page.deadlineAt, page.deadlineAt);
      cancelRequested.push(...page.cancelRequested);
      lost.push(...page.lost);
      if (page.next > 0) rest.push({ place: pages[i]?.place ?? 0, from: page.next });
    }
    pages = rest;
  }
  return { ok: true, leases, deadlineAt, cancelRequested, ...(byReceipts && { lost }) };
}
