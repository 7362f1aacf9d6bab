import { SluiceError } from "../../errors.ts";
import { sleep } from "../../sleep.ts";
import { milliseconds, type Duration } from "../core/duration.ts";
import { onlyOptions, wholeNumber } from "../core/validation.ts";
import type { TaskInfo, Transition } from "../core/types.ts";

/** Between two looks, ms: at first and after each change; then twice as long each time, up to the longest. */
const FIRST_PAUSE = 250;
const LONGEST_PAUSE = 2_000;

/**
 * A lower version than has been told comes from a replica that lags, and is dropped; one that stands for longer
 * than this, in ms, is another life of an id that was forgotten meanwhile.
 */
const LAG = 10_000;

export interface WaitOptions {
  /** How long. @default "20s" for `wait`, until the task's end for `watch` */
  readonly for?: Duration | undefined;
  /** How long from one look to the next, 10 ms to 1 h. @default 250 ms after a change, then doubling up to 2 s */
  readonly every?: Duration | undefined;
  /** Ends it promptly: `wait` then throws `aborted`, `watch` just ends. */
  readonly signal?: AbortSignal | undefined;
}

export interface WatchOptions extends WaitOptions {
  /** The last version that an earlier watch told, to go on behind it. @default begin with the present state */
  readonly after?: number | undefined;
}

/** What a watch tells of a task. */
export type TaskEvent =
  /** It is in another state. A promotion, which changes no version, has that of the delay and the time it was due. */
  | ({ readonly event: "transition" } & Transition)
  /** Its holder told how far it is. Changes no version. */
  | { readonly event: "progress"; readonly version: number; readonly progress: unknown }
  /** So many transitions, up to that version, are no longer in the record: this watch was too slow. */
  | { readonly event: "gap"; readonly version: number; readonly missed: number }
  /** It is completed or rejected; the last that is told. */
  | ({ readonly event: "end"; readonly task: TaskInfo } & Transition)
  /** It was deleted, its record has expired, or it never was; the last that is told. */
  | { readonly event: "gone" };

/** Reads a task, or null where there is none. */
export type Look = (signal: AbortSignal | undefined) => Promise<TaskInfo | null>;

/** True for a task on which nobody will work any more. */
export function hasEnded({ state }: TaskInfo): boolean {
  return state === "completed" || state === "rejected";
}

/**
 * The task when it has ended, or as it stands when the time is over; null where there is none.
 * @throws {SluiceError} `invalid_argument`, `aborted`, or what a look throws
 */
export async function waitForEnd(look: Look, options: WaitOptions): Promise<TaskInfo | null> {
  onlyOptions(options, ["for", "every", "signal"]);
  const { signal, for: span = "20s" } = options;
  let latest: TaskInfo | null = null;
  const note: Look = async () => {
    const task = await look(signal);
    if (task === null || latest === null || task.version >= latest.version) latest = task;
    return task;
  };
  for await (const told of watchTask(note, { ...options, for: span })) {
    if (told.event === "gone") return null;
  }
  if (signal?.aborted) throw new SluiceError("aborted", "the wait was aborted by its signal");
  return latest;
}

/**
 * Tells what becomes of a task: first how it stands, then each change, until its end.
 * @throws {SluiceError} `invalid_argument`, at once; what a look throws, from the iteration
 */
export function watchTask(look: Look, options: WatchOptions): AsyncGenerator<TaskEvent, void> {
  onlyOptions(options, ["after", "for", "every", "signal"]);
  const { after, for: span, every, signal } = options;
  return tell(look, {
    teller: new Teller(after === undefined ? undefined : wholeNumber(after, "after", 0, 2 ** 53 - 1)),
    span: span === undefined ? Number.POSITIVE_INFINITY : milliseconds(span, "for"),
    every: every === undefined ? undefined : milliseconds(every, "every", { min: 10, max: 3_600_000 }),
    signal,
  });
}

interface Watch {
  readonly teller: Teller;
  readonly span: number;
  readonly every: number | undefined;
  readonly signal: AbortSignal | undefined;
}

async function* tell(look: Look, { teller, span, every, signal }: Watch): AsyncGenerator<TaskEvent, void> {
  const end = performance.now() + span;
  let pause = FIRST_PAUSE / 2;
  let behindSince: number | undefined;
  for (;;) {
    if (signal?.aborted) return;
    let task: TaskInfo | null;
    try {
      task = await look(signal);
    } catch (error) {
      if (signal?.aborted) return;
      throw error;
    }
    const behind = task !== null && teller.isAhead(task);
    behindSince = behind ? (behindSince ?? performance.now()) : undefined;
    if (task === null || performance.now() - (behindSince ?? Number.POSITIVE_INFINITY) >= LAG) {
      yield { event: "gone" };
      return;
    }
    const news = behind ? [] : teller.newsOf(task);
    yield* news;
    if (!behind && hasEnded(task)) return;
    const left = end - performance.now();
    if (left <= 0) return;
    pause = every ?? (news.length > 0 ? FIRST_PAUSE : Math.min(pause * 2, LONGEST_PAUSE));
    await sleep(Math.min(pause, left), signal);
  }
}

/** What has been told, and what is news to it. */
class Teller {
  #version: number | undefined;
  #dueAt: number | undefined;
  #progress: string | undefined;

  constructor(after: number | undefined) {
    this.#version = after;
  }

  isAhead(task: TaskInfo): boolean {
    return this.#version !== undefined && task.version < this.#version;
  }

  newsOf(task: TaskInfo): TaskEvent[] {
    const news = [...this.#transitionsOf(task), ...this.#progressOf(task)];
    this.#version = task.version;
    this.#dueAt = task.dueAt;
    return news;
  }

  *#transitionsOf(task: TaskInfo): Generator<TaskEvent> {
    const { version, state } = task;
    const told = this.#version;
    if (told === version && state === "pending" && this.#dueAt !== undefined) {
      yield { event: "transition", version, to: state, at: this.#dueAt };
    }
    const kept = keptTransitions(task);
    const ended = hasEnded(task);
    const begins = told === undefined || (told === version && ended);
    const fresh = begins ? kept.slice(-1) : kept.filter((one) => one.version > told);
    const missed = begins ? 0 : (fresh[0]?.version ?? version + 1) - told - 1;
    if (missed > 0) yield { event: "gap", version: (told ?? 0) + missed, missed };
    for (const transition of fresh) {
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

/** The transitions in a record. Enqueueing is not among them, nor is promotion. */
function keptTransitions({ transitions, version, state, enqueuedAt }: TaskInfo): Transition[] {
  const last = transitions.at(-1) ?? { version, to: state, at: enqueuedAt };
  return [...transitions.slice(0, -1), state === "pending" ? { ...last, to: state } : last];
}
