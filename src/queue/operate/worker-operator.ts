import { onlyOptions, recordName, REQUEST_OPTIONS, scanCursor, wholeNumber } from "../core/validation.ts";
import { readWorker, writeWorker } from "../core/record.ts";
import { TaskOperator } from "./task-operator.ts";
import type { RequestOptions, WorkerName } from "../core/types.ts";
import { readSignOfLife } from "../tasks/heartbeat.ts";
import { failWorkerScript, listWorkersScript } from "../redis/operate-scripts.ts";

/** Most ids that the list of workers tells of each. */
const MAX_LISTED_TASKS = 100;

/** A worker as the list shows it. Instants are epoch ms. */
export interface WorkerInfo extends WorkerName {
  readonly node?: string | undefined;
  readonly pid?: number | undefined;
  /** As it told last, ms; absent where it is never to be failed. */
  readonly silentAfter?: number | undefined;
  /** Its last dequeue or heartbeat; null where it was failed and some of its tasks are still to be taken. */
  readonly seenAt: number | null;
  /** When it is failed unless it shows a sign of life before; one not to be failed leaves the list, once it has no tasks. */
  readonly silentAt: number;
  /** How many tasks it has. */
  readonly working: number;
  /** Their ids, at most 100, the first taken first. */
  readonly tasks: readonly string[];
}

export interface WorkerPage {
  readonly workers: readonly WorkerInfo[];
  /** Redis's time, epoch ms. */
  readonly now: number;
  /** For the next page; null after the last. */
  readonly cursor: string | null;
}

export interface ListWorkersOptions extends RequestOptions {
  /** The cursor of the page before. @default the first page */
  readonly cursor?: string | undefined;
  /** About this many workers, 1 to 1,000. @default 100 */
  readonly size?: number | undefined;
}

/** What became of the tasks of a failed worker. */
export interface WorkerFailed {
  /** Tasks that became pending again: at the front; with a group or a priority, at the back of their group. */
  readonly returned: number;
  /** Tasks that had no attempt left, or were to be cancelled. */
  readonly rejected: number;
  /** True where the limit was reached: call again for the rest. A sweep does so when the worker would be silent. */
  readonly more: boolean;
}

/** Looks at a queue's workers, and takes their tasks from those that are dead. */
export class WorkerOperator extends TaskOperator {
  /**
   * A page of those who listen to this queue, in no order, and what each works on. A worker may come twice where the
   * list changes between pages; none that stays is missed.
   * @throws {SluiceError}
   */
  async workers(options: ListWorkersOptions = {}): Promise<WorkerPage> {
    onlyOptions(options, ["cursor", "size", ...REQUEST_OPTIONS]);
    const { cursor = "0", size = 100 } = options;
    const args = {
      testNow: this.testNow(),
      cursor: scanCursor(cursor),
      size: String(wholeNumber(size, "size", 1, 1_000)),
      most: String(MAX_LISTED_TASKS),
    };
    const page = await this.run(listWorkersScript, args, [], options);
    return {
      workers: page.workers.map(({ worker, record, ...rest }) => ({
        ...readWorker(worker),
        ...readSignOfLife(record),
        ...rest,
      })),
      now: page.now,
      cursor: page.cursor === "0" ? null : page.cursor,
    };
  }

  /**
   * Declares a worker dead. Exactly its tasks become pending again, in the order in which it took them: at the
   * front, or at the back of their group if they have a group or a priority. Tasks without another attempt become
   * dead letters. The worker leaves the list, and learns of it at its next heartbeat. A second copy of the request
   * takes what the worker has by then.
   * @param worker a name for all who have it, or one incarnation; an object without `incarnation` is the one
   *   that told none
   * @param options.limit at most this many tasks, 1 to 1,000. @default 1,000
   * @throws {SluiceError} `newer_schema` where only a newer release can read the tasks; nothing was changed
   */
  async failWorker(
    worker: string | WorkerName,
    options: RequestOptions & { readonly limit?: number | undefined } = {},
  ): Promise<WorkerFailed> {
    onlyOptions(options, ["limit", ...REQUEST_OPTIONS]);
    const args = {
      testNow: this.testNow(),
      worker: typeof worker === "string" ? recordName(worker, "worker") : writeWorker(worker, "worker"),
      limit: String(wholeNumber(options.limit ?? 1_000, "limit", 1, 1_000)),
    };
    return this.run(failWorkerScript, args, [], options);
  }
}
