import type { Heartbeat } from "../core/types.ts";
import type { heartbeatScript } from "../redis/task-scripts.ts";

/**
 * Extends a worker's leases, page by page.
 * @param extendPage extends a page; takes the lease number to begin at
 * @param byReceipts whether the leases were given by receipts, so that some may be lost
 */
export async function extendLeases(
  extendPage: (from: number) => Promise<ReturnType<typeof heartbeatScript.decode>>,
  byReceipts: boolean,
): Promise<Heartbeat> {
  let leases = 0;
  let deadlineAt: number | null = null;
  const cancelRequested: string[] = [];
  let lost: readonly string[] = [];
  let from = 0;
  do {
    const page = await extendPage(from);
    if (page === null) return { ok: false, code: "worker_lost" };
    leases += page.leases;
    if (page.leases > 0) deadlineAt = Math.min(deadlineAt ?? page.deadlineAt, page.deadlineAt);
    cancelRequested.push(...page.cancelRequested);
    lost = page.lost;
    from = page.next;
  } while (from > 0);
  return { ok: true, leases, deadlineAt, cancelRequested, ...(byReceipts && { lost }) };
}
