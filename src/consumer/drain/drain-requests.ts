import { SluiceError } from "../../errors.ts";
import type { Batch } from "../../queue/tasks/leased-task.ts";
import type { DequeueOptions, Settled } from "../../queue/core/types.ts";
import { DurationEstimator } from "./duration-estimator.ts";
import type { InFlightTask } from "./in-flight-task.ts";
import { type Item, SettlementBuffer } from "./settlement-buffer.ts";
import type { TaskSource } from "./source.ts";

/** From a request that failed to the next, ms. */
const PAUSE = 1_000;
/** What each request is given, ms, even where the budget is over. */
const LEAST = 1_000;
/** Where a handler blocked the event loop, an answer may lie there unread: the time to read it, ms. */
const READING = 200;

const TOO_LATE =
  "Redis had not answered when the drain's budget ended: what was not settled is delivered again when its lease expires";

/** What a drain asks for; `wait` in ms. */
export type PullOptions = Pick<DequeueOptions, "max" | "lease" | "worker" | "token"> & {
  readonly wait?: number | undefined;
};

/**
 * A drain's requests. Two are under way at most: one that pulls, and settles what is finished; and, while that one
 * waits for tasks or is slow, one that settles only. All times are of the clock of `performance.now()`.
 */
export class DrainRequests<T> {
  /** What is to be settled. */
  readonly outbox = new SettlementBuffer<T>();
  readonly roundTrip = new DurationEstimator();
  pulling = false;
  /** Whether what pulls waits for tasks. */
  polling = false;
  settling = false;
  /** The first that failed. */
  failure: { readonly error: unknown } | undefined;
  /** When to try again after a failure. */
  retryAt = 0;
  /** True where the last try failed too. */
  gaveUp = false;
  /** A long poll that was cut short: the same again gives what it may have leased. */
  recall: PullOptions | undefined;
  readonly #source: TaskSource<T>;
  readonly #end: number;
  readonly #hear: (item: Item<T>, answer: Settled, sentAt: number) => void;
  readonly #waits = new AbortController();
  #others = new AbortController();
  #sentAt = 0;
  #abortAt: number | undefined;

  /**
   * @param end when all has to be over
   * @param hear is told what became of each settlement and extend
   */
  constructor(
    source: TaskSource<T>,
    end: number,
    hear: (item: Item<T>, answer: Settled, sentAt: number) => void,
  ) {
    this.#source = source;
    this.#end = end;
    this.#hear = hear;
  }

  get idle(): boolean {
    return !this.pulling && !this.settling;
  }

  /** Cuts a long poll short, and allows no other. */
  stopWaiting(): void {
    this.#waits.abort();
  }

  /** Gives up what is under way when the budget is over. */
  keepTime(isDue: (at: number) => boolean): void {
    if (this.idle) return;
    if (this.#abortAt === undefined) {
      if (!isDue(Math.max(this.#end, this.#sentAt + LEAST) - READING)) return;
      this.#abortAt = performance.now() + READING;
    }
    if (isDue(this.#abortAt)) {
      this.#abortAt = Number.POSITIVE_INFINITY;
      this.#others.abort();
      this.#others = new AbortController();
    }
  }

  /**
   * Extends, settles what the outbox has, and pulls where that is asked for.
   * @param last whether it is the last try after a failure
   * @param take is given what a pull gave, and when its tasks were leased at the earliest; after a long poll, when its
   *   answer came
   */
  async send(
    renewals: readonly InFlightTask<T>[],
    pull: PullOptions | undefined,
    last: boolean,
    take: (tasks: Batch<T>, leasedAt: number) => void,
  ): Promise<void> {
    const items = this.outbox.take(renewals);
    const waits = pull?.wait !== undefined;
    const sentAt = performance.now();
    this.#sentAt = sentAt;
    this.#abortAt = undefined;
    if (pull) this.recall = undefined;
    const underWay = pull ? "pulling" : "settling";
    this[underWay] = true;
    if (pull) this.polling = waits;
    const answer = await this.#exchange(items, pull, (waits ? this.#waits : this.#others).signal).catch(
      (error: unknown) => {
        this.outbox.putBack(items);
        if (waits && this.#waits.signal.aborted) this.recall = { ...pull, wait: undefined };
        else this.#fail(error, last);
      },
    );
    this[underWay] = false;
    if (pull) this.polling = false;
    if (!answer) return;
    const answeredAt = performance.now();
    if (!waits) this.roundTrip.add(answeredAt - sentAt);
    if (answer.tasks) take(answer.tasks, waits ? answeredAt : sentAt);
    for (const [i, item] of items.entries()) this.#hear(item, answer.settled[i] as Settled, sentAt);
  }

  async #exchange(
    items: readonly Item<T>[],
    pull: PullOptions | undefined,
    signal: AbortSignal,
  ): Promise<{ settled: Settled[]; tasks?: Batch<T> }> {
    const settlements = items.map(({ settlement }) => settlement);
    if (!pull) return { settled: await this.#source.settle(settlements, { signal }) };
    return items.length > 0
      ? this.#source.settleAndDequeue(settlements, { ...pull, signal })
      : { settled: [], tasks: await this.#source.dequeue({ ...pull, signal }) };
  }

  #fail(error: unknown, last: boolean): void {
    const now = performance.now();
    const late = error instanceof SluiceError && error.code === "aborted";
    this.failure ??= { error: late ? new SluiceError("redis_unreachable", TOO_LATE) : error };
    this.retryAt = now + PAUSE;
    this.gaveUp ||= last || now >= this.#end;
  }
}
