import { SluiceError } from "../../errors.ts";
import type { Backoff } from "../options/backoff.ts";
import type { Settled, Settlement, Settler } from "../options/types.ts";
import type { Duration } from "../options/duration.ts";

/** Called with a settlement before it is sent, and with the headers of its task. */
export type OnSettle = (settlement: Settlement, headers: LeasedTask["headers"]) => void;

/** What settles a leased task. */
export interface TaskSettler extends Settler {
  /** Called before a task settles itself. @default none */
  readonly onSettle?: OnSettle | undefined;
}

/**
 * A task that was dequeued, with the right to settle it. Instants are epoch ms.
 * @example
 * const [task] = await emails.dequeue();
 * if (task) await task.complete({ sent: true });
 */
export class LeasedTask<T = unknown> {
  readonly id: string;
  /** Proof of the lease, to settle the task elsewhere. */
  readonly receipt: string;
  readonly payload: T;
  /** Delivery number, from 1. */
  readonly attempt: number;
  readonly enqueuedAt: number;
  /** When the lease ends. An extend does not change it here, but returns the new deadline. */
  readonly deadlineAt: number;
  /** Length of the lease at dequeue, ms. */
  readonly leasedFor: number;
  readonly headers: Readonly<Record<string, string>> | undefined;
  readonly group: string | undefined;
  readonly #queue: TaskSettler;

  constructor(
    queue: TaskSettler,
    task: Pick<
      LeasedTask<T>,
      | "id"
      | "receipt"
      | "payload"
      | "attempt"
      | "enqueuedAt"
      | "deadlineAt"
      | "leasedFor"
      | "headers"
      | "group"
    >,
  ) {
    this.#queue = queue;
    this.id = task.id;
    this.receipt = task.receipt;
    this.payload = task.payload;
    this.attempt = task.attempt;
    this.enqueuedAt = task.enqueuedAt;
    this.deadlineAt = task.deadlineAt;
    this.leasedFor = task.leasedFor;
    this.headers = task.headers;
    this.group = task.group;
  }

  /**
   * Completes the task.
   * @param result anything that JSON can express, or a `Uint8Array`; at most 1 MiB. @default none
   * @param options.ttl how long the record and the result are kept. @default the task's `resultTtl`
   * @returns the new state; or `ok: false` and a code, such as `lease_lost`, if nothing was changed
   * @throws {SluiceError} `invalid_argument`, `too_large`, or a fault of the transport
   * @example await task.complete({ sent: true })
   */
  complete(result?: unknown, options: { ttl?: Duration } = {}): Promise<Settled> {
    return this.#settle({ outcome: "complete", result, ...options });
  }

  /**
   * Rejects the task: it becomes a dead letter.
   * @param error an `Error`, a text, or another value of at most 16 KiB. @default none
   * @param options.ttl how long the dead letter is kept. @default the task's `deadTtl`
   * @returns as {@link complete}
   * @throws {SluiceError} as {@link complete}
   * @example await task.reject(new Error("unknown recipient"))
   */
  reject(error?: unknown, options: { ttl?: Duration } = {}): Promise<Settled> {
    return this.#settle({ outcome: "reject", error, ...options });
  }

  /**
   * Requeues the task for another attempt, after the tasks that wait already. On the last attempt the task
   * becomes a dead letter instead, and the returned state is `rejected`.
   * @param options.delay wait before the next attempt. @default 0
   * @param options.backoff computes the delay from the attempt; true is 10 s, 30 s, 90 s, … up to 1 h, each
   *   jittered between half and full
   * @param options.count false refunds the attempt. @default true
   * @param options.error kept with the task, as for {@link reject}
   * @param options.queue true also pauses the queue for the delay, unless it is paused for longer. @default false
   * @param options.unstarted true hands back a task that was not started, uncounted: to the front, or to its
   *   old place if it has a group or a priority. @default false
   * @returns as {@link complete}, with `dueAt` if it is delayed
   * @throws {SluiceError} as {@link complete}
   * @example await task.requeue({ backoff: true, error })
   */
  requeue(
    options: {
      delay?: Duration;
      backoff?: Backoff | true;
      count?: boolean;
      error?: unknown;
      queue?: boolean;
      unstarted?: boolean;
    } = {},
  ): Promise<Settled> {
    return this.#settle({ outcome: "requeue", ...options });
  }

  /**
   * Extends the lease: moves the deadline to `lease` from now, never to an earlier time.
   * @param lease @default the length of the lease at dequeue
   * @param options.progress for `get` to show: anything that JSON can express, at most 1 KiB
   * @returns as {@link complete}, with `deadlineAt`, and with `cancelRequested` if the task was cancelled
   * @throws {SluiceError} as {@link complete}
   * @example await task.extend("5m", { progress: { done: 40 } })
   */
  extend(lease?: Duration, options: { progress?: unknown } = {}): Promise<Settled> {
    return this.#settle({ outcome: "extend", lease, ...options });
  }

  async #settle(how: WithoutReceipt<Settlement>): Promise<Settled> {
    const settlement = { receipt: this.receipt, ...how };
    this.#queue.onSettle?.(settlement, this.headers);
    try {
      const [settled] = await this.#queue.settle([settlement]);
      return settled as Settled;
    } catch (error) {
      throw ofSingleSettlement(error);
    }
  }
}

/** Each kind of settlement, without its receipt. */
type WithoutReceipt<Kind> = Kind extends Settlement ? Omit<Kind, "receipt"> : never;

const PREFIX = "settlements[0].";

/** An error without the path of the settlement, which the caller did not write. */
function ofSingleSettlement(error: unknown): unknown {
  if (!(error instanceof SluiceError) || !error.path?.startsWith(PREFIX)) return error;
  return new SluiceError(error.code, error.message.replaceAll(PREFIX, ""), error.path.slice(PREFIX.length));
}

/** The tasks of one dequeue. */
export type Batch<T> = LeasedTask<T>[] & {
  /**
   * When to dequeue again, epoch ms: at once, or when the next delayed task is due or the next lease expires.
   * Null if no task waits. If the queue is paused, when the pause ends; null if it lasts until it is resumed.
   */
  readonly nextDueAt: number | null;
  /** True if the queue is paused, and delivers no task. */
  readonly paused: boolean;
  /**
   * How many other tasks became dead letters, because they could not be decrypted or do not match the schema.
   */
  readonly invalid: number;
};
