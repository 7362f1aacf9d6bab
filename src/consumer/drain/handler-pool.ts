import type { Backoff } from "../../queue/core/backoff.ts";
import type { Task, TaskOutcome } from "./types.ts";
import { DurationEstimator } from "./duration-estimator.ts";
import { StoppedError, type StopReason } from "./failures.ts";
import { HandlerCall, type InFlightTask } from "./in-flight-task.ts";
import { handBack, type Sendable, settlementOf, outcomeOf } from "./to-settlement.ts";

/** How long handlers may follow one another before the event loop gets a turn, ms: requests need turns. */
const TURN = 10;

/** What a call takes at least, ms: some clocks stand still while nothing is sent or received. */
const SHORTEST = 0.01;

/** One call of a handler: an outcome for each task. The signal is that of the call. */
export type Work<T> = (
  tasks: readonly Task<T>[],
  call: { readonly signal: AbortSignal },
) => Promise<readonly TaskOutcome[]>;

export interface HandlerPoolOptions {
  readonly concurrency: number;
  /** ms; Infinity for none. */
  readonly timeout: number;
  readonly backoff: Backoff | true;
  /** How long a handler that is to stop has to do so, ms. */
  readonly grace: number;
}

/** The calls of the handler: those that wait for their turn, and those that run. */
export class HandlerPool<T> {
  /** How many calls have begun. */
  begun = 0;
  /** How many calls have ended. */
  ended = 0;
  /** When a call ended for the first time since this was set to undefined. */
  firstEndAt: number | undefined;
  /** Not later than the first lease has to be extended. */
  #renewAt = Number.POSITIVE_INFINITY;
  /** Not later than the first call is to be stopped, or given up. */
  #stopAt = Number.POSITIVE_INFINITY;
  readonly #work: Work<T>;
  readonly #options: HandlerPoolOptions;
  readonly #settle: (item: Sendable, by: number) => void;
  readonly #changed: () => void;
  readonly #running = new Set<HandlerCall<T>>();
  #waiting: (readonly InFlightTask<T>[])[] = [];
  /** How long a call takes that nobody stopped. */
  readonly #duration = new DurationEstimator();
  #turnAt = 0;

  /**
   * @param settle takes the settlement of each task that is done with, and when it has to go
   * @param changed is called when a handler has returned: another may by then have, too
   */
  constructor(
    work: Work<T>,
    options: HandlerPoolOptions,
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
    return this.#waiting.length === 0 && this.vacant > 0;
  }

  /** How many more calls could run. */
  get vacant(): number {
    return this.#options.concurrency - this.#running.size;
  }

  /** How many calls wait for their turn. */
  get waiting(): number {
    return this.#waiting.length;
  }

  /** What a call seldom exceeds, ms, as far as is known. */
  get most(): number {
    return Math.min(this.#duration.most, this.#options.timeout);
  }

  /** How long a call takes, ms; 0 as long as nobody knows. */
  get mean(): number {
    return this.#duration.mean;
  }

  /** How many calls begin within `ms` where enough wait; 0 as long as nobody knows. */
  beginWithin(ms: number): number {
    if (!this.#duration.known) return 0;
    return (this.#options.concurrency * ms) / Math.max(this.#duration.mean, SHORTEST);
  }

  /** Whether a call is likely to end by then: the one that began first, or is about to begin. */
  endsBy(at: number): boolean {
    const [first] = this.#running;
    return !this.idle && (first?.beganAt ?? performance.now()) + this.#duration.mean <= at;
  }

  /** How many more calls, at most so many, can begin early enough to end within `ms`. */
  room(ms: number, most: number): number {
    const spare = ms - this.most;
    if (spare < 0) return 0;
    const { mean } = this.#duration;
    const rounds = mean > 0 ? Math.min(most, Math.floor(spare / mean)) : most;
    const begun = this.#running.size + this.#waiting.length;
    return Math.max(0, Math.min(most, this.#options.concurrency * (rounds + 1) - begun));
  }

  /** Whether a lease has to be extended. */
  renews(isDue: (at: number) => boolean): boolean {
    if (!isDue(this.#renewAt)) return false;
    this.#renewAt = Number.POSITIVE_INFINITY;
    for (const held of this.#held()) this.#renewAt = Math.min(this.#renewAt, held.renewAt(false));
    return isDue(this.#renewAt);
  }

  /** The tasks whose leases a request that goes out now may as well extend. */
  renewals(now: number): InFlightTask<T>[] {
    return [...this.#held()].filter((held) => held.renewAt(true) <= now);
  }

  add(calls: readonly (readonly InFlightTask<T>[])[]): void {
    this.#waiting.push(...calls);
    for (const held of calls.flat()) this.#renewAt = Math.min(this.#renewAt, held.renewAt(false));
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
      if (held.length > 0) this.#call(new HandlerCall(held, this.#options.timeout));
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
    this.#stopAt = Math.min(this.#stopAt, cutOffAt);
  }

  /** Stops one task. One that waits is given back when its turn comes. */
  stopOne(held: InFlightTask<T>, code: StopReason): void {
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
    if (!isDue(this.#stopAt)) return false;
    const { ended } = this;
    this.#stopAt = Number.POSITIVE_INFINITY;
    for (const call of this.#running) {
      if (call.stopped === undefined && isDue(call.timeoutAt)) {
        call.stop(new StoppedError("timeout"), performance.now() + this.#options.grace);
      }
      if (isDue(call.cutOffAt)) this.#fail(call, call.stopped);
      this.#stopAt = Math.min(this.#stopAt, call.stopped ? call.cutOffAt : call.timeoutAt);
    }
    return this.ended > ended;
  }

  #call(call: HandlerCall<T>): void {
    this.#running.add(call);
    this.#stopAt = Math.min(this.#stopAt, call.timeoutAt);
    this.begun++;
    this.#work(
      call.held.map(({ shown }) => shown),
      call,
    ).then(
      (outcomes) => {
        this.#end(call, outcomes);
        this.#changed();
      },
      (thrown: unknown) => {
        this.#fail(call, thrown);
        this.#changed();
      },
    );
  }

  #fail(call: HandlerCall<T>, thrown: unknown): void {
    const outcome = outcomeOf(thrown, this.#options.backoff);
    this.#end(
      call,
      call.held.map(() => outcome),
    );
  }

  #end(call: HandlerCall<T>, outcomes: readonly TaskOutcome[]): void {
    // Given up before: this comes too late.
    if (!this.#running.delete(call)) return;
    const now = performance.now();
    if (call.stopped === undefined) this.#duration.add(now - call.beganAt);
    this.ended++;
    this.firstEndAt ??= now;
    for (const [i, held] of call.held.entries()) {
      if (held.over) continue;
      held.over = true;
      this.#settle(settlementOf(held.task, outcomes[i] as TaskOutcome), held.renewAt(false));
    }
  }

  /** The tasks whose leases have to last. */
  *#held(): Generator<InFlightTask<T>> {
    for (const { held } of this.#running) yield* held.filter(({ over }) => !over);
    for (const held of this.#waiting) yield* held.filter(({ over }) => !over);
  }

  /** Of a task that waited: its lease may be lost, or it was cancelled. */
  #isWanted(held: InFlightTask<T>): boolean {
    if (held.over) return false;
    if (held.stopped) this.#handBack(held);
    return !held.stopped;
  }

  #handBack(held: InFlightTask<T>): void {
    held.over = true;
    this.#settle(handBack(held.task), held.renewAt(false));
  }
}
