import type { RequestBudget } from "../drain/request-budget.ts";
import { noteRedisTime, redisTime } from "../kernel/clock.ts";
import type { Transport } from "../kernel/transport.ts";
import type { Waker } from "../features/waking/index.ts";
import { addCounts, isEarly } from "../drain/drain-counts.ts";
import type { DrainReport } from "../drain/types.ts";
import { HandedOver } from "../features/hand-over/index.ts";

interface RunningDrain {
  readonly done: Promise<DrainReport>;
  /** Makes it pull again at once. Returns whether it can begin another task at once. */
  pullNow: () => boolean;
}

/** The drains that run in one process, or in one invocation: at most one for each queue. */
export class Drains {
  /** How many requests the invocation may send; undefined for any number. */
  readonly requests: RequestBudget | undefined;
  /** What counts the requests of the invocation. */
  #counted: { readonly transport: Transport; readonly by: Transport } | undefined;
  readonly #running = new Map<string, RunningDrain>();
  /** The queues with a running drain that were woken again. */
  readonly #wokenAgain = new Set<string>();
  readonly #handedOver = new Map<string, HandedOver>();
  /** The queues to which tasks with a delay were added here. */
  readonly #delayed = new Set<string>();

  constructor(requests?: RequestBudget) {
    this.requests = requests;
  }

  /** The transport that counts the requests of the invocation, if they are limited. */
  counted(transport: Transport): Transport {
    if (!this.requests) return transport;
    this.#counted ??= { transport, by: this.requests.counted(transport) };
    return this.#counted.by;
  }

  /** A waker that counts the requests of the invocation, if they are limited. */
  countedWaker(waker: Waker): Waker {
    const { requests } = this;
    if (!requests) return waker;
    const wake: Waker["wake"] = (queue) => {
      requests.use();
      return waker.wake(queue);
    };
    return { ...waker, wake };
  }

  /** Makes what a sweep of the invocation has learnt of Redis's time known to the transport itself. */
  shareTime(): void {
    if (this.#counted) noteRedisTime(this.#counted.transport, redisTime(this.#counted.by));
  }

  /**
   * Drains a queue. If a drain of the queue is running, that drain pulls again at once, even if it has just found
   * the queue empty.
   * @param drain drains the queue once
   */
  run(queue: string, drain: () => Promise<DrainReport>): Promise<DrainReport> {
    const running = this.#running.get(queue);
    if (running) {
      this.pullAgain(queue);
      return running.done;
    }
    // Starts after the entry is set, because the drain reads it.
    const started = {
      done: Promise.resolve().then(() => this.#untilNotWoken(queue, drain)),
      pullNow: () => true,
    };
    this.#running.set(queue, started);
    return started.done;
  }

  /** Makes the running drain of a queue pull again, as {@link run} does. Returns whether there is one. */
  pullAgain(queue: string): boolean {
    const running = this.#running.get(queue);
    if (!running) return false;
    this.#wokenAgain.add(queue);
    running.pullNow();
    return true;
  }

  /** Sets what makes the running drain of a queue pull again. */
  onWake(queue: string, pullNow: () => boolean): void {
    const running = this.#running.get(queue);
    if (running) running.pullNow = pullNow;
  }

  /** Whether a drain of the queue is running. */
  isRunning(queue: string): boolean {
    return this.#running.has(queue);
  }

  /** The tasks of a queue that enqueues here have leased for its drain. */
  handedOver(queue: string): HandedOver {
    const known = this.#handedOver.get(queue);
    if (known) return known;
    const handedOver = new HandedOver(() => this.#delayed.has(queue) || this.isWokenAgain(queue));
    this.#handedOver.set(queue, handedOver);
    return handedOver;
  }

  /** Notes that a task with a delay was added to a queue here. Its drain then looks for it. */
  noteDelayed(queue: string): void {
    this.#delayed.add(queue);
  }

  /** Whether a drain of the queue is running that cannot begin another task at once. It pulls again. */
  isBusy(queue: string): boolean {
    return this.#running.get(queue)?.pullNow() === false;
  }

  /** Whether the queue was woken again since its drain began. */
  isWokenAgain(queue: string): boolean {
    return this.#wokenAgain.has(queue);
  }

  async #untilNotWoken(queue: string, drain: () => Promise<DrainReport>): Promise<DrainReport> {
    try {
      let all: DrainReport | undefined;
      for (;;) {
        this.#wokenAgain.delete(queue);
        const report = await drain();
        all = all ? sum(all, report) : report;
        const over = report.ended === "aborted" || isEarly(report.ended);
        if (over || !this.#wokenAgain.has(queue)) return all;
      }
    } finally {
      this.#running.delete(queue);
    }
  }
}

/** One report for both: the counts are added up, the rest is that of the second. */
export function sum(first: DrainReport, then: DrainReport): DrainReport {
  return { ...then, ...addCounts(first, then) };
}
