import type { Queue } from "./queue.ts";
import type { Duration, Settled } from "./types.ts";

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
  readonly headers: Readonly<Record<string, string>> | undefined;
  readonly #queue: Pick<Queue, "settle">;

  constructor(
    queue: Pick<Queue, "settle">,
    task: Pick<
      LeasedTask<T>,
      "id" | "receipt" | "payload" | "attempt" | "enqueuedAt" | "deadlineAt" | "headers"
    >,
  ) {
    this.#queue = queue;
    this.id = task.id;
    this.receipt = task.receipt;
    this.payload = task.payload;
    this.attempt = task.attempt;
    this.enqueuedAt = task.enqueuedAt;
    this.deadlineAt = task.deadlineAt;
    this.headers = task.headers;
  }

  /** Ends the task as completed; the result is kept for its `resultTtl`. */
  async complete(result?: unknown): Promise<Settled> {
    return this.#settle({ receipt: this.receipt, outcome: "complete", result });
  }

  /** Ends the task as a dead letter. */
  async reject(error?: unknown): Promise<Settled> {
    return this.#settle({ receipt: this.receipt, outcome: "reject", error });
  }

  /**
   * Gives the task back, for another attempt after `delay` (at once by default), behind those that wait.
   * On the last attempt it becomes a dead letter, and the answer says so. `count: false` refunds the attempt.
   */
  async requeue(options: { delay?: Duration; count?: boolean; error?: unknown } = {}): Promise<Settled> {
    return this.#settle({ receipt: this.receipt, outcome: "requeue", ...options });
  }

  /**
   * Moves the deadline to `lease` from now, never to an earlier one.
   * @param lease by default what the lease was at dequeue
   */
  async extend(lease?: Duration): Promise<Settled> {
    return this.#settle({ receipt: this.receipt, outcome: "extend", lease });
  }

  async #settle(settlement: Parameters<Queue["settle"]>[0][number]): Promise<Settled> {
    const [settled] = await this.#queue.settle([settlement]);
    return settled as Settled;
  }
}
