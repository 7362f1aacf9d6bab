import { milliseconds } from "../options/duration.ts";
import { MAX_BATCH } from "../options/limits.ts";
import { readReceipts } from "../names/receipt.ts";
import type { Heartbeat, HeartbeatOptions, Worker } from "../options/types.ts";
import { onlyOptions, REQUEST_OPTIONS } from "../options/validation.ts";
import { heartbeatScript } from "../scripts/heartbeat-script.ts";
import { workerArguments } from "./worker-info.ts";
import { runAll } from "../call.ts";
import type { Store } from "../store.ts";

type HeartbeatReply = ReturnType<typeof heartbeatScript.decode>;

/** A page of leases: those of one shard, from a lease number on. */
interface LeasePage {
  readonly place: number;
  readonly from: number;
}

/** Reports that a worker is alive: see `Queue.heartbeat`. */
export async function sendHeartbeat(
  store: Store,
  worker: Worker,
  options: HeartbeatOptions,
): Promise<Heartbeat> {
  onlyOptions(options, ["lease", "receipts", ...REQUEST_OPTIONS]);
  const { lease, receipts } = options;
  const leases = receipts && readReceipts(receipts);
  const args = {
    ...workerArguments(worker),
    lease: lease === undefined ? "" : String(milliseconds(lease, "lease", { min: 1 })),
    limit: String(MAX_BATCH),
    named: leases ? "1" : "",
  };
  const extendPages = (pages: readonly LeasePage[]) => {
    const calls = pages.map(({ place, from }) =>
      store.shard(place).call(heartbeatScript, { ...args, from: String(from) }, leases?.get(place) ?? []),
    );
    return runAll(store.queue.transport, calls, options);
  };
  return store.over(async () => {
    // A worker that works for one shard is alive for all of them. Receipts name their shards.
    const shards = await store.shards(options);
    const places = [...new Set([...shards.map(({ place }) => place), ...(leases?.keys() ?? [])])];
    return extendLeases(places, extendPages, leases !== undefined);
  }, options);
}

/**
 * Extends a worker's leases in all shards, page by page. The worker is lost if one shard has failed it: it
 * then has not all of its tasks, so none of the others matter.
 * @param extendPages extends a page of each of these shards, in one request
 * @param byReceipts whether the leases were given by receipts, so that some may be lost
 */
async function extendLeases(
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
