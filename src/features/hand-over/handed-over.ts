import type { SettleBatch, Store, Taken, TakeRequest } from "../../kernel/store.ts";

/** How often drains look for what is due while their tasks complete, ms: as often as cron at most. */
const LOOK_EVERY = 60_000;

/** How long a drain relies on a look of its own, ms. */
const OWN_LOOK = 10_000;

/** The tasks that enqueues have leased for the drains of a queue in one process or invocation. */
export class HandedOver {
  readonly #waiting: Taken[] = [];
  /** Whether a drain must look for what is due. */
  readonly #mustLook: () => boolean;
  /** When a drain here last looked, on the clock of `performance.now()`, and when the next task was due then. */
  #lookedAt = Number.NEGATIVE_INFINITY;
  #nextDueAt: number | null = null;
  /** How many settles have put tasks back, and how many of them were before the last look. */
  #putBack = 0;
  #putBackBefore = 0;

  /** @param mustLook whether tasks may be due that nothing else looks for */
  constructor(mustLook: () => boolean) {
    this.#mustLook = mustLook;
  }

  /** Adds tasks for the next dequeue of a drain. */
  add(taken: Taken): void {
    this.#waiting.push(taken);
  }

  /** Removes the tasks that no drain has begun. */
  takeRest(): readonly Taken[] {
    return this.#waiting.splice(0);
  }

  /**
   * The store of a drain. A dequeue takes what was handed over, without a request. One that settles completed tasks
   * need not look for what is due if that was done lately.
   */
  readonly layer = (next: Store): Store => ({
    ...next,
    take: async (request) => this.#waiting.shift() ?? this.#looking(request)(await next.take(request)),
    settle: (batch) => {
      this.#notePutBack(batch);
      return next.settle(batch);
    },
    settleAndTake: async (batch, request) => {
      const handed = this.#waiting.shift();
      if (!handed) return this.#settleAndTake(next, batch, request);
      this.#notePutBack(batch);
      try {
        return { ...(await next.settle(batch)), taken: async () => handed };
      } catch (error) {
        this.#waiting.unshift(handed);
        throw error;
      }
    },
  });

  #notePutBack(batch: SettleBatch): void {
    if (!onlyCompletes(batch)) this.#putBack++;
  }

  async #settleAndTake(next: Store, batch: SettleBatch, request: TakeRequest) {
    const lookAfter = request.last && onlyCompletes(batch) ? this.#lookAfter : undefined;
    this.#notePutBack(batch);
    const noting = this.#looking(request);
    const reply = await next.settleAndTake(batch, { ...request, lookAfter });
    const taken = async () => {
      const taken = await reply.taken();
      const mayHaveLooked = lookAfter === undefined || taken.nextDueAt !== null;
      return mayHaveLooked ? noting(taken) : { ...taken, nextDueAt: this.#nextDueAt };
    };
    return { ...reply, taken };
  }

  /** How long a settle of completed tasks relies on the last look, ms; undefined if it must look. */
  get #lookAfter(): number | undefined {
    const isDue = this.#nextDueAt !== null && this.#nextDueAt <= Date.now();
    if (isDue || this.#putBack > this.#putBackBefore || this.#mustLook()) return undefined;
    return performance.now() - this.#lookedAt < OWN_LOOK ? Number.MAX_SAFE_INTEGER : LOOK_EVERY;
  }

  /** Called before a dequeue is sent: returns what notes its reply. A reply with too few tasks is that of a look. */
  #looking({ max }: TakeRequest): (taken: Taken) => Taken {
    const putBack = this.#putBack;
    return (taken) => {
      if (taken.tasks.length < max) {
        this.#lookedAt = performance.now();
        this.#nextDueAt = taken.nextDueAt;
        this.#putBackBefore = putBack;
      }
      return taken;
    };
  }
}

const onlyCompletes = ({ settlements }: SettleBatch) =>
  settlements.every(({ outcome }) => outcome === "complete");
