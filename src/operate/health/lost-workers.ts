import { timeDigits } from "../../kernel/names/ids.ts";
import { readWorkerInfo } from "../../kernel/lease/worker-info.ts";
import type { WorkerName } from "../../kernel/options/types.ts";
import { readWorker } from "../../kernel/record/read-record.ts";

/** For how long a failed worker may be missed, ms. A process that died does not come back under its name. */
export const MISSED_FOR = 3_600_000;

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
 * another incarnation; or it is named by its process, and has begun since on the same machine. With partitions it may
 * come back in another one.
 * @param workers of all shards
 */
export function lostWorkers(workers: readonly RegisteredWorker[], now: number): LostWorker[] {
  const lost = new Map<string, LostWorker>();
  const working: Working[] = [];
  for (const { worker, record, failure } of workers) {
    const named = readWorker(worker);
    if (record !== "") {
      const { seenAt, ...where } = readWorkerInfo(record);
      working.push({ ...named, ...where, seenAt: seenAt ?? 0 });
      continue;
    }
    const { seenAt: failedAt, silentAfter: _, goneAfter: __, ...where } = readWorkerInfo(failure);
    if (failedAt === null || failedAt <= now - MISSED_FOR) continue;
    const known = lost.get(worker);
    if (!known || known.failedAt < failedAt) lost.set(worker, { ...named, ...where, failedAt });
  }
  return Array.from(lost.values())
    .filter((one) => !working.some((other) => other.seenAt > one.failedAt && isSuccessor(other, one)))
    .toSorted((one, other) => other.failedAt - one.failedAt);
}

type Working = WorkerName & { readonly seenAt: number; readonly node?: string; readonly pid?: number };

/** Whether a worker is what has become of a failed one. */
function isSuccessor(one: Working, lost: LostWorker): boolean {
  if (one.name === lost.name) return true;
  const isOfMachine = isOwnProcess(one) && isOwnProcess(lost) && one.node === lost.node;
  return isOfMachine && (one.incarnation ?? "") >= timeDigits(lost.failedAt);
}

/** Whether a server has named the worker after its process: its incarnation then begins with the time. */
const isOwnProcess = ({ name, pid }: WorkerName & { readonly pid?: number }) => name.endsWith(`:${pid}`);
