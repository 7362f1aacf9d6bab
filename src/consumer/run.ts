import { LONGEST_TIMER } from "../sleep.ts";
import { newToken } from "../queue/identity.ts";
import { IN_VAIN } from "../queue/long-poll.ts";
import type { Batch } from "../queue/queue.ts";
import type { Settled, Worker } from "../queue/types.ts";
import type { DrainReport } from "./drain.ts";
import { Hands, type HandsOptions, type Work } from "./hands.ts";
import { Held } from "./held.ts";
import type { Item } from "./outbox.ts";
import { type PullOptions, Requests } from "./requests.ts";
import type { TaskSource } from "./source.ts";
import { Tally } from "./tally.ts";

/** How long a free handler waits for those that are about to end too, ms: one request then serves them all. */
const LINGER = 5;
/** From a pull that left nothing to the next, while handlers run, ms. */
const PAUSE = 1_000;
/** How long before the end a long poll is over: its last look takes a request, ms. */
const LAST_LOOK = 100;

/** A drain's options, checked; durations in ms. */
export interface RunOptions extends Omit<HandsOptions, "grace"> {
  readonly budget: number;
  readonly batch: number;
  /** Whether one call takes all tasks of a pull. */
  readonly together: boolean;
  readonly lease: number | undefined;
  readonly extendEvery: number;
  readonly wait: number;
  readonly worker: Worker | undefined;
  readonly signal: AbortSignal | undefined;
  readonly closing: AbortSignal | undefined;
  readonly listen: ((look: () => void) => void) | undefined;
}

/**
 * One drain. Whatever happens (a handler returns, a request is answered, a timer fires) leads to a step: it does all
 * that is due, and sets one timer for what is due next. Every request that goes out takes along what it can.
 */
export class Run<T> {
  readonly #options: RunOptions;
  readonly #hands: Hands<T>;
  readonly #requests: Requests<T>;
  readonly #tally = new Tally();
  /** When all has to be over, on the clock of `performance.now()`. */
  readonly #end: number;
  readonly #grace: number;
  #finish: (failure?: { readonly error: unknown }) => void = () => {};
  #timer: ReturnType<typeof setTimeout> | undefined;
  #wakeAt = 0;
  #over = false;
  /** Why no more tasks are begun, once that is so. */
  #closed: DrainReport["ended"] | undefined;
  /** Whether the handlers were told to stop. */
  #stopped = false;
  /** Whether the last pull left something. */
  #more = true;
  /**
   * Whether to look once more although it left nothing: who enqueues soon after it wakes nobody, for whoever took tasks
   * counts as awake.
   */
  #onceMore = false;
  /** How often somebody said that more has come. */
  #looks = 0;
  #pullAgainAt = 0;
  /** How many calls had ended when a pull went out that found nothing: one that ended since may have enqueued. */
  #emptyAt = -1;
  /** How many pulls in a row found nothing although something was said to be ready. */
  #inVain = 0;

  constructor(source: TaskSource<T>, work: Work<T>, options: RunOptions) {
    this.#options = options;
    this.#end = performance.now() + options.budget;
    this.#grace = Math.min(500, options.budget / 10);
    this.#requests = new Requests(source, this.#end, this.#hear);
    this.#hands = new Hands(
      work,
      { ...options, grace: this.#grace },
      (item, by) => this.#requests.outbox.add(item, by),
      () => this.#step(),
    );
  }

  /** @throws the first fault of a request */
  report(): Promise<DrainReport> {
    const { signal, closing, listen } = this.#options;
    listen?.(this.#look);
    return new Promise((resolve, reject) => {
      this.#finish = (failure) => {
        this.#over = true;
        clearTimeout(this.#timer);
        signal?.removeEventListener("abort", this.#abort);
        closing?.removeEventListener("abort", this.#closeGently);
        if (failure) reject(failure.error);
        else resolve(this.#tally.report(this.#ended, this.#more || this.#ended === "budget"));
      };
      signal?.addEventListener("abort", this.#abort);
      closing?.addEventListener("abort", this.#closeGently);
      if (signal?.aborted) this.#stop("aborted");
      if (closing?.aborted) this.#close("aborted");
      this.#tick();
    });
  }

  readonly #abort = () => {
    this.#stop("aborted");
    // Not at once: a handler may have caused it, in the midst of a step.
    queueMicrotask(() => this.#step());
  };

  readonly #closeGently = () => {
    this.#close("aborted");
    queueMicrotask(() => this.#step());
  };

  readonly #look = () => {
    this.#looks++;
    this.#onceMore = true;
    this.#pullAgainAt = 0;
    queueMicrotask(() => this.#step());
  };

  readonly #tick = () => {
    this.#hands.turn();
    this.#step(true);
  };

  /** @param turn whether the event loop has had a turn */
  #step(turn = false): void {
    if (this.#over) return;
    this.#wakeAt = Number.POSITIVE_INFINITY;
    if (!this.#stopped && this.#isDue(this.#stopAt)) this.#stop("budget");
    const { begun } = this.#hands;
    this.#begin();
    this.#send(turn && this.#hands.begun === begun);
    if (this.#isDone) return this.#finish(this.#requests.failure);
    this.#requests.keepTime(this.#isDue);
    if (this.#hands.keepTime(this.#isDue)) this.#wakeAt = 0;
    clearTimeout(this.#timer);
    if (this.#wakeAt === Number.POSITIVE_INFINITY) return;
    const ms = Math.ceil(this.#wakeAt - performance.now());
    this.#timer = setTimeout(this.#tick, Math.min(Math.max(0, ms), LONGEST_TIMER));
  }

  /** Whether an instant has come; if not, the next step is then at the latest. */
  readonly #isDue = (at: number): boolean => {
    if (at <= performance.now()) return true;
    this.#wakeAt = Math.min(this.#wakeAt, at);
    return false;
  };

  get #isDone(): boolean {
    const { idle, gaveUp, outbox, recall } = this.#requests;
    if (!idle || !this.#hands.idle) return false;
    return gaveUp || (outbox.size === 0 && !recall && (this.#closed !== undefined || this.#isEmpty));
  }

  get #isEmpty(): boolean {
    return this.#emptyAt === this.#hands.ended;
  }

  /** When handlers are told to stop, early enough for what becomes of their tasks to reach Redis. */
  get #stopAt(): number {
    const { budget } = this.#options;
    const reserve = Math.max(Math.min(1_000, budget / 10), this.#requests.roundTrip.most);
    return this.#end - this.#grace - Math.min(reserve, budget / 3);
  }

  #stop(reason: "budget" | "aborted"): void {
    if (this.#stopped) return;
    this.#stopped = true;
    this.#close(reason);
    this.#hands.stop(reason);
  }

  #close(reason: DrainReport["ended"]): void {
    this.#closed ??= reason;
    this.#requests.stopWaiting();
    this.#hands.giveBack();
  }

  get #ended(): DrainReport["ended"] {
    // That the time is over says little where nothing was left.
    return this.#closed === undefined || (this.#closed === "budget" && this.#isEmpty)
      ? "empty"
      : this.#closed;
  }

  #begin(): void {
    if (this.#requests.failure) this.#close("aborted");
    if (this.#closed) return this.#hands.giveBack();
    const hindrance = this.#hands.begin(this.#stopAt);
    if (hindrance === "time") this.#close("budget");
    if (hindrance === "turn") this.#wakeAt = 0;
  }

  /** @param turn false where handlers may end in this very turn of the event loop */
  #send(turn: boolean): void {
    const { settling, pulling, gaveUp, failure, retryAt, outbox } = this.#requests;
    const { idle, held } = this.#hands;
    if (settling || gaveUp || (failure && !idle && !this.#isDue(retryAt))) return;
    const renew = this.#isDue(Math.min(...held.map((one) => one.renewAt(false))));
    const late = this.#isDue(outbox.dueAt);
    const settle = late || (idle && !pulling && outbox.size > 0);
    const pull = pulling ? undefined : this.#nextPull(settle, turn);
    // A long poll tells late what became of leases: they are extended first.
    if (pull && !(pull.wait && renew)) this.#request(pull);
    else if (settle || renew) this.#request(undefined);
  }

  /** What to ask for now, if anything. */
  #nextPull(settle: boolean, turn: boolean): PullOptions | undefined {
    const { recall, outbox, roundTrip } = this.#requests;
    if (recall) return recall;
    if (this.#closed || !this.#hands.free) return undefined;
    const { batch, together, wait, lease, worker } = this.#options;
    const { idle, most, firstEndAt = 0 } = this.#hands;
    const mayBeMore = this.#more || this.#onceMore || wait > 0;
    const wanted =
      idle && outbox.size === 0
        ? !this.#isEmpty
        : settle || (mayBeMore && this.#isDue(Math.max(firstEndAt + LINGER, this.#pullAgainAt)));
    if (!wanted) return undefined;
    // Then they go along.
    if (!settle && !idle && !turn) {
      this.#wakeAt = 0;
      return undefined;
    }
    const left = this.#stopAt - performance.now() - roundTrip.mean;
    const room = this.#hands.room(left, together ? 1 : batch);
    if (room === 0) {
      this.#close("budget");
      return undefined;
    }
    const pull = { max: together ? batch : room, lease, worker };
    const longest = Math.min(wait, Math.floor(left - most - LAST_LOOK));
    // Under a token of its own it can be recalled, and costs a command more.
    return longest > 0 ? { ...pull, wait: longest, token: newToken() } : pull;
  }

  #request(pull: PullOptions | undefined): void {
    const { idle, ended } = this.#hands;
    const now = performance.now();
    const renewals = pull?.wait ? [] : this.#hands.held.filter((held) => held.renewAt(true) <= now);
    if (pull) this.#hands.firstEndAt = undefined;
    const last = idle && this.#requests.failure !== undefined;
    const looks = this.#looks;
    this.#requests
      .send(renewals, pull, last, (tasks, leasedAt) => {
        this.#more = tasks.length >= (pull?.max ?? 1) || this.#leftSome(tasks, pull?.wait);
        const isEmpty = tasks.length === 0 && !this.#more;
        if (isEmpty) this.#emptyAt = ended;
        const heard = this.#looks > looks;
        this.#onceMore = heard || (tasks.length > 0 && !this.#more);
        const waits = this.#options.wait > 0 && !isEmpty;
        this.#pullAgainAt = heard || this.#more || waits ? 0 : now + PAUSE;
        this.#take(tasks, leasedAt);
      })
      .then(this.#tick)
      .catch((error: unknown) => this.#finish({ error }));
  }

  /** Whether a pull left something although it gave fewer than asked for. */
  #leftSome({ length, nextDueAt, unfit }: Batch<T>, wait = 0): boolean {
    const some = length + unfit > 0;
    if (some) this.#inVain = 0;
    if (nextDueAt === null || nextDueAt > Date.now()) return false;
    // One that may be a killer travels alone, and large ones do.
    if (some) return true;
    // More cancelled ones stood in front than one pull drops. If it is this clock that is ahead, then what is not due yet
    // stays due at the same time.
    return wait === 0 && nextDueAt !== this.#tally.nextDueAt && this.#inVain++ < IN_VAIN;
  }

  #take(tasks: Batch<T>, leasedAt: number): void {
    this.#tally.pulled(tasks);
    if (tasks.paused) this.#close("paused");
    const held = tasks.map((task) => new Held(task, leasedAt, this.#options.extendEvery, this.#hearOfLease));
    if (held.length > 0) this.#hands.add(this.#options.together ? [held] : held.map((one) => [one]));
  }

  readonly #hear = ({ settlement, extends: held }: Item<T>, answer: Settled, sentAt: number): void => {
    if (held) return this.#hearOfLease(held, answer, sentAt);
    this.#tally.settled(answer, settlement.outcome === "requeue" && settlement.unstarted === true);
    // Where Redis did not know the script, the pull of the same request ran before it.
    if (answer.ok && answer.state === "pending") this.#emptyAt = -1;
  };

  readonly #hearOfLease = (held: Held<T>, answer: Settled, sentAt: number): void => {
    if (held.over) return;
    if (!answer.ok) {
      held.over = true;
      this.#tally.lose();
      this.#hands.stopOne(held, "lease_lost");
      return;
    }
    held.extended(sentAt);
    if (answer.cancelRequested) this.#hands.stopOne(held, "cancelled");
  };
}
