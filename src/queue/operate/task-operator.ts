import { invalidArgument, SluiceError } from "../../errors.ts";
import { MAX_BATCH } from "../core/limits.ts";
import { retryableReasons, taskStates, type RequestOptions, type TaskState } from "../core/types.ts";
import {
  listOf,
  onlyOptions,
  REQUEST_OPTIONS,
  taskId,
  trueOrFalse,
  wholeNumber,
} from "../core/validation.ts";
import type { callOf } from "../redis/binding.ts";
import { purgeScript, redriveScript } from "../redis/operate-scripts.ts";
import { FILTER_OPTIONS, writeFilter, type TaskFilter } from "./filters.ts";
import { RUN_BOUNDS, MAX_STEP, runPages, type RunOptions, type RunReport } from "./paged-run.ts";
import { cursorAfter, readPartitionCursor } from "./partition-cursor.ts";
import { redriveByIds } from "./redrive-by-ids.ts";
import { stateOf, TaskLister } from "./task-lister.ts";

export interface RedriveOptions extends TaskFilter, RunOptions {
  /**
   * Why the tasks were rejected: a reason, or several of which one must match.
   * @default ["attempts_exhausted", "lease_expired"]
   */
  readonly reason?: TaskFilter["reason"];
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

const RUN_OPTIONS = [...FILTER_OPTIONS, ...RUN_BOUNDS, ...REQUEST_OPTIONS];

/** Lists a queue's tasks, and removes, redrives and purges them. */
export class TaskOperator extends TaskLister {
  /**
   * Redrives dead letters: makes them pending again, at the back, the oldest first. Their charged attempts
   * are reset; `attempt`, the last error and the history are kept. Those that a consumer rejected for good, of
   * the reason `rejected`, stay, unless `reason` or `ids` name them. Cancelled tasks are not dead letters, and
   * are not redriven. Tasks that die while it runs are left.
   *
   * A second copy of a request by id does nothing until a task has died again, and with `lease` not even
   * then. A second copy of a request by filter continues where the first stopped.
   * @param options a filter, or `ids`. @default all with the reasons `attempts_exhausted` and `lease_expired`
   * @returns how many tasks were redriven, and a cursor if the limit or the budget ended the run first
   * @throws {SluiceError}
   * @example await operator.redrive({ endedSince: Date.now() - 3_600_000, rate: 10 })
   */
  async redrive(options: RedriveOptions = {}): Promise<RedriveReport> {
    onlyOptions(options, ["ids", "dryRun", "rate", ...RUN_OPTIONS]);
    const { ids, rate } = options;
    const given = writeFilter(options);
    if (rate !== undefined && !(typeof rate === "number" && rate >= 0.001 && rate <= 1_000_000)) {
      throw invalidArgument("rate", "must be a number from 0.001 to 1,000,000");
    }
    const args = {
      dry: trueOrFalse(options.dryRun ?? false, "dryRun") ? "1" : "",
      interval: rate === undefined ? "0" : (1_000 / rate).toFixed(6),
      filter: writeFilter({ ...options, reason: options.reason ?? retryableReasons }),
      wake: this.wakeWindow,
    };
    if (ids !== undefined) {
      if (given !== "" || options.limit !== undefined || options.cursor !== undefined) {
        throw invalidArgument("ids", "must not be given with a filter, limit or cursor");
      }
      return this.overPartitions(() => this.#redriveByIds(ids, args, options), options);
    }
    return this.#redriveAll(args, options);
  }

  async #redriveAll(
    args: Omit<RedriveArguments, "limit" | "cursor">,
    options: RedriveOptions,
  ): Promise<RedriveReport> {
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
    await this.storedPartitions(options);
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
    const [first = 0] = await this.storedPartitions(options);
    const read = (cursor: string) => readPartitionCursor(cursor === "" ? undefined : cursor, kind, first);
    // Checked even if no request follows.
    readPartitionCursor(options.cursor, kind, first);
    // Each page by itself: if the queue gets partitions meanwhile, what the pages before have done counts.
    return runPages({ ...options, cursor: options.cursor ?? "" }, (cursor, limit) =>
      this.overPartitions(async () => {
        const { partition, inner } = read(cursor);
        const page = await runPage(partition, inner, limit);
        if (!this.partitions) return page;
        const all = await this.allPartitions(options);
        return { ...page, cursor: cursorAfter(all, partition, page.cursor, page.begin) };
      }, options),
    );
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
