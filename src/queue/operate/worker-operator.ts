import {
  LIST_OPTIONS,
  nextCursor,
  onlyOptions,
  pageArguments,
  recordName,
  REQUEST_OPTIONS,
  wholeNumber,
} from "../core/validation.ts";
import { MAX_BATCH } from "../core/limits.ts";
import { reportExpired } from "../core/dead-letter.ts";
import { readWorker, writeWorker } from "../core/record.ts";
import { PartitionOperator } from "./partition-operator.ts";
import type { ListOptions, RequestOptions, WorkerName } from "../core/types.ts";
import { readWorkerInfo } from "../tasks/worker-info.ts";
import { readWorkersOfAll } from "./partition-workers.ts";
import { failWorkerScript, listWorkersScript } from "../redis/operate-scripts.ts";

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

/** Lists a queue's workers, and reclaims the tasks of dead ones. */
export class WorkerOperator extends PartitionOperator {
  /**
   * Reads a page of the workers of this queue, in no order, with their tasks. If the list changes between
   * pages, a worker may come twice. No worker that stays is missed. One request. Of a queue with partitions the
   * workers are in the order of their names; each page reads the workers of all partitions.
   * @throws {SluiceError}
   */
  async workers(options: ListWorkersOptions = {}): Promise<WorkerPage> {
    onlyOptions(options, LIST_OPTIONS);
    return this.overPartitions(() => this.#workers(options), options);
  }

  async #workers(options: ListWorkersOptions): Promise<WorkerPage> {
    const most = String(MAX_LISTED_TASKS);
    const all = await this.storedPartitions(options);
    const readPage = async (partition: number, bounds: ReturnType<typeof pageArguments>) => {
      const args = { testNow: this.testNow(), ...bounds, most };
      const page = await this.run(listWorkersScript, args, [], options, partition);
      return { ...page, workers: page.workers.map(toWorkerInfo) };
    };
    if (all.length > 1) return readWorkersOfAll(all, options, MAX_LISTED_TASKS, readPage);
    const page = await readPage(0, pageArguments(options));
    return { workers: page.workers, now: page.now, cursor: nextCursor(page.cursor) };
  }

  /**
   * Fails a worker that is dead. Exactly its tasks become pending again, in the order of their leases: at the
   * front, or at the back of their group if they have a group or a priority. Tasks without another attempt
   * become dead letters. The worker leaves the list; its next heartbeat returns `worker_lost`. A second copy
   * of the request takes the tasks that the worker has by then.
   * @param worker a name, for all incarnations; or one incarnation. An object without `incarnation` is the
   *   worker that reported none
   * @param options.limit at most this many tasks, 1 to 1,000. @default 1,000
   * @throws {SluiceError} `newer_schema` if only a newer release can read the tasks; nothing was changed
   */
  async failWorker(
    worker: string | WorkerName,
    options: RequestOptions & { readonly limit?: number | undefined } = {},
  ): Promise<WorkerFailed> {
    onlyOptions(options, ["limit", ...REQUEST_OPTIONS]);
    const limit = wholeNumber(options.limit ?? MAX_BATCH, "limit", 1, MAX_BATCH);
    const args = {
      testNow: this.testNow(),
      worker: typeof worker === "string" ? recordName(worker, "worker") : writeWorker(worker, "worker"),
      wake: this.wakeWindow,
    };
    return this.overPartitions(() => this.#failWorker(args, limit, options), options);
  }

  async #failWorker(
    args: Readonly<Record<Exclude<(typeof failWorkerScript.args)[number], "limit">, string>>,
    limit: number,
    options: RequestOptions,
  ): Promise<WorkerFailed> {
    const all = await this.storedPartitions(options);
    // Each partition gets a part of the limit. Those that get none are for the next call.
    const limits = all.map((_, i) => Math.floor((limit + all.length - 1 - i) / all.length));
    const calls = all.map((partition, i) => ({ partition, args: { ...args, limit: String(limits[i]) } }));
    const asked = calls.filter((_, i) => (limits[i] ?? 0) > 0);
    const replies = await this.runIn(failWorkerScript, asked, options, true);
    for (const { deadLetters } of replies) reportExpired(this.onDeadLetter, this.name, deadLetters);
    if (replies.some(({ wake }) => wake)) await this.waker?.wake(this.name);
    return {
      returned: replies.reduce((sum, { failed }) => sum + failed.returned, 0),
      rejected: replies.reduce((sum, { failed }) => sum + failed.rejected, 0),
      more: asked.length < all.length || replies.some(({ failed }) => failed.more),
    };
  }
}

type ListedWorker = ReturnType<typeof listWorkersScript.decode>["workers"][number];

function toWorkerInfo({ worker, record, ...rest }: ListedWorker): WorkerInfo {
  return { ...readWorker(worker), ...readWorkerInfo(record), ...rest };
}
