import { MAX_EMPTY_DEQUEUES } from "../kernel/lease/long-poll.ts";
import type { Batch } from "../kernel/lease/leased-task.ts";
import type { DequeueRequest } from "./drain-requests.ts";

/** From a dequeue that emptied the queue to the next one, while handlers run, ms; and over TCP, which bills none. */
const DEQUEUE_PAUSE = 1_000;
const CONNECTED_PAUSE = 100;

/**
 * In a drain that waits for tasks, except over TCP: the longest time from a dequeue that emptied the queue to the next
 * one, ms. Tasks that arrive one by one are then leased together.
 */
const GATHER = 1_000;

/** What a drain knows of the tasks that are left in its queue, and when to dequeue again. */
export class RemainingTasks {
  /** Whether the last dequeue left tasks. */
  hasMore = true;
  /** When to dequeue again if a handler is free, on the clock of `performance.now()`. */
  dequeueAgainAt = 0;
  /** No dequeue goes out before this time, so that tasks gather; on the same clock. */
  gatherUntil = 0;
  /** How long the drain waits for tasks, ms. */
  readonly #wait: number;
  readonly #pause: number;
  readonly #gather: number;
  /**
   * Whether to dequeue once more although the last dequeue emptied the queue: a consumer that took tasks
   * counts as active, so producers send it no wake.
   */
  #dequeueOnceMore = false;
  /** How many times the drain was notified of new tasks. */
  #notifications = 0;
  /**
   * How many handler calls had ended when a dequeue went out that found nothing. A call that ended since may
   * have enqueued tasks.
   */
  #emptyAt = -1;
  /** How many dequeues in a row found nothing although the queue reported ready tasks. */
  #emptyReplies = 0;

  /** @param connected whether the drain is over TCP */
  constructor(wait: number, connected: boolean) {
    this.#wait = wait;
    this.#gather = connected ? 0 : Math.min(GATHER, wait);
    this.#pause = connected ? CONNECTED_PAUSE : DEQUEUE_PAUSE;
  }

  /** Whether another dequeue may find tasks. */
  get mayHaveMore(): boolean {
    return this.hasMore || this.#dequeueOnceMore || this.#wait > 0;
  }

  /** @param endedCalls how many handler calls have ended */
  isEmpty(endedCalls: number): boolean {
    return this.#emptyAt === endedCalls;
  }

  /** Notes that new tasks have arrived. */
  notify(): void {
    this.#notifications++;
    this.#dequeueOnceMore = true;
    this.dequeueAgainAt = this.gatherUntil = 0;
  }

  /** Notes that a task of this drain is pending again. */
  noteRequeued(): void {
    this.#emptyAt = -1;
  }

  /**
   * Notes that a dequeue goes out.
   * @param endedCalls how many handler calls have ended
   * @returns a function to call with the reply, and with the `nextDueAt` that was known before it
   */
  dequeueSent(
    { max = 1, wait }: DequeueRequest,
    endedCalls: number,
  ): (reply: Batch<unknown>, dueAt: number | null) => void {
    const sentAt = performance.now();
    const hadMore = this.hasMore;
    const notifications = this.#notifications;
    return (reply, dueAt) => {
      this.hasMore = reply.length >= max || this.#leftMore(reply, dueAt, wait);
      const isEmpty = reply.length === 0 && !this.hasMore;
      if (isEmpty) this.#emptyAt = endedCalls;
      const notified = this.#notifications > notifications;
      this.#dequeueOnceMore = notified || (reply.length > 0 && !this.hasMore);
      // A dequeue did not wait if tasks were left before it. The next one does.
      const waits = this.#wait > 0 && (!isEmpty || (hadMore && wait === undefined));
      this.dequeueAgainAt = notified || this.hasMore || waits ? 0 : sentAt + this.#pause;
      this.gatherUntil = notified || this.hasMore ? 0 : performance.now() + this.#gather;
    };
  }

  /** Whether a dequeue left tasks although it returned fewer than it asked for. */
  #leftMore({ length, nextDueAt, invalid }: Batch<unknown>, dueAt: number | null, wait = 0): boolean {
    const foundSome = length + invalid > 0;
    if (foundSome) this.#emptyReplies = 0;
    if (nextDueAt === null || nextDueAt > Date.now()) return false;
    // A task whose leases expired comes in a smaller batch, and so do large tasks.
    if (foundSome) return true;
    // The front of the queue held more cancelled tasks than one dequeue drops. Or this clock is ahead, and
    // the next task is not due yet: then `nextDueAt` has not changed.
    return wait === 0 && nextDueAt !== dueAt && this.#emptyReplies++ < MAX_EMPTY_DEQUEUES;
  }
}
