import type { SettleBatch, Store, Taken, TakeRequest } from "../../kernel/store.ts";

/** How long a drain need not look again for what is due, ms. */
const LOOK_EVERY = 10_000;

/** The tasks that enqueues have leased for the drains of a queue in one process or invocation. */
export class HandedOver {
  #waiting: Taken[] = [];
  /** Whether a drain must look for what is due. */
  readonly #mustLook: () => boolean;
  /** When a drain last looked, on the clock of `performance.now()`, and when the next task was due then. */
  #lookedAt = Number.NEGATIVE_INFINITY;
  #nextDueAt: number | null = null;

  /** @param mustLook whether tasks may be due that nothing else looks for */
  constructor(mustLook: () => boolean) {
    this.#mustLook = mustLook;
  }

  /** Adds tasks for the next dequeue of a drain. */
  add(taken: Taken): void {
    // Of what is due, sweeps take care: a drain that begins with tasks need not look at once.
    if (this.#waiting.length === 0) this.#looked(null);
    this.#waiting.push(taken);
  }

  /** Removes the tasks that no drain has begun. */
  takeRest(): readonly Taken[] {
    return this.#waiting.splice(0);
  }

  /**
   * The store of a drain. A dequeue takes what was handed over, without a request. One that settles completed tasks
   * does not look for what is due if that was done within ten seconds.
   */
  readonly layer = (next: Store): Store => ({
    ...next,
    take: async (request) => this.#waiting.shift() ?? this.#noting(request, await next.take(request)),
    settleAndTake: async (batch, request) => {
      const handed = this.#waiting.shift();
      if (!handed) return this.#settleAndTake(next, batch, request);
      try {
        return { ...(await next.settle(batch)), taken: async () => handed };
      } catch (error) {
        this.#waiting.unshift(handed);
        throw error;
      }
    },
  });

  async #settleAndTake(next: Store, batch: SettleBatch, request: TakeRequest) {
    const { last } = request;
    const readyOnly =
      last && this.#isKnown && batch.settlements.every(({ outcome }) => outcome === "complete");
    const reply = await next.settleAndTake(batch, { ...request, readyOnly });
    const taken = async () => {
      const taken = await reply.taken();
      return readyOnly && taken.nextDueAt === null
        ? { ...taken, nextDueAt: this.#nextDueAt }
        : this.#noting(request, taken);
    };
    return { ...reply, taken };
  }

  /** Whether it is known when the next task is due. */
  get #isKnown(): boolean {
    const isDue = this.#nextDueAt !== null && this.#nextDueAt <= Date.now();
    return !isDue && performance.now() - this.#lookedAt < LOOK_EVERY && !this.#mustLook();
  }

  /** A dequeue that finds fewer tasks than it asked for looks for what is due. */
  #noting({ max }: TakeRequest, taken: Taken): Taken {
    if (taken.tasks.length < max) this.#looked(taken.nextDueAt);
    return taken;
  }

  #looked(nextDueAt: number | null): void {
    this.#lookedAt = performance.now();
    this.#nextDueAt = nextDueAt;
  }
}
