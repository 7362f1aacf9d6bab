import { MAX_EMPTY_DEQUEUES } from "../../queue/tasks/long-poll.ts";
import type { Batch } from "../../queue/tasks/leased-task.ts";
import type { PullOptions } from "./drain-requests.ts";

/** From a pull that left nothing to the next, while handlers run, ms. */
const PAUSE = 1_000;

/** In a drain that waits for tasks, from a pull that left nothing to the next at most, ms: it takes a trickle together. */
const GATHER = 500;

/** What a drain knows of what is left in its queue. */
export class Prospect {
  /** Whether the last pull left something. */
  more = true;
  /** When to pull again where a hand is free, on the clock of `performance.now()`. */
  pullAgainAt = 0;
  /** Until when no pull goes out, so that tasks gather, on the same clock. */
  gathersUntil = 0;
  /** How long the drain waits for tasks, ms. */
  readonly #wait: number;
  /**
   * Whether to pull once more although the last pull left nothing: a consumer that took tasks counts as awake, so an enqueue
   * soon after wakes nobody.
   */
  #onceMore = false;
  /** How often somebody said that more has come. */
  #told = 0;
  /** How many calls had ended when a pull went out that found nothing: one that ended since may have enqueued. */
  #emptyAt = -1;
  /** How many pulls in a row found nothing although something was said to be ready. */
  #inVain = 0;

  constructor(wait: number) {
    this.#wait = wait;
  }

  get mayBeMore(): boolean {
    return this.more || this.#onceMore || this.#wait > 0;
  }

  /** @param ended how many calls have ended */
  isEmpty(ended: number): boolean {
    return this.#emptyAt === ended;
  }

  /** Somebody says that more has come. */
  told(): void {
    this.#told++;
    this.#onceMore = true;
    this.pullAgainAt = this.gathersUntil = 0;
  }

  /** A task has become pending again. */
  filled(): void {
    this.#emptyAt = -1;
  }

  /**
   * @param ended how many calls have ended
   * @returns a function to be called with what this pull gave, and when more was expected before it, epoch ms
   */
  goesOut(
    { max = 1, wait }: PullOptions,
    ended: number,
  ): (given: Batch<unknown>, dueAt: number | null) => void {
    const sentAt = performance.now();
    const { more } = this;
    const told = this.#told;
    return (given, dueAt) => {
      this.more = given.length >= max || this.#leftSome(given, dueAt, wait);
      const isEmpty = given.length === 0 && !this.more;
      if (isEmpty) this.#emptyAt = ended;
      const heard = this.#told > told;
      this.#onceMore = heard || (given.length > 0 && !this.more);
      // One that did not wait, for there was more, leaves that to the next.
      const waits = this.#wait > 0 && (!isEmpty || (more && wait === undefined));
      this.pullAgainAt = heard || this.more || waits ? 0 : sentAt + PAUSE;
      this.gathersUntil = heard || this.more ? 0 : performance.now() + Math.min(GATHER, this.#wait);
    };
  }

  /** Whether a pull left something although it gave fewer than asked for. */
  #leftSome({ length, nextDueAt, invalid }: Batch<unknown>, dueAt: number | null, wait = 0): boolean {
    const some = length + invalid > 0;
    if (some) this.#inVain = 0;
    if (nextDueAt === null || nextDueAt > Date.now()) return false;
    // One that may be a killer travels alone, and large ones do.
    if (some) return true;
    // More cancelled ones stood in front than one pull drops. If it is this clock that is ahead, then what is not due yet
    // stays due at the same time.
    return wait === 0 && nextDueAt !== dueAt && this.#inVain++ < MAX_EMPTY_DEQUEUES;
  }
}
