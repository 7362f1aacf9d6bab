/** How many replies callers get in one turn of the event loop. */
const PER_TURN = 10;

/**
 * Hands out a few replies in each turn of the event loop. Redis answers many calls at once, and a caller
 * often calls again when it is answered. If one turn handed out all replies, all next calls would leave
 * together at its end. Redis would be idle during the turn, and the callers would be idle while Redis works.
 */
export class ReplyPacer {
  #handedOut = 0;
  readonly #waiting: (() => void)[] = [];

  /** Resolves when the next reply may be handed out, in the order of the calls. */
  async turn(): Promise<void> {
    if (this.#handedOut === 0) setImmediate(this.#next);
    if (this.#handedOut++ < PER_TURN) return;
    await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  readonly #next = () => {
    const some = this.#waiting.splice(0, PER_TURN);
    this.#handedOut = some.length;
    if (some.length > 0) setImmediate(this.#next);
    for (const resolve of some) resolve();
  };
}
