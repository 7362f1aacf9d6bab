import { readWorkerInfo } from "../../kernel/lease/worker-info.ts";
import type { WorkerName } from "../../kernel/options/types.ts";
import { readWorker } from "../../kernel/record/read-record.ts";

/** For how long a failed worker may be missed, ms. A process that died does not come back under its name. */
const MISSED_FOR = 3_600_000;

/** A worker that was failed and has not come back: it has dequeued nothing since. */
export interface LostWorker extends WorkerName {
  readonly failedAt: number;
  readonly node?: string;
  readonly pid?: number;
}

/** A worker as `examine` reads it. */
export interface RegisteredWorker {
  /** `<name> <incarnation>` */
  readonly worker: string;
  /** Empty if it was failed, and has not dequeued since. */
  readonly record: string;
  /** When it was failed, and where it ran; empty if it was not. */
  readonly failure: string;
}

/** When a worker was last seen; null if none is registered. */
export function lastSeen(workers: readonly RegisteredWorker[]): number | null {
  const seen = workers.flatMap(({ record }) => readWorkerInfo(record).seenAt ?? []);
  return seen.length > 0 ? Math.max(...seen) : null;
}

/**
 * The workers that have not come back, the last one first. A process that was restarted has the same name, and perhaps
 * another incarnation. With partitions it may come back in another one.
 * @param workers of all shards
 */
export function lostWorkers(workers: readonly RegisteredWorker[], now: number): LostWorker[] {
  const seen = new Map<string, number>();
  for (const { worker, record } of workers) {
    const { name } = readWorker(worker);
    seen.set(name, Math.max(seen.get(name) ?? 0, readWorkerInfo(record).seenAt ?? 0));
  }
  const lost = new Map<string, LostWorker>();
  for (const { worker, record, failure } of workers) {
    const { seenAt: failedAt, silentAfter: _, ...where } = readWorkerInfo(failure);
    const named = readWorker(worker);
    if (record !== "" || failedAt === null || failedAt <= now - MISSED_FOR) continue;
    if ((seen.get(named.name) ?? 0) > failedAt) continue;
    const known = lost.get(worker);
    if (!known || known.failedAt < failedAt) lost.set(worker, { ...named, ...where, failedAt });
  }
  return [...lost.values()].toSorted((one, other) => other.failedAt - one.failedAt);
}
