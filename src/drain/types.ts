import type { Backoff } from "../kernel/options/backoff.ts";
import type { ErrorSummary } from "../kernel/errors/error-summary.ts";
import type { Duration } from "../kernel/options/duration.ts";
import type { Settled, Worker } from "../kernel/options/types.ts";
import type { RequestBudget } from "./request-budget.ts";
import type { LeasedTask } from "../kernel/lease/leased-task.ts";

/** A task as a handler sees it. What the handler returns or throws settles it. */
export interface Task<T = unknown> extends Pick<
  LeasedTask<T>,
  "id" | "receipt" | "payload" | "attempt" | "enqueuedAt" | "headers" | "group"
> {
  /**
   * Aborts when the handler is to stop. Its `reason` is a {@link StoppedError}, whose `code` says why. Pass
   * the signal on to `fetch` and similar functions.
   */
  readonly signal: AbortSignal;
  /**
   * Extends the lease at once. The drain extends it by itself while the handler runs.
   * @param lease from now; an earlier deadline than the current one has no effect. Default: the task's lease
   * @param options.progress at most 1 KiB of JSON, which `get` and `watch` show
   * @throws {SluiceError}
   */
  extend(lease?: Duration, options?: { readonly progress?: unknown }): Promise<Settled>;
}

/**
 * Works on one task. What it returns is the task's result, and completes the task. If it throws, the task is
 * requeued with that error after the drain's backoff. On its last attempt, or with a {@link
 * NonRetryableError}, the task becomes a dead letter. A {@link RetryAfter} sets its own delay.
 */
export type Handler<T = unknown, Own = unknown> = (task: Task<T> & Own) => unknown;

/** The outcome of one task of a batch: a settlement without its receipt. */
export type TaskOutcome =
  | { readonly outcome: "complete"; readonly result?: unknown }
  | {
      readonly outcome: "requeue";
      /** The delay before the next attempt. @default 0 */
      readonly delay?: Duration | undefined;
      /**
       * Computes the delay from the attempt; true: 10 s, 30 s, 90 s, … up to 1 h, each jittered between half
       * and full.
       * @default `delay`
       */
      readonly backoff?: Backoff | true | undefined;
      readonly error?: unknown;
      /** False refunds the attempt. @default true */
      readonly count?: boolean | undefined;
      /** True also pauses the queue for the delay, unless it is paused for longer. @default false */
      readonly queue?: boolean | undefined;
    }
  | { readonly outcome: "reject"; readonly error?: unknown };

/**
 * Works on all tasks of one dequeue. It returns an outcome for each, in their order. An error that it throws
 * counts for each task as if a {@link Handler} had thrown it. The signal aborts when all of the work is to
 * stop; each task's own signal aborts when that task is to stop.
 */
export type BatchHandler<T = unknown, Own = unknown> = (
  tasks: readonly (Task<T> & Own)[],
  signal: AbortSignal,
) => readonly TaskOutcome[] | Promise<readonly TaskOutcome[]>;

export interface DrainOptions {
  /**
   * How long the drain may last in all, its last request included. If Redis does not answer, it lasts a
   * second or two longer.
   * @default "25s"
   */
  readonly budget?: Duration | undefined;
  /**
   * Most tasks of one dequeue, 1 to 1,000 (over HTTP 100).
   * @default 10 in `drainBatches`; in `drain` 10 to 100, as many as the handlers will soon begin
   */
  readonly batch?: number | undefined;
  /**
   * Most requests that the drain and its handlers send in all, for platforms that limit them: a number, or a {@link
   * RequestBudget} that all drains of an invocation share. The drain counts what it sends, resends included. It
   * begins no task for whose handler and last settle too few are left, and hands back unstarted what it has not
   * begun.
   *
   * When none but those for the last settle are left, leases are not extended any more. A handler whose lease is
   * about to expire is then stopped, as at the end of the budget.
   * @default no limit
   */
  readonly requests?: number | RequestBudget | undefined;
  /**
   * How many requests a handler sends for one task, with its own enqueues and extends; 0 to 1,000. A redirect that
   * `fetch` follows is one more. Used only with `requests`.
   * @default 1
   */
  readonly requestsPerTask?: number | undefined;
  /** How many handlers run at once, 1 to 1,000. @default 5 in `drain`, 1 in `drainBatches` */
  readonly concurrency?: number | undefined;
  /**
   * The lease of tasks that were enqueued without one. The drain extends the leases of all its tasks.
   * @default the queue's, else "5m"
   */
  readonly lease?: Duration | undefined;
  /**
   * The longest time between two extends of a lease, 250 ms to 1 h. A short lease is extended after a third
   * of its length, but not within 250 ms. All leases are extended in one request, with some 5 Redis commands.
   * A handler learns of a cancel after at most this time.
   * @default "15s"
   */
  readonly extendEvery?: Duration | undefined;
  /**
   * How long one handler may take. Then its signal aborts. If the handler does not end within half a second
   * (or a tenth of the budget, if that is less), its task is requeued as failed, and its later outcome is
   * dropped.
   * @default until the budget ends
   */
  readonly timeout?: Duration | undefined;
  /**
   * The delay before the next attempt of a failed task, by the number of its attempts that count; true: 10 s,
   * 30 s, 90 s, … up to 1 h, each jittered between half and full. If a function throws, or returns no duration,
   * the default applies, and the console and the task's error say so.
   * @default true
   */
  readonly backoff?: Backoff | true | undefined;
  /**
   * Whether the error that is stored of a failed task has its stack too. `onFailure` and `onDeadLetter` get it anyway.
   * @default false
   */
  readonly storeStack?: boolean | undefined;
  /**
   * How long to wait for tasks when the queue is empty, within the budget, up to "1m". After a dequeue that
   * emptied the queue, the next one goes out a second later, or after `wait` if that is less.
   * @default 0: the drain ends
   */
  readonly wait?: Duration | undefined;
  /** The worker, as in dequeue. Its `silentAfter` must be at least the budget. @default none */
  readonly worker?: Worker | undefined;
  /** Ends the drain early, in the same way as the end of its budget. */
  readonly signal?: AbortSignal | undefined;
  /**
   * Ends the drain gently: it takes no more tasks, hands back tasks that have not begun, and waits for
   * running handlers.
   */
  readonly closing?: AbortSignal | undefined;
  /**
   * Called once with a function `look`, which makes the drain dequeue at once. Call `look` when the process
   * is notified of new tasks, for example by a wake. Without such a call and without `wait`, a drain dequeues
   * again a second after a dequeue that emptied the queue, and then each time a handler ends. `look` returns whether
   * the drain can begin another task at once.
   */
  readonly listen?: ((look: () => boolean) => void) | undefined;
  /**
   * Called once with each task that failed, was given up, or lost its lease, as soon as Redis has answered.
   * Not for tasks that were cancelled, and not for those that reached no handler. The drain does not wait for
   * it. If it fails, one line is written to the console.
   * @default none
   */
  readonly onFailure?: ((failure: TaskFailure) => unknown) | undefined;
}

/** An attempt that failed. */
export interface TaskFailure {
  readonly queue: string;
  readonly id: string;
  /** Delivery number, from 1. */
  readonly attempt: number;
  /** What the handler threw, or why it was stopped. Absent if a batch handler requeued without an error. */
  readonly error?: ErrorSummary | undefined;
  /** How long the handler ran, ms; 0 if it had not begun. */
  readonly ranFor: number;
  /**
   * What happens to the task next:
   * - `retry`: it is tried again.
   * - `dead_letter`: it has become a dead letter.
   * - `lost`: its lease was lost. Another consumer may work on it, and this outcome was dropped.
   * - `unsettled`: Redis did not answer. If it did not get this outcome, it delivers the task again when its
   *   lease expires.
   */
  readonly next: "retry" | "dead_letter" | "lost" | "unsettled";
  /** When the task is tried again, epoch ms. Absent if it is pending at once. */
  readonly dueAt?: number | undefined;
}

/** What a drain did. Each delivery is counted once: a task that is tried again counts again. */
export interface DrainReport {
  /** Tasks that were completed. */
  readonly completed: number;
  /** Tasks that failed and will be tried again. */
  readonly requeued: number;
  /**
   * Tasks that were rejected: by a NonRetryableError, a batch handler's outcome, an error on the last
   * attempt, a result that cannot be stored, or a cancel while they ran. It includes tasks that reached no
   * handler, because their payload could not be decrypted or does not match the schema.
   */
  readonly rejected: number;
  /** Tasks that were handed back unstarted. Their attempt is refunded. */
  readonly handedBack: number;
  /** Tasks whose lease was lost before they were settled. Another consumer may have them. */
  readonly lost: number;
  /**
   * Why the drain ended: the queue was empty, the budget was over, too few `requests` were left, `signal` or
   * `closing` aborted, or the queue is paused.
   */
  readonly ended: "empty" | "budget" | "requests" | "aborted" | "paused";
  /**
   * When to drain again, epoch ms. It is now if tasks were left, or if the budget or the requests ended before that
   * was known; when the pause ends, if the queue is paused; null if no task waits, or the pause lasts until it is
   * resumed.
   */
  readonly nextDueAt: number | null;
}
