/** The public face of a drain: what a handler is given, what may be set, what is reported. */
import type { Backoff } from "../queue/backoff.ts";
import type { LeasedTask } from "../queue/leased-task.ts";
import type { Duration, Settled, Worker } from "../queue/types.ts";
import type { TaskSource } from "./source.ts";

/** A task in the hands of a handler. Its settlement is what the handler returns or throws. */
export interface HeldTask<T = unknown> extends Pick<
  LeasedTask<T>,
  "id" | "receipt" | "payload" | "attempt" | "enqueuedAt" | "headers" | "group"
> {
  /**
   * Aborts when the work is to stop: its `reason` is a `StopReason`'s error. Pass it on to `fetch` and the like.
   */
  readonly signal: AbortSignal;
  /** Moves the deadline at once; the drain does so by itself while the handler runs. `progress` is for `get` to show. */
  extend(lease?: Duration, options?: { readonly progress?: unknown }): Promise<Settled>;
}

/** What it returns is the task's result; what it throws, the error of a requeue or a rejection. */
export type Handler<T = unknown> = (task: HeldTask<T>) => unknown;

/** What becomes of one task of a batch: a settlement without its receipt. */
export type Verdict =
  | { readonly outcome: "complete"; readonly result?: unknown }
  | {
      readonly outcome: "requeue";
      /** Before the next attempt. @default 0 */
      readonly delay?: Duration | undefined;
      /** Instead of `delay`, what it says of this attempt; true: exponential with full jitter, 1 s to 15 min. */
      readonly backoff?: Backoff | true | undefined;
      readonly error?: unknown;
      /** False refunds the attempt. @default true */
      readonly count?: boolean | undefined;
    }
  | { readonly outcome: "reject"; readonly error?: unknown };

/**
 * Works on all tasks of one pull. It returns a verdict for each, in their order; what it throws counts for each of
 * them as if a {@link Handler} had thrown it. The signal aborts when all of the work is to stop, each task's own when
 * that task is.
 */
export type BatchHandler<T = unknown> = (
  tasks: readonly HeldTask<T>[],
  signal: AbortSignal,
) => readonly Verdict[] | Promise<readonly Verdict[]>;

export interface DrainOptions {
  /** How long the drain may last in all, its last request included. @default "25s" */
  readonly budget?: Duration | undefined;
  /** Most tasks of one pull, 1 to 1,000 (over HTTP 100). @default 10 */
  readonly batch?: number | undefined;
  /** How many handlers run at once, 1 to 1,000. @default 5 */
  readonly concurrency?: number | undefined;
  /** The lease of tasks that fixed none. @default the queue's, else "5m" */
  readonly lease?: Duration | undefined;
  /** How long one handler may take. @default until the budget ends */
  readonly timeout?: Duration | undefined;
  /** Before the next attempt of a task that failed; true: exponential with full jitter, 1 s to 15 min. @default true */
  readonly backoff?: Backoff | true | undefined;
  /** How long to wait for tasks where none is left, within the budget. @default 0: then it ends */
  readonly wait?: Duration | undefined;
  /** Who works, as in dequeue. @default nobody in particular */
  readonly worker?: Worker | undefined;
  /** Ends the drain early, as the end of its budget does. */
  readonly signal?: AbortSignal | undefined;
}

/** What a drain did. */
export interface DrainReport {
  /** Tasks that are completed. */
  readonly completed: number;
  /** Tasks that failed and will be tried again. */
  readonly requeued: number;
  /** Tasks that became dead letters: by a NonRetryableError, on their last attempt, or cancelled while they ran. */
  readonly rejected: number;
  /** Tasks handed back unstarted, uncounted. */
  readonly handedBack: number;
  /** Tasks whose lease was lost before they were settled: another holder has them, or had. */
  readonly lost: number;
  /** Why it ended: nothing was left, the time was over, the signal aborted, or the queue is paused. */
  readonly ended: "empty" | "budget" | "aborted" | "paused";
  /** When it is worth coming again, epoch ms: at once where work was left; null where nothing waits. */
  readonly nextDueAt: number | null;
}

/** Works on a queue until nothing is left or the time is over. */
export type Drain = <T>(
  source: TaskSource<T>,
  handler: Handler<T>,
  options?: DrainOptions,
) => Promise<DrainReport>;
