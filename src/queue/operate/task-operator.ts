import { invalidArgument, SluiceError } from "../../errors.ts";
import { BOUNDS, MAX_STEP, untilDone, type RunOptions, type RunReport } from "./paged-run.ts";
import { decodeValue } from "../core/codec.ts";
import { QueueBase } from "../tasks/queue-base.ts";
import {
  listOf,
  onlyOptions,
  replyBytes,
  REQUEST_OPTIONS,
  taskId,
  trueOrFalse,
  wholeNumber,
} from "../core/validation.ts";
import { readTaskInfo } from "../core/record.ts";
import { isUndecryptable, openedTask } from "../values/encryption.ts";
import { FILTER_OPTIONS, writeCursor, writeFilter, type TaskFilter } from "./filters.ts";
import { listScript, purgeScript, redriveScript, removeScript } from "../redis/operate-scripts.ts";
import { taskStates, type RequestOptions, type TaskInfo, type TaskState } from "../core/types.ts";

/** Most tasks of one page, and of a redrive by id. */
const MAX_TASKS = 1_000;

export interface ListedTask extends TaskInfo {
  /** Where the list was asked for payloads, and the task still has one. */
  readonly payload?: unknown;
  /** Why payload, result, error and progress are left out: some of them cannot be decrypted here. */
  readonly undecryptable?: string;
}

export interface ListTasksOptions extends TaskFilter, RequestOptions {
  readonly state: TaskState;
  /** The cursor of the page before. @default the first page */
  readonly cursor?: string | undefined;
  /** At most this many tasks, 1 to 1,000. @default 100 */
  readonly size?: number | undefined;
  /** Whether to give payloads. @default false */
  readonly payloads?: boolean | undefined;
  /** Bound on the bytes of payloads, results and errors; at least one task is always given. @default 8 MB */
  readonly maxBytes?: number | undefined;
}

export interface TaskPage {
  readonly tasks: readonly ListedTask[];
  /** For the next page; null after the last. */
  readonly cursor: string | null;
  /** Tasks left out because a newer release of Sluice wrote their records, or because those are broken. */
  readonly unreadable: number;
}

export type Removed =
  | { readonly ok: true }
  /** `alive`: it is pending, delayed or working. */
  | { readonly ok: false; readonly code: "not_found" | "alive" };

export interface RedriveOptions extends TaskFilter, RunOptions {
  /**
   * Which dead letters, at most 1,000; `lease` is the lease number that one must have (as `get` shows it), so that a
   * late copy of the request does nothing to one that has died again. Stands in place of filter, limit and cursor.
   * @default all that the filter means
   */
  readonly ids?:
    | readonly (string | { readonly id: string; readonly lease?: number | undefined })[]
    | undefined;
  /** True: counts what would be redriven, and changes nothing. @default false */
  readonly dryRun?: boolean | undefined;
  /** At most so many become pending in a second, 0.001 to 1,000,000; the others are delayed. @default all at once */
  readonly rate?: number | undefined;
}

export interface RedriveReport extends RunReport {
  readonly redriven: number;
  /** Of the ids that were given, those that were not redriven. */
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

const RUN_OPTIONS = [...FILTER_OPTIONS, ...BOUNDS, ...REQUEST_OPTIONS];
const LIST_OPTIONS = [
  "state",
  "cursor",
  "size",
  "payloads",
  "maxBytes",
  ...FILTER_OPTIONS,
  ...REQUEST_OPTIONS,
];

/** Looks at a queue's tasks and operates on them: pages, deletes, redrives, purges. */
export class TaskOperator extends QueueBase {
  /**
   * A page of the tasks in one state: pending ones in the order of delivery, delayed and working ones as they fall
   * due, completed ones as their records expire, dead letters as they died. One request. With a filter it looks at
   * 1,000 tasks, so a page may hold few or none while the cursor says that there are more. A task that moves
   * meanwhile may come twice, or, where pending ones are dequeued or cancelled between pages, be passed by. So may, on two
   * pages, a pending one whose id was cancelled in line before: where that entry still stands, and where its own does.
   *
   * Where groups, priorities or their limits are in use, the order of pending tasks is that of the moment; those
   * that wait for a group's limit come last.
   * @throws {SluiceError}
   */
  async list(options: ListTasksOptions): Promise<TaskPage> {
    onlyOptions(options, LIST_OPTIONS);
    const state = stateOf(options?.state, taskStates);
    const args = {
      state,
      cursor: writeCursor(options.cursor, state === "pending" ? "line" : "members"),
      size: String(wholeNumber(options.size ?? 100, "size", 1, MAX_TASKS)),
      filter: writeFilter(options),
      payloads: trueOrFalse(options.payloads ?? false, "payloads") ? "1" : "",
      maxBytes: String(replyBytes(options.maxBytes)),
    };
    const page = await this.run(listScript, args, [], options);
    const tasks: ListedTask[] = [];
    for (const found of page.tasks) {
      try {
        const { payload } = found;
        const task = {
          ...readTaskInfo(this.name, found.id, { state, ...found }),
          ...(payload !== "" && { payload: decodeValue(payload) }),
        };
        tasks.push(await this.#opened(task));
      } catch (error) {
        // One beyond reading must not hide the others.
        if (!(error instanceof SluiceError)) throw error;
      }
    }
    return {
      tasks,
      cursor: page.cursor || null,
      unreadable: page.left + page.tasks.length - tasks.length,
    };
  }

  async #opened(task: ListedTask): Promise<ListedTask> {
    try {
      return await openedTask(this.values, task, task.id);
    } catch (error) {
      if (!isUndecryptable(error)) throw error;
      const { payload: _, result: __, error: ___, progress: ____, ...rest } = task;
      return { ...rest, undecryptable: error.message };
    }
  }

  /**
   * The tasks that are next, with their payloads, as dequeue would give them; none is leased. One request.
   * @param options.max at most this many, 1 to 1,000. @default 10
   * @throws {SluiceError}
   */
  async peek(
    options: RequestOptions & { readonly max?: number | undefined } = {},
  ): Promise<readonly ListedTask[]> {
    onlyOptions(options, ["max", ...REQUEST_OPTIONS]);
    const { max = 10, ...request } = options;
    const size = wholeNumber(max, "max", 1, MAX_TASKS);
    const { tasks } = await this.list({ ...request, state: "pending", size, payloads: true });
    return tasks;
  }

  /**
   * Deletes the record of a completed or rejected task, with its result, error and payload. Within five minutes of
   * the task's end its id stays known, so that a late copy of its enqueue creates nothing. One request.
   * @throws {SluiceError}
   */
  async remove(id: string, options: RequestOptions = {}): Promise<Removed> {
    const args = { testNow: this.testNow(), id: taskId(id) };
    const status = await this.run(removeScript, args, [], options);
    return status === "removed" ? { ok: true } : { ok: false, code: status };
  }

  /**
   * Makes dead letters pending again, at the back, the longest dead first: by id, by filter, or all. Attempts that
   * were charged are forgotten; `attempt`, the last error and the record's history go on. Cancelled tasks are no
   * dead letters. Those that die while it runs are left. A second copy of a request by id does no more than the
   * first until a task has died again, and with `lease` not even then; one of a request by filter goes on where
   * the first stopped.
   * @throws {SluiceError}
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
    };
    if (ids !== undefined) {
      if (filter !== "" || options.limit !== undefined || options.cursor !== undefined) {
        throw invalidArgument("ids", "must stand without filter, limit and cursor");
      }
      return this.#redriveByIds(ids, args, options);
    }
    const cursor = writeCursor(options.cursor, "redrive");
    const { count, ...report } = await untilDone({ ...options, cursor }, (cursor, limit) =>
      this.run(redriveScript, { ...args, testNow: this.testNow(), limit, cursor }, [], options),
    );
    return { redriven: count, ...report, refused: [] };
  }

  async #redriveByIds(
    ids: NonNullable<RedriveOptions["ids"]>,
    args: { dry: string; interval: string; filter: string },
    options: RequestOptions,
  ): Promise<RedriveReport> {
    listOf(ids, "ids", MAX_TASKS);
    const leases = new Map<string, string>();
    for (const [i, which] of ids.entries()) {
      const { id, lease } = typeof which === "string" ? { id: which } : (which ?? {});
      const number = lease === undefined ? "" : wholeNumber(lease, `ids[${i}].lease`, 0, 2 ** 53 - 1);
      leases.set(taskId(id, `ids[${i}]`), String(number));
    }
    const refused: RedriveReport["refused"][number][] = [];
    let rest = Array.from(leases, ([id, lease]) => ({ id, lease }));
    let cursor = "";
    while (rest.length > 0) {
      const more = { ...args, testNow: this.testNow(), limit: String(MAX_STEP), cursor };
      const reply = await this.run(redriveScript, more, rest, options);
      for (const [i, code] of reply.answers.entries()) {
        if (code !== "redriven") refused.push({ id: rest[i]?.id ?? "", code });
      }
      rest = rest.slice(reply.answers.length);
      cursor = reply.cursor;
    }
    return { redriven: leases.size - refused.length, refused, cursor: null, unreadable: 0 };
  }

  /**
   * Ends or deletes all tasks in one state, or those that a filter means: pending and delayed ones are cancelled;
   * of completed and rejected ones the records go, as by {@link remove}. Working ones are never purged: cancel
   * them. A filter of pending tasks has to name a group, and may pass by tasks of it that move up between two
   * requests, as they do where one before them is cancelled: purge again.
   * @throws {SluiceError}
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
    const cursor = writeCursor(options.cursor, state === "pending" ? "places" : "members");
    const { count, ...report } = await untilDone({ ...options, cursor }, (cursor, limit) =>
      this.run(purgeScript, { testNow: this.testNow(), state, limit, cursor, filter }, [], options),
    );
    return { purged: count, ...report };
  }
}

function stateOf(state: unknown, allowed: readonly TaskState[]): TaskState {
  const found = allowed.find((known) => known === state);
  if (found === undefined) {
    throw invalidArgument("state", `must be one of ${allowed.join(", ")}`);
  }
  return found;
}
