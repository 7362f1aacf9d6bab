import type { Backoff } from "../queue/backoff.ts";
import type { HeldTask, Verdict } from "./drain.ts";
import { Estimate } from "./estimate.ts";
import { StoppedError, type StopReason } from "./failures.ts";
import { Call, type Held } from "./held.ts";
import { handBack, type Sendable, settlementOf, verdictOn } from "./verdict.ts";

/** How long handlers may follow one another before the event loop gets a turn, ms: requests need turns. */
const TURN = 10;

/** One call of a handler: a verdict for each task. */
export type Work<T> = (tasks: readonly HeldTask<T>[], signal: AbortSignal) => Promise<readonly Verdict[]>;

export interface HandsOptions {
  readonly concurrency: number;
  /** ms; Infinity for none. */
  readonly timeout: number;
  readonly backoff: Backoff | true;
  /** How long a handler that is to stop has to do so, ms. */
  readonly grace: number;
}

/** The calls of the handler: those that wait for their turn, and those that run. */
export class Hands<T> {
  /** How many calls have begun. */
  begun = 0;
  /** How many calls have ended. */
  ended = 0;
  /** When a call ended for the first time since this was set to undefined. */
  firstEndAt: number | undefined;
  readonly #work: Work<T>;
  readonly #options: HandsOptions;
  readonly #settle: (item: Sendable, by: number) => void;
  readonly #changed: () => void;
  readonly #running = new Set<Call<T>>();
  #waiting: (readonly Held<T>[])[] = [];
  /** How long a call takes that nobody stopped. */
  readonly #duration = new Estimate();
  #turnAt = 0;

  /**
   * @param settle takes the settlement of each task that is done with, and when it has to go
   * @param changed is called when a handler has returned
   */
  constructor(
    work: Work<T>,
    options: HandsOptions,
    settle: (item: Sendable, by: number) => void,
    changed: () => void,
  ) {
    this.#work = work;
    this.#options = options;
    this.#settle = settle;
    this.#changed = changed;
  }

  get idle(): boolean {
    return this.#running.size === 0 && this.#waiting.length === 0;
  }

  /** Whether a call could begin if there was a task. */
  get free(): boolean {
    return this.#waiting.length === 0 && this.#running.size < this.#options.concurrency;
  }

  /** What a call seldom exceeds, ms, as far as is known. */
  get most(): number {
    return Math.min(this.#duration.most, this.#options.timeout);
  }

  /** The tasks whose leases have to last. */
  get held(): Held<T>[] {
    return [...this.#waiting, ...Array.from(this.#running, ({ held }) => held)]
      .flat()
      .filter(({ over }) => !over);
  }

  /** How many calls, at most so many, can begin early enough to end within `ms`, where none waits. */
  room(ms: number, most: number): number {
    const spare = ms - this.most;
    if (spare < 0) return 0;
    const { mean } = this.#duration;
    const rounds = mean > 0 ? Math.min(most, Math.floor(spare / mean)) : most;
    return Math.min(most, this.#options.concurrency * (rounds + 1) - this.#running.size);
  }

  add(calls: readonly (readonly Held<T>[])[]): void {
    this.#waiting.push(...calls);
  }

  /** The event loop has had a turn. */
  turn(): void {
    this.#turnAt = performance.now();
  }

  /**
   * Begins what waits, as far as handlers are free.
   * @param end when all has to be over, on the clock of `performance.now()`
   * @returns what is in the way of the next one, where that is not that all are busy
   */
  begin(end: number): "time" | "turn" | "lease" | undefined {
    for (let next; (next = this.#waiting[0]) && this.#running.size < this.#options.concurrency;) {
      const now = performance.now();
      if (now + this.most > end) return "time";
      if (now - this.#turnAt > TURN) return "turn";
      if (next.some(({ over, beginBy }) => !over && beginBy < now)) return "lease";
      const held = this.#waiting.shift()?.filter((one) => this.#isWanted(one)) ?? [];
      if (held.length > 0) this.#call(new Call(held, this.#options.timeout));
    }
    return undefined;
  }

  /** Gives back what waits. */
  giveBack(): void {
    for (const held of this.#waiting.splice(0).flat()) {
      if (!held.over) this.#handBack(held);
    }
  }

  /** Stops what runs; what has not ended when the grace is over is given up. */
  stop(code: StopReason): void {
    const error = new StoppedError(code);
    const cutOffAt = performance.now() + this.#options.grace;
    for (const call of this.#running) call.stop(error, cutOffAt);
  }

  /** Stops one task. One that waits is given back when its turn comes. */
  stopOne(held: Held<T>, code: StopReason): void {
    const error = new StoppedError(code);
    held.stop(error);
    for (const call of this.#running) call.heed(error);
  }

  /**
   * Stops the calls whose timeout is over, and gives up those that did not heed it.
   * @param isDue whether an instant has come
   * @returns whether any was given up
   */
  keepTime(isDue: (at: number) => boolean): boolean {
    const { ended } = this;
    for (const call of this.#running) {
      if (call.stopped === undefined && isDue(call.timeoutAt)) {
        call.stop(new StoppedError("timeout"), performance.now() + this.#options.grace);
      }
      if (isDue(call.cutOffAt)) this.#fail(call, call.stopped);
    }
    return this.ended > ended;
  }

  #call(call: Call<T>): void {
    this.#running.add(call);
    this.begun++;
    this.#work(
      call.held.map(({ shown }) => shown),
      call.signal,
    ).then(
      (verdicts) => {
        this.#end(call, verdicts);
        this.#changed();
      },
      (thrown: unknown) => {
        this.#fail(call, thrown);
        this.#changed();
      },
    );
  }

  #fail(call: Call<T>, thrown: unknown): void {
    const verdict = verdictOn(thrown, this.#options.backoff);
    this.#end(
      call,
      call.held.map(() => verdict),
    );
  }

  #end(call: Call<T>, verdicts: readonly Verdict[]): void {
    // Given up before: this comes too late.
    if (!this.#running.delete(call)) return;
    const now = performance.now();
    if (call.stopped === undefined) this.#duration.add(now - call.beganAt);
    this.ended++;
    this.firstEndAt ??= now;
    for (const [i, held] of call.held.entries()) {
      if (held.over) continue;
      held.over = true;
      this.#settle(settlementOf(held.task, verdicts[i] as Verdict), held.renewAt(false));
    }
  }

  /** Of a task that waited: its lease may be lost, or it was cancelled. */
  #isWanted(held: Held<T>): boolean {
    if (held.over) return false;
    if (held.stopped) this.#handBack(held);
    return !held.stopped;
  }

  #handBack(held: Held<T>): void {
    held.over = true;
    this.#settle(handBack(held.task), held.renewAt(false));
  }
}
