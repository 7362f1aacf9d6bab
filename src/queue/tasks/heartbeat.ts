import type { Heartbeat } from "../core/types.ts";
import type { heartbeatScript } from "../redis/task-scripts.ts";

type HeartbeatReply = ReturnType<typeof heartbeatScript.decode>;

/** A page of leases: those of one partition, from a lease number on. */
export interface LeasePage {
  readonly partition: number;
  readonly from: number;
}

/**
 * Extends a worker's leases in all partitions, page by page. The worker is lost if one partition has failed it: it
 * then has not all of its tasks, so none of the others matter.
 * @param extendPages extends a page of each of these partitions, in one request
 * @param byReceipts whether the leases were given by receipts, so that some may be lost
 */
export async function extendLeases(
  partitions: readonly number[],
  extendPages: (pages: readonly LeasePage[]) => Promise<readonly HeartbeatReply[]>,
  byReceipts: boolean,
): Promise<Heartbeat> {
  let leases = 0;
  let deadlineAt: number | null = null;
  const cancelRequested: string[] = [];
  const lost: string[] = [];
  let pages: LeasePage[] = partitions.map((partition) => ({ partition, from: 0 }));
  while (pages.length > 0) {
    const rest: LeasePage[] = [];
    for (const [i, page] of (await extendPages(pages)).entries()) {
      if (page === null) return { ok: false, code: "worker_lost" };
      leases += page.leases;
      if (page.leases > 0) deadlineAt = Math.min(deadlineAt ?? page.deadlineAt, page.deadlineAt);
      cancelRequested.push(...page.cancelRequested);
      lost.push(...page.lost);
      if (page.next > 0) rest.push({ partition: pages[i]?.partition ?? 0, from: page.next });
    }
    pages = rest;
  }
  return { ok: true, leases, deadlineAt, cancelRequested, ...(byReceipts && { lost }) };
}
