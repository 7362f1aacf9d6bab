import { configureGroup, configureQueue, readQueueSettings } from "../operate/configure.ts";
import {
  type CountDeadLettersOptions,
  countDeadLetters,
  type DeadLetterCounts,
} from "../operate/dead-letters.ts";
import { deleteQueue, type QueueDeleted } from "../operate/delete-queue.ts";
import { type GroupInfo, type GroupPage, listGroups, readGroup } from "../operate/groups.ts";
import {
  type ListedTask,
  listTasks,
  type ListTasksOptions,
  peekTasks,
  type Removed,
  removeTask,
  type TaskPage,
} from "../operate/list-tasks.ts";
import type { OperatedQueue } from "../operate/operated-queue.ts";
import { type PurgeOptions, type PurgeReport, purgeTasks } from "../operate/purge.ts";
import { type RedriveOptions, type RedriveReport, redriveTasks } from "../operate/redrive.ts";
import {
  type GroupChanges,
  groupChanges,
  type GroupSettings,
  pauseFor,
  type PauseOptions,
  type QueueChanges,
  queueChanges,
  type QueueSettings,
} from "../operate/settings.ts";
import { type SearchOptions, type SearchPage, searchTasks } from "../operate/search-tasks.ts";
import { type QueueStatistics, queueStatistics, type StatisticsOptions } from "../operate/statistics.ts";
import {
  type CancelledMany,
  cancelTasks,
  type RemovedMany,
  removeTasks,
  type TaskWithLease,
} from "../operate/tasks-by-ids.ts";
import {
  failWorker,
  forgetWorker,
  listWorkers,
  type ListWorkersOptions,
  type WorkerFailed,
  type WorkerForgotten,
  type WorkerPage,
} from "../operate/workers.ts";
import { configure } from "../lua/linked/configure.gen.ts";
import { settingItem } from "../kernel/record/settings-record.ts";
import type { ListOptions, RequestOptions, WorkerName } from "../kernel/options/types.ts";
import { onlyOptions, REQUEST_OPTIONS } from "../kernel/options/validation.ts";
import {
  listStoppedGroups,
  skipDeadLetter,
  type Skipped,
  type StoppedGroups,
} from "../features/order/index.ts";
import type { QueuePartitions, MaybeDivided } from "../features/partitions/index.ts";
import type { Adds } from "../kernel/store.ts";
import type { QueueOrName } from "./definition.ts";
import { opened, type QueueBaseOptions } from "./options.ts";
import { operatedQueue } from "./operated-store.ts";
import type { OpenQueue } from "./opening.ts";

/**
 * Operates a queue: lists, redrives and purges tasks, shows workers and fails them, changes settings and partitions,
 * reads statistics, deletes the queue. Settings are in Redis. All instances follow a pause and limits from their next
 * request on; single enqueues follow `maxPending`, `events` and `statistics` within a minute.
 * @example
 * const operator = new Operator("emails", { transport: upstash(env) });
 * await operator.configure({ maxWorking: 10, rate: { most: 5, per: "1s" } });
 */
export class Operator {
  readonly name: string;
  readonly #queue: OperatedQueue & { readonly store: Adds & MaybeDivided };

  /**
   * @param queue its name, `^[A-Za-z0-9_-][A-Za-z0-9_.-]{0,127}$`, or a queue that `defineQueue` made
   * @param given options; those of a declared queue are the defaults
   * @throws {SluiceError} `invalid_argument`
   */
  constructor(queue: QueueOrName<unknown, unknown>, given: QueueBaseOptions) {
    const own = opened(queue, given);
    this.name = own.queue.name;
    this.#queue = operatedQueue(own);
  }

  /**
   * Reads a page of the tasks in one state. Pending tasks are in the order of delivery, delayed and working
   * ones in the order of their times, completed ones by the expiry of their records, dead letters by when
   * they died. One request.
   *
   * One call checks at most 1,000 tasks. With a filter, a page may therefore have few tasks or none although
   * the cursor is not null. If tasks move between pages, a task may come twice, and a pending task may be
   * missed. If groups or priorities are in use, later tasks can still change the order of pending tasks, and
   * tasks that wait for a group's limit come last.
   *
   * Of a queue with partitions it reads one after the other, with a request for each: tasks are in order only
   * within a partition, except with `reverse`.
   * @param options.state the state of the tasks
   * @param options.size at most this many tasks, 1 to 1,000. @default 100
   * @throws {SluiceError}
   * @example const { tasks, cursor } = await operator.list({ state: "rejected", group: "tenant-7" })
   */
  async list(options: ListTasksOptions): Promise<TaskPage> {
    return listTasks(this.#queue, options);
  }

  /**
   * Searches the tasks in one state for a text: in ids, payloads, errors and results, the last ones first. One
   * request, which looks at up to 1,000 tasks; of a queue with partitions at as many of each. A page may have few tasks
   * or none although the cursor is not null. What is encrypted or in an object store is not searched, and counted.
   * @param options.of a state, or `"cancelled"`
   * @throws {SluiceError}
   * @example const { tasks } = await operator.search({ text: "a@example.com", of: "rejected", size: 20 })
   */
  async search(options: SearchOptions): Promise<SearchPage> {
    return searchTasks(this.#queue, options);
  }

  /**
   * Reads the next tasks with their payloads, in the order of delivery, without leasing them. One request. Of a
   * queue with partitions it reads as many from each, and returns first the ones that were enqueued first.
   * @param options.max at most this many, 1 to 1,000. @default 10
   * @throws {SluiceError}
   */
  async peek(
    options: RequestOptions & { readonly max?: number | undefined } = {},
  ): Promise<readonly ListedTask[]> {
    return peekTasks(this.#queue, options);
  }

  /**
   * Deletes the record of a completed or rejected task, with its result, error and payload. Its id stays
   * known for five minutes after its end, so that a late copy of its enqueue creates nothing, and as long as
   * it is `unique`. One request.
   * @returns `ok: false` with a code if nothing was deleted
   * @throws {SluiceError}
   */
  async remove(id: string, options: RequestOptions = {}): Promise<Removed> {
    return removeTask(this.#queue, id, options);
  }

  /**
   * Deletes the records of tasks, as {@link remove}. A request for each hundred.
   * @param ids at most 1,000
   * @returns what became of each, in the order of the ids
   * @throws {SluiceError}
   */
  async removeMany(ids: readonly string[], options: RequestOptions = {}): Promise<RemovedMany> {
    return removeTasks(this.#queue, ids, options);
  }

  /**
   * Cancels tasks, as `Queue.cancel`. A request for each hundred.
   * @param ids at most 1,000. With `lease`, the task must have that lease number
   * @returns what became of each, in the order of the ids
   * @throws {SluiceError}
   */
  async cancelMany(ids: readonly TaskWithLease[], options: RequestOptions = {}): Promise<CancelledMany> {
    return cancelTasks(this.#queue, ids, options);
  }

  /**
   * Counts dead letters by cause and by group, the newest first: up to 5,000 in a call, with a request for each
   * thousand.
   * @param options a filter, and the cursor of an earlier call
   * @throws {SluiceError}
   * @example const { causes } = await operator.deadLetters({ endedSince: Date.now() - 3_600_000 })
   */
  async deadLetters(options: CountDeadLettersOptions = {}): Promise<DeadLetterCounts> {
    return countDeadLetters(this.#queue, options);
  }

  /**
   * Redrives dead letters: makes them pending again, at the back, the oldest first. Their charged attempts
   * are reset; `attempt`, the last error and the history are kept. Those that a consumer rejected for good, of
   * the reason `rejected`, stay, unless `reason` or `ids` name them. Cancelled tasks are not dead letters, and
   * are not redriven. Tasks that die while it runs are left.
   *
   * A second copy of a request by id does nothing until a task has died again, and with `lease` not even
   * then. A second copy of a request by filter continues where the first stopped.
   * @param options a filter, or `ids`. @default all with the reasons `attempts_exhausted`, `lease_expired` and `taken_back`
   * @returns how many tasks were redriven, and a cursor if the limit or the budget ended the run first
   * @throws {SluiceError}
   * @example await operator.redrive({ endedSince: Date.now() - 3_600_000, rate: 10 })
   */
  async redrive(options: RedriveOptions = {}): Promise<RedriveReport> {
    return redriveTasks(this.#queue, options);
  }

  /**
   * Purges tasks in one state, all or those that match a filter. Pending and delayed tasks are cancelled.
   * Records of completed and rejected ones are deleted, as by {@link remove}. Working tasks are never purged:
   * cancel them.
   *
   * A filter of pending tasks must name a group. The purge may miss tasks of the group that move meanwhile,
   * as they do if a task before them is cancelled. Then purge again.
   * @param options.state `pending`, `delayed`, `completed` or `rejected`
   * @returns how many tasks were purged, and a cursor if the limit or the budget ended the run first
   * @throws {SluiceError}
   * @example await operator.purge({ state: "completed" })
   */
  async purge(options: PurgeOptions): Promise<PurgeReport> {
    return purgeTasks(this.#queue, options);
  }

  /**
   * Changes how many partitions the queue has, while it is in use: see docs/partitions.md. No task is lost,
   * delivered twice or moved. The first change renames the keys of the queue to those of partition 0.
   * @param partitions 1 to 62
   * @returns how many partitions new tasks go to now
   * @throws {SluiceError}
   */
  async resize(partitions: number, options: RequestOptions = {}): Promise<number> {
    onlyOptions(options, REQUEST_OPTIONS);
    const { resizePartitions } = await import("../features/partitions/operate.ts");
    return resizePartitions(this.#queue.store, partitions, options);
  }

  /**
   * Reads which partitions the queue has, and counts the tasks in each. Two requests.
   * @throws {SluiceError}
   */
  async listPartitions(options: RequestOptions = {}): Promise<QueuePartitions> {
    onlyOptions(options, REQUEST_OPTIONS);
    const { listPartitions } = await import("../features/partitions/operate.ts");
    return listPartitions(this.#queue.store, options);
  }

  /**
   * Reads a page of the workers of this queue, in no order, with their tasks. If the list changes between
   * pages, a worker may come twice. No worker that stays is missed. One request. Of a queue with partitions the
   * workers are in the order of their names; each page reads the workers of all partitions.
   * @throws {SluiceError}
   */
  async workers(options: ListWorkersOptions = {}): Promise<WorkerPage> {
    return listWorkers(this.#queue, options);
  }

  /**
   * Fails a worker that is dead. Exactly its tasks become pending again, in the order of their leases: at the
   * front, or at the back of their group if they have a group or a priority. Tasks without another attempt
   * become dead letters. The worker leaves the list; its next heartbeat returns `worker_lost`. A process that
   * hangs must be restarted: it works on, though what it settles is refused. A second copy of the request takes the
   * tasks that the worker has by then.
   * @param worker a name, for all incarnations; or one incarnation. An object without `incarnation` is the
   *   worker that reported none
   * @param options.limit at most this many tasks, 1 to 1,000. @default 1,000
   * @throws {SluiceError} `newer_schema` if only a newer release can read the tasks; nothing was changed
   */
  async failWorker(
    worker: string | WorkerName,
    options: RequestOptions & { readonly limit?: number | undefined } = {},
  ): Promise<WorkerFailed> {
    return failWorker(this.#queue, worker, options);
  }

  /**
   * Takes a worker that has ended off the list, before it leaves it by itself. It is refused while the worker has
   * tasks: see {@link failWorker}. Changes no task; a worker that still runs comes back to the list with its next
   * dequeue or heartbeat. Of a queue with partitions, those in which the worker has no task forget it. One request.
   * @param worker one incarnation. Without `incarnation` it is the worker that reported none
   * @throws {SluiceError}
   */
  async forgetWorker(worker: WorkerName, options: RequestOptions = {}): Promise<WorkerForgotten> {
    return forgetWorker(this.#queue, worker, options);
  }

  /**
   * Pauses the queue: dequeues return no task until {@link resume}, or for a time. All other calls work, settles
   * included.
   * @returns the settings of the queue
   * @throws {SluiceError}
   * @example await operator.pause({ for: "5m" })
   */
  async pause({ for: length, ...options }: PauseOptions & RequestOptions = {}): Promise<QueueSettings> {
    return configureQueue(
      this.#queue,
      [settingItem("paused", pauseFor({ for: length }))],
      options,
      configure,
    );
  }

  /**
   * Resumes the queue after {@link pause}.
   * @returns the settings of the queue
   * @throws {SluiceError}
   */
  async resume(options: RequestOptions = {}): Promise<QueueSettings> {
    return configureQueue(this.#queue, [settingItem("paused", "")], options, configure);
  }

  /**
   * Changes settings of the queue. Limits apply from the next dequeue on. If more tasks are working than a
   * new limit allows, no more are delivered until enough have ended. Producers of other instances follow
   * `maxPending`, `events` and `statistics` within a minute.
   * @param changes null unsets a setting; an absent one is unchanged
   * @returns the settings after the change
   * @throws {SluiceError} `invalid_argument`; nothing was changed
   * @example await operator.configure({ maxPending: 10_000, rate: null })
   */
  async configure(changes: QueueChanges, options: RequestOptions = {}): Promise<QueueSettings> {
    return configureQueue(this.#queue, queueChanges(changes), options, configure);
  }

  /**
   * Changes settings of a group. If a limit is raised, tasks that waited for it become ready: a hundred at
   * once, the others with the next dequeues or sweeps.
   * @param name of the group, named like an id
   * @param changes null unsets a setting; an absent one is unchanged
   * @returns the settings after the change
   * @throws {SluiceError} `invalid_argument`; nothing was changed
   */
  async configureGroup(
    name: string,
    changes: GroupChanges,
    options: RequestOptions = {},
  ): Promise<GroupSettings> {
    return configureGroup(this.#queue, name, groupChanges(changes), options, configure);
  }

  /**
   * Reads the settings of the queue. One request.
   * @throws {SluiceError}
   */
  async settings(options: RequestOptions = {}): Promise<QueueSettings> {
    return readQueueSettings(this.#queue, options);
  }

  /**
   * Reads the settings of a group, and counts its tasks. One request.
   * @param name of the group
   * @throws {SluiceError}
   */
  async groupSettings(name: string, options: RequestOptions = {}): Promise<GroupInfo> {
    return readGroup(this.#queue, name, options);
  }

  /**
   * Reads a page of the groups that have waiting tasks, with their settings and counts: first the groups with
   * ready tasks, by name, then those all of whose waiting tasks wait for limits. Groups that have only working
   * or delayed tasks, or only settings, are not listed. A page can be short or empty although the cursor is
   * not null. If tasks move between pages, a group may be missed or come twice. One request; of a queue with
   * partitions one for each partition, one after the other.
   * @param options.size at most this many groups, 1 to 1,000. @default 100
   * @throws {SluiceError}
   * @example const { groups, cursor } = await operator.groups()
   */
  async groups(options: ListOptions = {}): Promise<GroupPage> {
    return listGroups(this.#queue, options);
  }

  /**
   * Reads a page of the groups that a dead letter has stopped, with that dead letter: groups of an order with
   * `onDead: "stop"`. A group goes on when the dead letter is redriven, removed, or skipped. One request.
   * @param options.size at most this many groups, 1 to 1,000. @default 100
   * @returns how many groups are stopped, and the page, by name
   * @throws {SluiceError}
   * @example const { total, groups } = await operator.stoppedGroups()
   */
  async stoppedGroups(options: ListOptions = {}): Promise<StoppedGroups> {
    return listStoppedGroups(this.#queue.store, options);
  }

  /**
   * Lets the group of a dead letter go on with its next task. The dead letter stays, and can be redriven later: it then
   * goes to the back of its group. Does nothing if it does not stop its group. One request.
   * @param id of the dead letter
   * @returns `ok: false` with a code if it is no dead letter
   * @throws {SluiceError}
   */
  async skip(id: string, options: RequestOptions = {}): Promise<Skipped> {
    return skipDeadLetter(this.#queue.store, id, options);
  }

  /**
   * Reads the counts of events by the minute for the last hour, and rates to scale by; with `history` also by five
   * minutes for the last 24 hours. One request.
   * @throws {SluiceError}
   */
  async statistics(options: StatisticsOptions = {}): Promise<QueueStatistics> {
    return queueStatistics(this.#queue, options);
  }

  /**
   * Deletes the queue: tasks, dead letters, results, settings, schedules, and its entry in the registry. An
   * enqueue creates it again; producers of other instances may take a minute to register it. Two requests.
   *
   * It is refused while tasks are working, or flows that have not ended need the queue: cancel these first.
   *
   * Of a queue with partitions all are deleted in one request, after another one has checked that no task is
   * working. If a task is dequeued in between, its partition stays. The queue keeps its partitions.
   * @param options.force deletes the queue even then; the holders of tasks get `lease_lost`. With the next sweep what
   *   waits for deleted tasks of flows is rejected, and what waits in other queues for a flow that began here is cancelled.
   *   @default false
   * @throws {SluiceError}
   */
  async deleteQueue(
    options: RequestOptions & { readonly force?: boolean | undefined } = {},
  ): Promise<QueueDeleted> {
    return deleteQueue(this.#queue, options);
  }
}

/** Operates a queue that is open. */
export const operatorOf = ({ definition, options }: Pick<OpenQueue, "definition" | "options">): Operator =>
  new Operator(definition, options);
