/** How many answers callers get in one turn of the event loop. */
const PER_TURN = 10;

/**
 * Hands out answers a few in each turn of the event loop. Redis answers many calls at once, and a caller often calls again
 * when it is answered. If all were answered in one turn, all of their next calls would leave together at its end: Redis
 * would rest until then, and the callers would rest while it works.
 */
export class PacedAnswers {
  #given = 0;
  readonly #waiting: (() => void)[] = [];

  /** Resolves when the next answer may be handed out, in the order of asking. */
  async turn(): Promise<void> {
    if (this.#given === 0) setImmediate(this.#next);
    if (this.#given++ < PER_TURN) return;
    await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  readonly #next = () => {
    const some = this.#waiting.splice(0, PER_TURN);
    this.#given = some.length;
    if (some.length > 0) setImmediate(this.#next);
    for (const resolve of some) resolve();
  };
}
