import { run, runAll } from "../kernel/call.ts";
import type { Shard } from "../kernel/shard.ts";
import { MAX_BATCH } from "../kernel/options/limits.ts";
import { writeWorker } from "../kernel/record/record.ts";
import { readWorker } from "../kernel/record/read-record.ts";
import type { ListOptions, RequestOptions, WorkerName } from "../kernel/options/types.ts";
import {
  LIST_OPTIONS,
  nextCursor,
  onlyOptions,
  pageArguments,
  recordName,
  REQUEST_OPTIONS,
  wholeNumber,
} from "../kernel/options/validation.ts";
import { failWorkerScript, listWorkersScript } from "./operate-scripts.ts";
import { readWorkerInfo } from "../kernel/lease/worker-info.ts";
import type { OperatedQueue } from "./operated-queue.ts";
import { readWorkersOfAll } from "./workers-of-all.ts";

/** Most ids of tasks that the list has for each worker. */
const MAX_LISTED_TASKS = 100;

/** A worker as the list shows it. Instants are epoch ms. */
export interface WorkerInfo extends WorkerName {
  readonly node?: string | undefined;
  readonly pid?: number | undefined;
  /** As the worker reported it last, ms; absent if no sweep fails the worker. */
  readonly silentAfter?: number | undefined;
  /** Its last dequeue or heartbeat; null while it is being failed. */
  readonly seenAt: number | null;
  /**
   * When the worker counts as silent, unless it dequeues or sends a heartbeat before. A sweep then fails it.
   * A worker without `silentAfter` is not failed, but leaves the list then, if it has no tasks.
   */
  readonly silentAt: number;
  /** How many tasks it has. */
  readonly working: number;
  /** Their ids, at most 100, in the order of their leases. */
  readonly tasks: readonly string[];
}

export interface WorkerPage {
  readonly workers: readonly WorkerInfo[];
  /** Redis's time, epoch ms. */
  readonly now: number;
  /** For the next page; null after the last. */
  readonly cursor: string | null;
}

/** `size`: about this many workers. */
export type ListWorkersOptions = ListOptions;

/** The tasks of a failed worker. */
export interface WorkerFailed {
  /**
   * Tasks that became pending again: at the front, or with a group or a priority at the back of their group.
   */
  readonly returned: number;
  /** Tasks that had no attempt left, or were cancelled. */
  readonly rejected: number;
  /**
   * True if the limit was reached: call again for the rest. Otherwise a sweep continues, once the worker
   * counts as silent.
   */
  readonly more: boolean;
}

/** Reads a page of the workers: see `Operator.workers`. */
export async function listWorkers(
  { store }: OperatedQueue,
  options: ListWorkersOptions,
): Promise<WorkerPage> {
  onlyOptions(options, LIST_OPTIONS);
  const most = String(MAX_LISTED_TASKS);
  const readPage = async (shard: Shard, bounds: ReturnType<typeof pageArguments>) => {
    const call = shard.call(listWorkersScript, { ...bounds, most });
    const page = await run(store.queue.transport, call, options);
    return { ...page, workers: page.workers.map(toWorkerInfo) };
  };
  return store.over(async () => {
    const shards = await store.shards({ ...options, fresh: true });
    if (shards.length > 1) return readWorkersOfAll(shards, options, MAX_LISTED_TASKS, readPage);
    const page = await readPage(store.shard(0), pageArguments(options));
    return { workers: page.workers, now: page.now, cursor: nextCursor(page.cursor) };
  }, options);
}

/** Fails a worker that is dead: see `Operator.failWorker`. */
export async function failWorker(
  { store }: OperatedQueue,
  worker: string | WorkerName,
  options: RequestOptions & { readonly limit?: number | undefined },
): Promise<WorkerFailed> {
  onlyOptions(options, ["limit", ...REQUEST_OPTIONS]);
  const limit = wholeNumber(options.limit ?? MAX_BATCH, "limit", 1, MAX_BATCH);
  const args = {
    worker: typeof worker === "string" ? recordName(worker, "worker") : writeWorker(worker, "worker"),
    wake: store.wakeWindow(),
  };
  return store.over(async () => {
    const shards = await store.shards({ ...options, fresh: true });
    // Each shard gets a part of the limit. Those that get none are for the next call.
    const limits = shards.map((_, i) => Math.floor((limit + shards.length - 1 - i) / shards.length));
    const asked = shards.filter((_, i) => (limits[i] ?? 0) > 0);
    const calls = asked.map((shard, i) =>
      shard.call(
        failWorkerScript,
        { ...args, limit: String(limits[i]) },
        [],
        shard.isPart ? shard.note() : undefined,
      ),
    );
    const replies = await runAll(store.queue.transport, calls, options);
    for (const { deadLetters } of replies) store.expired(deadLetters);
    await store.ready({ now: replies.some(({ wake }) => wake) });
    return {
      returned: replies.reduce((sum, { failed }) => sum + failed.returned, 0),
      rejected: replies.reduce((sum, { failed }) => sum + failed.rejected, 0),
      more: asked.length < shards.length || replies.some(({ failed }) => failed.more),
    };
  }, options);
}

type ListedWorker = ReturnType<typeof listWorkersScript.decode>["workers"][number];

function toWorkerInfo({ worker, record, ...rest }: ListedWorker): WorkerInfo {
  return { ...readWorker(worker), ...readWorkerInfo(record), ...rest };
}
