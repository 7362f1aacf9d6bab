import type { Backoff } from "../core/backoff.ts";
import type { Settled, Settlement, Settler } from "../core/types.ts";
import type { Duration } from "../core/duration.ts";

/** A task that was dequeued, with the right to settle it. Instants are epoch ms. */
export class LeasedTask<T = unknown> {
  readonly id: string;
  /** Proof of the lease, for settling elsewhere. */
  readonly receipt: string;
  readonly payload: T;
  /** Which delivery of the task this is, from 1. */
  readonly attempt: number;
  readonly enqueuedAt: number;
  /** When the lease ends, unless it is extended. */
  readonly deadlineAt: number;
  /** How long the lease is, ms, from its beginning or its last extend. */
  readonly leasedFor: number;
  readonly headers: Readonly<Record<string, string>> | undefined;
  readonly group: string | undefined;
  readonly #queue: Settler;

  constructor(
    queue: Settler,
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

  /** Ends the task as completed; the result is kept for `ttl`, by default the task's `resultTtl`. */
  async complete(result?: unknown, options: { ttl?: Duration } = {}): Promise<Settled> {
    return this.#settle({ receipt: this.receipt, outcome: "complete", result, ...options });
  }

  /** Ends the task as a dead letter, kept for `ttl`, by default the task's `deadTtl`. */
  async reject(error?: unknown, options: { ttl?: Duration } = {}): Promise<Settled> {
    return this.#settle({ receipt: this.receipt, outcome: "reject", error, ...options });
  }

  /**
   * Gives the task back, for another attempt after `delay` (at once by default), or as a `backoff` says of this
   * attempt, behind those that wait. On the last attempt it becomes a dead letter, and the answer says so.
   * `count: false` refunds the attempt. `unstarted: true` hands back a task that was not begun, uncounted: to the
   * front, or to its old place if it has a group or a priority.
   */
  async requeue(
    options: {
      delay?: Duration;
      /** True: exponential with full jitter, from a second to a quarter of an hour. */
      backoff?: Backoff | true;
      count?: boolean;
      error?: unknown;
      unstarted?: boolean;
    } = {},
  ): Promise<Settled> {
    return this.#settle({ receipt: this.receipt, outcome: "requeue", ...options });
  }

  /**
   * Moves the deadline to `lease` from now, never to an earlier one.
   * @param lease by default what the lease was at dequeue
   * @param options.progress how far the work is, for `get` to show; at most 1 KiB of JSON
   */
  async extend(lease?: Duration, options: { progress?: unknown } = {}): Promise<Settled> {
    return this.#settle({ receipt: this.receipt, outcome: "extend", lease, ...options });
  }

  async #settle(settlement: Settlement): Promise<Settled> {
    const [settled] = await this.#queue.settle([settlement]);
    return settled as Settled;
  }
}

/** The tasks of one dequeue. */
export type Batch<T> = LeasedTask<T>[] & {
  /** When it is worth asking again, epoch ms: at once, or when the next delayed task is due or lease expires; null where nothing waits. */
  readonly nextDueAt: number | null;
  /** True where the queue is paused: it gives nothing until it is resumed. */
  readonly paused: boolean;
  /**
   * How many tasks this dequeue met, beside those that it gives, that it made dead letters of, because they could not be
   * decrypted or do not fit the schema.
   */
  readonly invalid: number;
};
