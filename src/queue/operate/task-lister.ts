import { invalidArgument, SluiceError } from "../../errors.ts";
import { isReference, referredBytes } from "../core/envelope.ts";
import { MAX_BATCH } from "../core/limits.ts";
import { readTaskInfo } from "../core/record.ts";
import type { TaskInfo } from "../core/task-info.ts";
import { taskStates, type ListOptions, type RequestOptions, type TaskState } from "../core/types.ts";
import {
  LIST_OPTIONS,
  onlyOptions,
  replyBytes,
  REQUEST_OPTIONS,
  taskId,
  trueOrFalse,
  wholeNumber,
} from "../core/validation.ts";
import { callOf, type QueueBinding } from "../redis/binding.ts";
import { replyAt } from "../redis/replies.ts";
import type { SendOptions } from "../redis/transport.ts";
import { listScript, removeScript } from "../redis/operate-scripts.ts";
import { QueueBase } from "../tasks/queue-base.ts";
import { decryptTask, isUnreadable } from "../values/encryption.ts";
import { FILTER_OPTIONS, writeFilter, type TaskFilter } from "./filters.ts";
import { cursorAfter, readPartitionCursor } from "./partition-cursor.ts";

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
type ListArguments = Readonly<Record<Exclude<(typeof listScript.args)[number], "cursor" | "size">, string>>;
type ListReply = ReturnType<typeof listScript.decode>;

const LIST_TASKS_OPTIONS = ["state", "payloads", "maxBytes", ...FILTER_OPTIONS, ...LIST_OPTIONS];

/** Lists the tasks of a queue, and removes records. */
export class TaskLister extends QueueBase {
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
    return this.overPartitions(() => this.#list(state, args, size, options), options);
  }

  async #list(
    state: TaskState,
    args: ListArguments,
    size: number,
    options: ListTasksOptions,
  ): Promise<TaskPage> {
    const first = (await this.allPartitions(options))[0] ?? 0;
    const kind = state === "pending" ? "pending" : "members";
    let { partition, inner } = readPartitionCursor(options.cursor, kind, first);
    const found: ListReply["tasks"] = [];
    let unreadable = 0;
    let cursor: string;
    do {
      const rest = { ...args, cursor: inner, size: String(size - found.length) };
      const { page, all } = await this.runInList(listScript, rest, options, partition);
      found.push(...page.tasks);
      unreadable += page.unreadable;
      cursor = all ? cursorAfter(all, partition, page.cursor) : page.cursor;
      // A partition that is not at its end has filled the page, or was read for long enough.
      if (page.cursor !== "" || cursor === "") break;
      ({ partition, inner } = readPartitionCursor(cursor, kind, 0));
    } while (found.length < size);
    const tasks = await this.#readTasks(state, found, Number(args.maxBytes));
    return { tasks, cursor: cursor || null, unreadable: unreadable + found.length - tasks.length };
  }

  /**
   * Runs a script that reads a page of one partition.
   * @returns the page; and all partitions, which the same request reads, if the queue has some
   */
  protected async runInList<const B extends QueueBinding>(
    binding: B,
    args: Parameters<typeof callOf<B>>[2],
    options: SendOptions,
    partition: number,
  ): Promise<{ page: ReturnType<B["decode"]>; all: readonly number[] | undefined }> {
    const outcomes = await this.sendAndReadMap([callOf(binding, this.keysOf(partition), args)], options);
    const page = binding.decode(replyAt(outcomes, 0)) as ReturnType<B["decode"]>;
    return { page, all: await (await this.split(options.signal))?.all(options.signal) };
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
    const args = { state: "pending", cursor: "", size: String(size), filter: "", payloads: "1" };
    const maxBytes = replyBytes(undefined);
    const read = () => this.runOnAll(listScript, { ...args, maxBytes: String(maxBytes) }, [], request);
    const pages = await this.overPartitions(read, request);
    const lines = await Promise.all(
      Array.from(pages.values(), ({ tasks }) => this.#readTasks("pending", tasks, maxBytes)),
    );
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
}

const TOO_LARGE = "the payloads of the page would be more than maxBytes; get returns this one";

function withoutValues(task: ListedTask, undecryptable: string): ListedTask {
  const { payload: _, result: __, error: ___, progress: ____, ...rest } = task;
  return { ...rest, errors: [], undecryptable };
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

/**
 * A state that is one of those allowed.
 * @throws {SluiceError} `invalid_argument`
 */
export function stateOf(state: unknown, allowed: readonly TaskState[]): TaskState {
  const found = allowed.find((known) => known === state);
  if (found === undefined) {
    throw invalidArgument("state", `must be one of ${allowed.join(", ")}`);
  }
  return found;
}
