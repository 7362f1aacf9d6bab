import { SluiceError } from "../../errors.ts";
import { sleep } from "../../sleep.ts";
import { onlyOptions } from "../options/validation.ts";
import type { TaskInfo, Transition } from "../record/task-info.ts";
import { checkedWatch, type WaitOptions, type Watch, type WatchOptions } from "./watch-options.ts";

/** Pause between two reads, ms: the first after each change, then doubled each time, up to the longest. */
const FIRST_PAUSE = 250;
const LONGEST_PAUSE = 2_000;

/**
 * A read with a lower version than the last comes from a replica that lags, and is ignored. If the version
 * stays lower for this long, ms, the id has begun a new life.
 */
const MAX_LAG = 10_000;

/** What a watch reports of a task. */
export type TaskEvent =
  /**
   * The task is in another state. A promotion does not change the version; its time is when the task was due.
   */
  | ({ readonly event: "transition" } & Transition)
  /** The holder reported progress. Does not change the version. */
  | { readonly event: "progress"; readonly version: number; readonly progress: unknown }
  /** The watch was too slow: `missed` transitions, up to that version, are no longer in the record. */
  | { readonly event: "gap"; readonly version: number; readonly missed: number }
  /** The task is completed or rejected. The last event. */
  | ({ readonly event: "end"; readonly task: TaskInfo } & Transition)
  /** The task was deleted, its record has expired, or its id is unknown. The last event. */
  | { readonly event: "gone" };

/** Reads a task; null if its id is unknown. */
export type ReadTask = (signal: AbortSignal | undefined) => Promise<TaskInfo | null>;

/** Whether a task is completed or rejected. */
export function hasEnded({ state }: TaskInfo): boolean {
  return state === "completed" || state === "rejected";
}

/**
 * Waits for the end of a task.
 * @returns the task when it has ended, or as it is when the time is over; null if its id is unknown
 * @throws {SluiceError} `invalid_argument`, `aborted`, or what `read` throws
 */
export async function waitForEnd(read: ReadTask, options: WaitOptions): Promise<TaskInfo | null> {
  onlyOptions(options, ["for", "every", "signal"]);
  const { signal, for: duration = "20s" } = options;
  let latest: TaskInfo | null = null;
  const readLatest: ReadTask = async () => {
    const task = await read(signal);
    if (task === null || latest === null || task.version >= latest.version) latest = task;
    return task;
  };
  for await (const { event } of watchTask(readLatest, { ...options, for: duration })) {
    if (event === "gone") return null;
  }
  if (signal?.aborted) throw new SluiceError("aborted", "the wait was aborted by its signal");
  return latest;
}

/**
 * Watches a task: yields its current state, then each change, until its end.
 * @throws {SluiceError} `invalid_argument`, at once; what `read` throws, from the iteration
 */
export function watchTask(read: ReadTask, options: WatchOptions): AsyncGenerator<TaskEvent, void> {
  return eventsOf(read, checkedWatch(options));
}

/** The events of a watch whose options have been checked. */
export async function* eventsOf(
  read: ReadTask,
  { after, duration, every, signal }: Watch,
): AsyncGenerator<TaskEvent, void> {
  const changes = new TaskChanges(after);
  const end = performance.now() + duration;
  let pause = FIRST_PAUSE / 2;
  let behindSince: number | undefined;
  for (;;) {
    if (signal?.aborted) return;
    let task: TaskInfo | null;
    try {
      task = await read(signal);
    } catch (error) {
      if (signal?.aborted) return;
      throw error;
    }
    const behind = task !== null && changes.isBehind(task);
    behindSince = behind ? (behindSince ?? performance.now()) : undefined;
    if (task === null || performance.now() - (behindSince ?? Number.POSITIVE_INFINITY) >= MAX_LAG) {
      yield { event: "gone" };
      return;
    }
    const events = behind ? [] : changes.eventsOf(task);
    yield* events;
    if (!behind && hasEnded(task)) return;
    const left = end - performance.now();
    if (left <= 0) return;
    pause = every ?? (events.length > 0 ? FIRST_PAUSE : Math.min(pause * 2, LONGEST_PAUSE));
    await sleep(Math.min(pause, left), signal);
  }
}

/** Compares a task with its last reported state. */
class TaskChanges {
  #version: number | undefined;
  #dueAt: number | undefined;
  #progress: string | undefined;

  constructor(after: number | undefined) {
    this.#version = after;
  }

  /** Whether a task has a lower version than the last one. */
  isBehind(task: TaskInfo): boolean {
    return this.#version !== undefined && task.version < this.#version;
  }

  /** The events since the last call. */
  eventsOf(task: TaskInfo): TaskEvent[] {
    const events = [...this.#transitionsOf(task), ...this.#progressOf(task)];
    this.#version = task.version;
    this.#dueAt = task.dueAt;
    return events;
  }

  *#transitionsOf(task: TaskInfo): Generator<TaskEvent> {
    const { version, state } = task;
    const reported = this.#version;
    if (reported === version && state === "pending" && this.#dueAt !== undefined) {
      yield { event: "transition", version, to: state, at: this.#dueAt };
    }
    const kept = keptTransitions(task);
    const ended = hasEnded(task);
    const isFirst = reported === undefined || (reported === version && ended);
    const unreported = isFirst ? kept.slice(-1) : kept.filter((one) => one.version > reported);
    const missed = isFirst ? 0 : (unreported[0]?.version ?? version + 1) - reported - 1;
    if (missed > 0) yield { event: "gap", version: (reported ?? 0) + missed, missed };
    for (const transition of unreported) {
      if (ended && transition.version === version) yield { event: "end", ...transition, task };
      else yield { event: "transition", ...transition };
    }
  }

  *#progressOf({ version, progress }: TaskInfo): Generator<TaskEvent> {
    const last = this.#progress;
    this.#progress = JSON.stringify(progress);
    if (progress !== undefined && this.#progress !== last) yield { event: "progress", version, progress };
  }
}

/**
 * The transitions of a task. Its record does not keep the enqueue: a task without any other transition gets
 * one for it. Nor does it keep promotions: the last transition of a pending task leads to `pending`.
 */
function keptTransitions({ transitions, version, state, enqueuedAt }: TaskInfo): Transition[] {
  const last = transitions.at(-1) ?? { version, to: state, at: enqueuedAt };
  return [...transitions.slice(0, -1), state === "pending" ? { ...last, to: state } : last];
}
