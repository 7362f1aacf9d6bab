import { invalidArgument, SluiceError } from "../../errors.ts";
import { RUN_BOUNDS, MAX_STEP, runPages, type RunOptions, type RunReport } from "./paged-run.ts";
import type { callOf } from "../redis/binding.ts";
import { MAX_BATCH } from "../core/limits.ts";
import { QueueBase } from "../tasks/queue-base.ts";
import {
  LIST_OPTIONS,
  listOf,
  onlyOptions,
  replyBytes,
  REQUEST_OPTIONS,
  taskId,
  trueOrFalse,
  wholeNumber,
} from "../core/validation.ts";
import { isReference, referredBytes } from "../core/envelope.ts";
import { readTaskInfo } from "../core/record.ts";
import { decryptTask, isUnreadable } from "../values/encryption.ts";
import { FILTER_OPTIONS, writeFilter, type TaskFilter } from "./filters.ts";
import { cursorAfter, readPartitionCursor } from "./partition-cursor.ts";
import { redriveByIds } from "./redrive-by-ids.ts";
import { listScript, purgeScript, redriveScript, removeScript } from "../redis/operate-scripts.ts";
import type { TaskInfo } from "../core/task-info.ts";
import { taskStates, type ListOptions, type RequestOptions, type TaskState } from "../core/types.ts";

/** A task as `list` returns it. */
export type ListedTask = TaskInfo & {
  /**
   * Why payload, result, error and progress are left out: one of them cannot be decrypted, or the payload cannot be
   * read from the object store, or does not fit into the page.
   */
  readonly undecryptable?: string;
};

export interface ListTasksOptions extends TaskFilter, ListOptions {
  readonly state: TaskState;
  /** Whether to return payloads. @default false */
  readonly payloads?: boolean | undefined;
  /** Most bytes of payloads, results and errors; at least one task is returned anyway. @default 8 MB */
  readonly maxBytes?: number | undefined;
}

export interface TaskPage {
  readonly tasks: readonly ListedTask[];
  /** For the next page; null after the last. */
  readonly cursor: string | null;
  /** Tasks that were left out, because their records are invalid or of a newer release of Sluice. */
  readonly unreadable: number;
}

export type Removed =
  | { readonly ok: true }
  /** `alive`: the task is pending, delayed or working. */
  | { readonly ok: false; readonly code: "not_found" | "alive" };

export interface RedriveOptions extends TaskFilter, RunOptions {
  /**
   * Ids of dead letters, at most 1,000. With `lease`, the task must have that lease number, as `get` shows
   * it: a late copy of the request then does not redrive a task that has died again. Not together with a
   * filter, `limit` or `cursor`.
   * @default all that match the filter
   */
  readonly ids?:
    | readonly (string | { readonly id: string; readonly lease?: number | undefined })[]
    | undefined;
  /** True counts the tasks that would be redriven, and changes nothing. @default false */
  readonly dryRun?: boolean | undefined;
  /**
   * How many tasks become pending in a second, 0.001 to 1,000,000; the others are delayed.
   * @default all at once
   */
  readonly rate?: number | undefined;
}

export interface RedriveReport extends RunReport {
  readonly redriven: number;
  /** Given ids that were not redriven, and why. */
  readonly refused: readonly {
    readonly id: string;
    readonly code: "not_found" | "not_dead_letter" | "lease_lost" | "newer_schema";
  }[];
}

export interface PurgeOptions extends TaskFilter, RunOptions {
  readonly state: Exclude<TaskState, "working">;
}

export interface PurgeReport extends RunReport {
  readonly purged: number;
}

/** The arguments of the redrive script, except the clock. */
type RedriveArguments = Omit<Parameters<typeof callOf<typeof redriveScript>>[2], "testNow">;

type ListReply = ReturnType<typeof listScript.decode>;

const RUN_OPTIONS = [...FILTER_OPTIONS, ...RUN_BOUNDS, ...REQUEST_OPTIONS];
const LIST_TASKS_OPTIONS = ["state", "payloads", "maxBytes", ...FILTER_OPTIONS, ...LIST_OPTIONS];

/** Lists a queue's tasks, and removes, redrives and purges them. */
export class TaskOperator extends QueueBase {
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
   * within a partition.
   * @param options.state the state of the tasks
   * @param options.size at most this many tasks, 1 to 1,000. @default 100
   * @throws {SluiceError}
   * @example const { tasks, cursor } = await operator.list({ state: "rejected", group: "tenant-7" })
   */
  async list(options: ListTasksOptions): Promise<TaskPage> {
    onlyOptions(options, LIST_TASKS_OPTIONS);
    const state = stateOf(options?.state, taskStates);
    const size = wholeNumber(options.size ?? 100, "size", 1, MAX_BATCH);
    const args = {
      state,
      filter: writeFilter(options),
      payloads: trueOrFalse(options.payloads ?? false, "payloads") ? "1" : "",
      maxBytes: String(replyBytes(options.maxBytes)),
    };
    const all = await this.allPartitions(options);
    const kind = state === "pending" ? "pending" : "members";
    let { partition, inner } = readPartitionCursor(options.cursor, kind, all[0] ?? 0);
    const found: ListReply["tasks"] = [];
    let unreadable = 0;
    let cursor: string;
    do {
      const rest = { ...args, cursor: inner, size: String(size - found.length) };
      const page = await this.run(listScript, rest, [], options, partition);
      found.push(...page.tasks);
      unreadable += page.unreadable;
      cursor = this.partitions ? cursorAfter(all, partition, page.cursor) : page.cursor;
      // A partition that is not at its end has filled the page, or was read for long enough.
      if (page.cursor !== "" || cursor === "") break;
      ({ partition, inner } = readPartitionCursor(cursor, kind, 0));
    } while (found.length < size);
    const tasks = await this.#readTasks(state, found, Number(args.maxBytes));
    return { tasks, cursor: cursor || null, unreadable: unreadable + found.length - tasks.length };
  }

  async #readTasks(state: TaskState, listed: ListReply["tasks"], maxBytes: number): Promise<ListedTask[]> {
    const tasks: ListedTask[] = [];
    let room = maxBytes;
    for (const found of listed) {
      try {
        const task = readTaskInfo(this.name, found.id, { state, ...found });
        if (isReference(task.payload)) room -= referredBytes(task.payload);
        tasks.push(
          tasks.length > 0 && room < 0 ? withoutValues(task, TOO_LARGE) : await this.#decrypted(task),
        );
      } catch (error) {
        // An invalid record must not hide the other tasks.
        if (!(error instanceof SluiceError)) throw error;
      }
    }
    return tasks;
  }

  async #decrypted(task: ListedTask): Promise<ListedTask> {
    try {
      return await decryptTask(this.values, task, task.id);
    } catch (error) {
      const expected = error instanceof SluiceError && error.code === "offload_failed";
      if (!isUnreadable(error) && !expected) throw error;
      return withoutValues(task, error.message);
    }
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
    onlyOptions(options, ["max", ...REQUEST_OPTIONS]);
    const { max = 10, ...request } = options;
    const size = wholeNumber(max, "max", 1, MAX_BATCH);
    if (!this.partitions) {
      return (await this.list({ ...request, state: "pending", size, payloads: true })).tasks;
    }
    const args = { state: "pending", cursor: "", size: String(size), filter: "", payloads: "1" };
    const maxBytes = replyBytes(undefined);
    const pages = await this.runOnAll(listScript, { ...args, maxBytes: String(maxBytes) }, [], request);
    const lines = await Promise.all(pages.map(({ tasks }) => this.#readTasks("pending", tasks, maxBytes)));
    return inOrderOfDelivery(lines).slice(0, size);
  }

  /**
   * Deletes the record of a completed or rejected task, with its result, error and payload. Its id stays
   * known for five minutes after its end, so that a late copy of its enqueue creates nothing, and as long as
   * it is `unique`. One request.
   * @returns `ok: false` with a code if nothing was deleted
   * @throws {SluiceError}
   */
  async remove(id: string, options: RequestOptions = {}): Promise<Removed> {
    const args = { testNow: this.testNow(), id: taskId(id) };
    const isUnknown = (reply: string) => reply === "not_found";
    const status = await this.runOn(args.id, removeScript, args, isUnknown, options);
    return status === "removed" ? { ok: true } : { ok: false, code: status };
  }

  /**
   * Redrives dead letters: makes them pending again, at the back, the oldest first. Their charged attempts
   * are reset; `attempt`, the last error and the history are kept. Cancelled tasks are not dead letters, and
   * are not redriven. Tasks that die while it runs are left.
   *
   * A second copy of a request by id does nothing until a task has died again, and with `lease` not even
   * then. A second copy of a request by filter continues where the first stopped.
   * @param options a filter, or `ids`; by default all dead letters
   * @returns how many tasks were redriven, and a cursor if the limit or the budget ended the run first
   * @throws {SluiceError}
   * @example await operator.redrive({ endedSince: Date.now() - 3_600_000, rate: 10 })
   */
  async redrive(options: RedriveOptions = {}): Promise<RedriveReport> {
    onlyOptions(options, ["ids", "dryRun", "rate", ...RUN_OPTIONS]);
    const { ids, rate } = options;
    const filter = writeFilter(options);
    if (rate !== undefined && !(typeof rate === "number" && rate >= 0.001 && rate <= 1_000_000)) {
      throw invalidArgument("rate", "must be a number from 0.001 to 1,000,000");
    }
    const args = {
      dry: trueOrFalse(options.dryRun ?? false, "dryRun") ? "1" : "",
      interval: rate === undefined ? "0" : (1_000 / rate).toFixed(6),
      filter,
      wake: this.wakeWindow,
    };
    if (ids !== undefined) {
      if (filter !== "" || options.limit !== undefined || options.cursor !== undefined) {
        throw invalidArgument("ids", "must not be given with a filter, limit or cursor");
      }
      return this.#redriveByIds(ids, args, options);
    }
    // Of the tasks of a rate, those of the next partition come after those of this one.
    const interval = Number(args.interval);
    let due = 0;
    const { count, ...report } = await this.#runPages(
      options,
      "redrive",
      async (partition, cursor, limit) => {
        const [began = "", first] = cursor.split(" ");
        due = Math.max(due, Number(first ?? 0), this.scriptTime());
        const page = await this.#redrivePage(partition, { ...args, limit, cursor }, [], options);
        due += page.count * interval;
        const start = `${began || Math.floor(this.scriptTime())} ${Math.ceil(due)} ${options.endedSince ?? 0} -`;
        return { ...page, begin: interval > 0 ? start : "" };
      },
    );
    return { redriven: count, ...report, refused: [] };
  }

  async #redriveByIds(
    ids: NonNullable<RedriveOptions["ids"]>,
    args: Omit<RedriveArguments, "limit" | "cursor">,
    options: RequestOptions,
  ): Promise<RedriveReport> {
    listOf(ids, "ids", MAX_BATCH);
    const leases = new Map<string, string>();
    for (const [i, item] of ids.entries()) {
      const { id, lease } = typeof item === "string" ? { id: item } : (item ?? {});
      const number = lease === undefined ? "" : wholeNumber(lease, `ids[${i}].lease`, 0, 2 ** 53 - 1);
      leases.set(taskId(id, `ids[${i}]`), String(number));
    }
    const refused = await redriveByIds(
      Array.from(leases, ([id, lease]) => ({ id, lease })),
      async (id) => (this.partitions ? this.partitions.having(id, options.signal) : [0]),
      (partition, cursor, items) =>
        this.#redrivePage(partition, { ...args, limit: String(MAX_STEP), cursor }, items, options),
    );
    return { redriven: leases.size - refused.length, refused, cursor: null, unreadable: 0 };
  }

  /**
   * Runs pages over one partition after the other, as {@link runPages}.
   * @param runPage runs a page of a partition. `begin` is the cursor with which the next partition begins
   */
  async #runPages(
    options: RunOptions,
    kind: Parameters<typeof readPartitionCursor>[1],
    runPage: (
      partition: number,
      cursor: string,
      limit: string,
    ) => Promise<{ count: number; cursor: string; unreadable: number; begin?: string }>,
  ) {
    const all = await this.allPartitions(options);
    const first = all[0] ?? 0;
    const read = (cursor: string) => readPartitionCursor(cursor === "" ? undefined : cursor, kind, first);
    // Checked even if no request follows.
    readPartitionCursor(options.cursor, kind, first);
    return runPages({ ...options, cursor: options.cursor ?? "" }, async (cursor, limit) => {
      const { partition, inner } = read(cursor);
      const page = await runPage(partition, inner, limit);
      if (!this.partitions) return page;
      return { ...page, cursor: cursorAfter(all, partition, page.cursor, page.begin) };
    });
  }

  /** Redrives a page. Wakes a consumer for tasks that are ready, and arranges a wake for those that are delayed. */
  async #redrivePage(
    partition: number,
    args: RedriveArguments,
    items: readonly { readonly id: string; readonly lease: string }[],
    options: RequestOptions,
  ) {
    const call = { partition, args: { ...args, testNow: this.testNow() }, items };
    const [reply] = await this.runIn(redriveScript, [call], options, args.dry === "");
    if (!reply) throw new SluiceError("unexpected_reply", "the script redrive returned no reply");
    if (reply.wake) await this.waker?.wake(this.name);
    const interval = Number(args.interval);
    if (interval > 0 && reply.count > 1 && args.dry === "") {
      await this.waker?.wakeAt(this.name, this.scriptTime() + interval);
    }
    return reply;
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
    onlyOptions(options, ["state", ...RUN_OPTIONS]);
    const state = stateOf(
      options?.state,
      taskStates.filter((state) => state !== "working"),
    );
    const filter = writeFilter(options);
    if (state === "pending" && filter !== "" && options.group === undefined) {
      throw invalidArgument("group", "must be given with a filter of pending tasks");
    }
    const kind = state === "pending" ? "purgePending" : "members";
    const { count, ...report } = await this.#runPages(options, kind, (partition, cursor, limit) => {
      const args = { testNow: this.testNow(), state, limit, cursor, filter };
      return this.run(purgeScript, args, [], options, partition);
    });
    return { purged: count, ...report };
  }
}

const TOO_LARGE = "the payloads of the page would be more than maxBytes; get returns this one";

function withoutValues(task: ListedTask, undecryptable: string): ListedTask {
  const { payload: _, result: __, error: ___, progress: ____, ...rest } = task;
  return { ...rest, errors: [], undecryptable };
}

function stateOf(state: unknown, allowed: readonly TaskState[]): TaskState {
  const found = allowed.find((known) => known === state);
  if (found === undefined) {
    throw invalidArgument("state", `must be one of ${allowed.join(", ")}`);
  }
  return found;
}

/** Merges the lines of partitions: next is the first task of that line whose first task was enqueued first. */
function inOrderOfDelivery(lines: readonly (readonly ListedTask[])[]): ListedTask[] {
  const merged: ListedTask[] = [];
  const rest = lines.map((line) => [...line]);
  for (;;) {
    const heads = rest.filter((line) => line.length > 0);
    const [first] = heads.toSorted((one, other) => enqueuedAt(one) - enqueuedAt(other));
    const next = first?.shift();
    if (!next) return merged;
    merged.push(next);
  }
}

const enqueuedAt = ([task]: readonly ListedTask[]) => task?.enqueuedAt ?? 0;
