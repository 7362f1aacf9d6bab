import { invalidArgument, SluiceError } from "../errors.ts";
import type { Call } from "../kernel/call.ts";
import { onAll } from "../kernel/on-all.ts";
import { isReference, referredBytes } from "../kernel/record/envelope.ts";
import { MAX_BATCH } from "../kernel/options/limits.ts";
import type { Shard } from "../kernel/shard.ts";
import { readTaskInfo } from "../kernel/record/read-record.ts";
import type { TaskInfo } from "../kernel/record/task-info.ts";
import {
  taskStates,
  type ListOptions,
  type RequestOptions,
  type TaskState,
} from "../kernel/options/types.ts";
import {
  LIST_OPTIONS,
  onlyOptions,
  replyBytes,
  REQUEST_OPTIONS,
  taskId,
  trueOrFalse,
  wholeNumber,
} from "../kernel/options/validation.ts";
import { listScript, removeScript } from "./operate-scripts.ts";
import type { Values } from "../kernel/values/values.ts";
import { openTask } from "../kernel/values/open-task.ts";
import { isUnreadable } from "../kernel/record/unreadable.ts";
import { FILTER_OPTIONS, writeFilter, type TaskFilter } from "./filters.ts";
import { readBackwards } from "./list-backwards.ts";
import type { OperatedQueue } from "./operated-queue.ts";
import { type PayloadPreview, previewOf } from "./payload-preview.ts";
import { readOverShards, readShardCursor } from "./shard-cursor.ts";

/** A task as `list` returns it. */
export type ListedTask = TaskInfo &
  PayloadPreview & {
    /**
     * Why payload, result, error and progress are left out: one of them cannot be decrypted, or the payload cannot be
     * read from the object store, or does not fit into the page.
     */
    readonly undecryptable?: string;
  };

export interface ListTasksOptions extends TaskFilter, ListOptions {
  readonly state: TaskState;
  /**
   * Whether to return payloads. `"preview"` returns the beginning of each as {@link PayloadPreview}, which costs about
   * as much as none. @default false
   */
  readonly payloads?: boolean | "preview" | undefined;
  /**
   * Whether to list the last ones first: dead letters with the newest first. Of a queue with partitions all of them
   * are then in one order, except pending tasks. @default false
   */
  readonly reverse?: boolean | undefined;
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
type ListReply = ReturnType<typeof listScript.decode>;

const LIST_TASKS_OPTIONS = ["state", "payloads", "reverse", "maxBytes", ...FILTER_OPTIONS, ...LIST_OPTIONS];

/** How many tasks a call of the script looks at, at most. */
const LOOK = 1_000;

/** How many calls in a row may pass over dead letters, thousands each. */
const MOST_PASSING = 10;

/** Reads a page of the tasks in one state: see `Operator.list`. */
export async function listTasks(queue: OperatedQueue, options: ListTasksOptions): Promise<TaskPage> {
  onlyOptions(options, LIST_TASKS_OPTIONS);
  const { cursor, reverse = false, payloads = false, signal } = options;
  const {
    looked: _,
    sealed: __,
    ...page
  } = await readPage(queue, {
    state: stateOf(options?.state, taskStates),
    size: wholeNumber(options.size ?? 100, "size", 1, MAX_BATCH),
    maxBytes: replyBytes(options.maxBytes),
    filter: writeFilter(options),
    payloads: payloadsArgument(payloads),
    isReverse: trueOrFalse(reverse, "reverse"),
    cursor,
    signal,
  });
  return page;
}

/** What page is read, as the script takes it. */
interface PageOptions extends Pick<ListOptions, "cursor" | "signal"> {
  readonly state: TaskState;
  readonly size: number;
  readonly maxBytes: number;
  readonly filter: string;
  /** `p`: previews. */
  readonly payloads: "" | "1" | "p";
  readonly isReverse: boolean;
}

/** As {@link TaskPage}; also how many entries were looked at, and how many of these a search could not read. */
export async function readPage(
  queue: OperatedQueue,
  options: PageOptions,
): Promise<TaskPage & { readonly looked: number; readonly sealed: number }> {
  const { state, size, maxBytes, filter, payloads, isReverse } = options;
  const args = { state, filter, payloads, backwards: isReverse ? "1" : "" };
  const found: ListReply["tasks"] = [];
  const sums = { unreadable: 0, looked: 0, sealed: 0 };
  const take = ({ tasks, unreadable, looked, sealed }: Omit<ListReply, "cursor">) => {
    found.push(...tasks);
    sums.unreadable += unreadable;
    sums.looked += looked;
    sums.sealed += sealed;
    return found.length >= size;
  };
  const isMerged = isReverse && state !== "pending";
  const cursor = isMerged ? await readMerged() : await readInTurn();
  const tasks = await readTasks(queue, state, found, maxBytes, payloads === "p");
  const unreadable = sums.unreadable + found.length - tasks.length;
  return { tasks, cursor: cursor || null, ...sums, unreadable };

  async function readMerged(): Promise<string> {
    let { inner } = readShardCursor(options.cursor, "members", 0);
    const shards = await queue.store.shards(options);
    const bytes = String(Math.ceil(maxBytes / shards.length));
    const callOf = (shard: Shard): Call<ListReply> =>
      shard.call(listScript, { ...args, cursor: inner, size: String(size), maxBytes: bytes });
    for (let calls = 1; ; calls++) {
      const { cursor: next, ...page } = await readBackwards(queue.store, size, callOf, options);
      take({ ...page, tasks: [...page.tasks] });
      // A call that has looked at few tasks has passed over dead letters.
      if (next === "" || found.length > 0 || sums.looked >= LOOK || calls === MOST_PASSING) return next;
      inner = next;
    }
  }

  function readInTurn(): Promise<string> {
    const callOf = (shard: Shard, at: string) => {
      const rest = { cursor: at, size: String(size - found.length), maxBytes: String(maxBytes) };
      return shard.call(listScript, { ...args, ...rest });
    };
    return readOverShards(queue.store, state === "pending" ? "pending" : "members", options, callOf, take);
  }
}

/** @throws {SluiceError} `invalid_argument` */
function payloadsArgument(payloads: unknown): PageOptions["payloads"] {
  if (payloads === "preview") return "p";
  if (typeof payloads !== "boolean") throw invalidArgument("payloads", 'must be true, false or "preview"');
  return payloads ? "1" : "";
}

/** Reads the next tasks, without leasing them: see `Operator.peek`. */
export async function peekTasks(
  queue: OperatedQueue,
  options: RequestOptions & { readonly max?: number | undefined },
): Promise<readonly ListedTask[]> {
  onlyOptions(options, ["max", ...REQUEST_OPTIONS]);
  const { max = 10, ...request } = options;
  const size = wholeNumber(max, "max", 1, MAX_BATCH);
  const maxBytes = replyBytes(undefined);
  const args = { state: "pending", cursor: "", size: String(size), filter: "", payloads: "1", backwards: "" };
  const pages = await onAll(
    queue.store,
    (shard) => shard.call(listScript, { ...args, maxBytes: String(maxBytes) }),
    request,
  );
  const lines = await Promise.all(
    Array.from(pages.values(), ({ tasks }) => readTasks(queue, "pending", tasks, maxBytes)),
  );
  return inOrderOfDelivery(lines).slice(0, size);
}

/** Deletes the record of a task that has ended: see `Operator.remove`. */
export async function removeTask(
  { store }: OperatedQueue,
  id: string,
  options: RequestOptions,
): Promise<Removed> {
  const args = { id: taskId(id) };
  const isUnknown = (reply: string) => reply === "not_found";
  const status = await store.find(id, (shard) => shard.call(removeScript, args), isUnknown, options);
  return status === "removed" ? { ok: true } : { ok: false, code: status };
}

async function readTasks(
  { store, values }: OperatedQueue,
  state: TaskState,
  listed: ListReply["tasks"],
  maxBytes: number,
  arePreviews = false,
): Promise<ListedTask[]> {
  const tasks: ListedTask[] = [];
  let room = maxBytes;
  for (const found of listed) {
    try {
      const at = Math.floor(Number(found.score));
      const payload = arePreviews ? "" : found.payload;
      const task = readTaskInfo(store.queue.name, found.id, { state, ...found, at, payload });
      if (isReference(task.payload)) room -= referredBytes(task.payload);
      const isTooLarge = tasks.length > 0 && room < 0;
      const opened = isTooLarge ? withoutValues(task, TOO_LARGE) : await decrypted(values, task);
      tasks.push(arePreviews ? { ...opened, ...(await previewOf(values, found.id, found.payload)) } : opened);
    } catch (error) {
      // An invalid record must not hide the other tasks.
      if (!(error instanceof SluiceError)) throw error;
    }
  }
  return tasks;
}

async function decrypted(values: Values, task: ListedTask): Promise<ListedTask> {
  try {
    return await openTask(values, task, task.id);
  } catch (error) {
    const expected = error instanceof SluiceError && error.code === "offload_failed";
    if (!isUnreadable(error) && !expected) throw error;
    return withoutValues(task, error.message);
  }
}

const TOO_LARGE = "the payloads of the page would be more than maxBytes; get returns this one";

function withoutValues(task: ListedTask, undecryptable: string): ListedTask {
  const { payload: _, result: __, error: ___, progress: ____, ...rest } = task;
  return { ...rest, errors: [], undecryptable };
}

/** Merges the lines of shards: next is the first task of that line whose first task was enqueued first. */
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
