import type { Backoff } from "../../queue/core/backoff.ts";
import type { Duration } from "../../queue/core/duration.ts";
import type { Settled, Worker } from "../../queue/core/types.ts";
import type { LeasedTask } from "../../queue/tasks/leased-task.ts";

/** A task in the hands of a handler. Its settlement is what the handler returns or throws. */
export interface Task<T = unknown> extends Pick<
  LeasedTask<T>,
  "id" | "receipt" | "payload" | "attempt" | "enqueuedAt" | "headers" | "group"
> {
  /**
   * Aborts when the work is to stop; its `reason` is a {@link StoppedError}, whose `code` says why. Pass it on to
   * `fetch` and the like.
   */
  readonly signal: AbortSignal;
  /**
   * Moves the deadline to `lease` from now at once, never to an earlier one; the drain does so by itself while the
   * handler runs. `progress`, at most 1 KiB of JSON, is for `get` and `watch` to show.
   * @throws {SluiceError}
   */
  extend(lease?: Duration, options?: { readonly progress?: unknown }): Promise<Settled>;
}

/**
 * Works on one task. What it returns is the task's result, and completes it. When it throws, the task is requeued with
 * the drain's backoff and that error; it becomes a dead letter by a {@link NonRetryableError}, or on its last attempt; a
 * {@link RetryAfter} says itself when to come again.
 */
export type Handler<T = unknown> = (task: Task<T>) => unknown;

/** What becomes of one task of a batch: a settlement without its receipt. */
export type TaskOutcome =
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
 * Works on all tasks of one pull. It returns an outcome for each, in their order; what it throws counts for each of
 * them as if a {@link Handler} had thrown it. The signal aborts when all of the work is to stop, each task's own when
 * that task is.
 */
export type BatchHandler<T = unknown> = (
  tasks: readonly Task<T>[],
  signal: AbortSignal,
) => readonly TaskOutcome[] | Promise<readonly TaskOutcome[]>;

export interface DrainOptions {
  /**
   * How long the drain may last in all, its last request included; where Redis does not answer, a second or two more.
   * @default "25s"
   */
  readonly budget?: Duration | undefined;
  /**
   * Most tasks of one pull, 1 to 1,000 (over HTTP 100). @default 10 in `drainBatches`; in `drain` 10 to 100, as many as the
   * handlers will soon start
   */
  readonly batch?: number | undefined;
  /** How many handlers run at once, 1 to 1,000. @default 5, of batches 1 */
  readonly concurrency?: number | undefined;
  /** The lease of tasks that fixed none. It is extended while they are held. @default the queue's, else "5m" */
  readonly lease?: Duration | undefined;
  /**
   * How often leases are extended, 250 ms to 1 h, or each third of a lease where that is less: one request, some 5 Redis
   * commands. Also how late a cancel is seen. @default "15s"
   */
  readonly extendEvery?: Duration | undefined;
  /**
   * How long one handler may take. Then its signal aborts; where it does not end within half a second (a tenth of the
   * budget, if that is less), its task is requeued as one that failed, and what it does later counts no more.
   * @default until the budget ends
   */
  readonly timeout?: Duration | undefined;
  /** Before the next attempt of a task that failed; true: exponential with full jitter, 1 s to 15 min. @default true */
  readonly backoff?: Backoff | true | undefined;
  /**
   * How long to wait for tasks where none is left, within the budget, up to "1m". After a pull that emptied the queue the
   * next one goes out half a second later, or after `wait` if that is less. @default 0: then it ends
   */
  readonly wait?: Duration | undefined;
  /** Who works, as in dequeue. Its `silentAfter` has to be the budget at least. @default nobody in particular */
  readonly worker?: Worker | undefined;
  /** Ends the drain early, as the end of its budget does. */
  readonly signal?: AbortSignal | undefined;
  /** Ends the drain gently: it takes no more tasks, hands back what it has not begun, and lets what runs end. */
  readonly closing?: AbortSignal | undefined;
  /**
   * Called once, with a function that makes the drain look for tasks at once, for a process that is notified of new
   * tasks, for example by a wake. Without it, and without `wait`, a drain looks a second after a pull that emptied the
   * queue, and then each time a handler ends.
   */
  readonly listen?: ((look: () => void) => void) | undefined;
}

/** What a drain did. Each delivery is counted once, so a task that is tried again counts again. */
export interface DrainReport {
  /** Tasks that are completed. */
  readonly completed: number;
  /** Tasks that failed and will be tried again. */
  readonly requeued: number;
  /**
   * Tasks that have ended otherwise: by a NonRetryableError, on their last attempt, because their result cannot be
   * stored, cancelled while they were held, or, before a handler saw them, because their payload could not be decrypted
   * or does not fit the schema.
   */
  readonly rejected: number;
  /** Tasks handed back unstarted, uncounted. */
  readonly handedBack: number;
  /** Tasks whose lease was lost before they were settled: another holder has them, or had. */
  readonly lost: number;
  /** Why it ended: nothing was left, the time was over, `signal` or `closing` aborted, or the queue is paused. */
  readonly ended: "empty" | "budget" | "aborted" | "paused";
  /**
   * When it is worth coming again, epoch ms: at once where work was left, or the time was over before it could tell; null
   * where nothing waits, or all is paused.
   */
  readonly nextDueAt: number | null;
}
