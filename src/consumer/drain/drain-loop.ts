import { newToken } from "../../queue/core/ids.ts";
import type { Batch } from "../../queue/tasks/leased-task.ts";
import type { Settled, Worker } from "../../queue/core/types.ts";
import type { DrainReport } from "./types.ts";
import { Alarm } from "./alarm.ts";
import { HandlerPool, type HandlerPoolOptions, type Work } from "./handler-pool.ts";
import { InFlightTask } from "./in-flight-task.ts";
import type { Item } from "./settlement-buffer.ts";
import { Pace, type PaceOptions } from "./pace.ts";
import { Prospect } from "./prospect.ts";
import { type PullOptions, DrainRequests } from "./drain-requests.ts";
import type { TaskSource } from "./source.ts";
import { DrainCounts } from "./drain-counts.ts";

/** How long a free handler waits for those that are about to end too, ms: one request then serves them all. */
const LINGER = 5;
/** How long before the end a long poll is over: its last look takes a request, ms. */
const LAST_LOOK = 100;

/** A drain's options, checked; durations in ms. */
export interface DrainLoopOptions extends Omit<HandlerPoolOptions, "grace">, PaceOptions {
  readonly budget: number;
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
export class DrainLoop<T> {
  readonly #options: DrainLoopOptions;
  readonly #handlers: HandlerPool<T>;
  readonly #requests: DrainRequests<T>;
  readonly #pace: Pace;
  readonly #prospect: Prospect;
  readonly #tally = new DrainCounts();
  /** When all has to be over, on the clock of `performance.now()`. */
  readonly #end: number;
  readonly #grace: number;
  #finish: (failure?: { readonly error: unknown }) => void = () => {};
  readonly #alarm = new Alarm(() => this.#tick());
  /** When the next step is at the latest. */
  #wakeAt = 0;
  /** Whether a step is to come in this turn of the event loop. */
  #steps = false;
  #over = false;
  /** Why no more tasks are begun, once that is so. */
  #closed: DrainReport["ended"] | undefined;
  /** Whether the handlers were told to stop. */
  #stopped = false;

  constructor(source: TaskSource<T>, work: Work<T>, options: DrainLoopOptions) {
    this.#options = options;
    this.#end = performance.now() + options.budget;
    this.#grace = Math.min(500, options.budget / 10);
    this.#prospect = new Prospect(options.wait);
    this.#requests = new DrainRequests(source, this.#end, this.#hear);
    this.#handlers = new HandlerPool(
      work,
      { ...options, grace: this.#grace },
      (item, by) => this.#requests.outbox.add(item, by),
      this.#stepSoon,
    );
    this.#pace = new Pace(options, this.#handlers, this.#requests.roundTrip);
  }

  /** @throws the first fault of a request */
  report(): Promise<DrainReport> {
    const { signal, closing, listen } = this.#options;
    listen?.(this.#look);
    return new Promise((resolve, reject) => {
      this.#finish = (failure) => {
        this.#over = true;
        this.#alarm.clear();
        signal?.removeEventListener("abort", this.#abort);
        closing?.removeEventListener("abort", this.#closeGently);
        if (failure) reject(failure.error);
        else resolve(this.#tally.report(this.#ended, this.#prospect.more || this.#ended === "budget"));
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
    this.#stepSoon();
  };

  readonly #closeGently = () => {
    this.#close("aborted");
    this.#stepSoon();
  };

  readonly #look = () => {
    this.#prospect.told();
    this.#stepSoon();
  };

  /** Not at once: a handler may be the cause, in the midst of a step; and one step serves all that happens together. */
  readonly #stepSoon = () => {
    if (this.#steps) return;
    this.#steps = true;
    queueMicrotask(() => {
      this.#steps = false;
      this.#step();
    });
  };

  readonly #tick = () => {
    this.#handlers.turn();
    this.#step(true);
  };

  /** @param turn whether the event loop has had a turn */
  #step(turn = false): void {
    if (this.#over) return;
    this.#wakeAt = Number.POSITIVE_INFINITY;
    if (!this.#stopped && this.#isDue(this.#stopAt)) this.#stop("budget");
    const { begun } = this.#handlers;
    this.#begin();
    this.#send(turn && this.#handlers.begun === begun);
    if (this.#isDone) return this.#finish(this.#requests.failure);
    this.#requests.keepTime(this.#isDue);
    if (this.#handlers.keepTime(this.#isDue)) this.#wakeAt = 0;
    this.#alarm.set(this.#wakeAt);
  }

  /** Whether an instant has come; if not, the next step is then at the latest. */
  readonly #isDue = (at: number): boolean => {
    if (at <= performance.now()) return true;
    this.#wakeAt = Math.min(this.#wakeAt, at);
    return false;
  };

  get #isDone(): boolean {
    const { idle, gaveUp, outbox, recall } = this.#requests;
    if (!idle || !this.#handlers.idle) return false;
    return gaveUp || (outbox.size === 0 && !recall && (this.#closed !== undefined || this.#isEmpty));
  }

  get #isEmpty(): boolean {
    return this.#prospect.isEmpty(this.#handlers.ended);
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
    this.#handlers.stop(reason);
  }

  #close(reason: DrainReport["ended"]): void {
    this.#closed ??= reason;
    this.#requests.stopWaiting();
    this.#handlers.giveBack();
  }

  get #ended(): DrainReport["ended"] {
    // That the time is over says little where nothing was left.
    return this.#closed === undefined || (this.#closed === "budget" && this.#isEmpty)
      ? "empty"
      : this.#closed;
  }

  #begin(): void {
    if (this.#requests.failure) this.#close("aborted");
    if (this.#closed) return this.#handlers.giveBack();
    const hindrance = this.#handlers.begin(this.#stopAt);
    if (hindrance === "time") this.#close("budget");
    if (hindrance === "turn") this.#wakeAt = 0;
  }

  /** @param turn false where handlers may end in this very turn of the event loop */
  #send(turn: boolean): void {
    const { settling, pulling, polling, gaveUp, failure, retryAt, outbox } = this.#requests;
    const { idle } = this.#handlers;
    if (settling || gaveUp || (failure && !idle && !this.#isDue(retryAt))) return;
    const renew = this.#handlers.renews(this.#isDue);
    const late = this.#isDue(outbox.dueAt);
    // If it waited, nothing would come along, and no pull is about to take it.
    const alone = !this.#handlers.endsBy(outbox.dueAt) && (!pulling || polling);
    const settle = late || (alone && outbox.size > 0);
    const pull = pulling ? undefined : this.#nextPull(settle, turn);
    // A long poll tells late what became of leases: they are extended first.
    if (pull && !(pull.wait && renew)) this.#request(pull);
    else if (settle || renew) this.#request(undefined);
  }

  /** What to ask for now, if anything. */
  #nextPull(settle: boolean, turn: boolean): PullOptions | undefined {
    const { recall, outbox, roundTrip } = this.#requests;
    if (recall) return recall;
    const { more, mayBeMore, pullAgainAt, gathersUntil } = this.#prospect;
    const ahead = more && this.#pace.runsOut;
    if (this.#closed || !(this.#handlers.free || ahead)) return undefined;
    const { together, wait, lease, worker } = this.#options;
    const { idle, most, firstEndAt = 0 } = this.#handlers;
    const wanted =
      idle && outbox.size === 0
        ? !this.#isEmpty
        : settle || ahead || (mayBeMore && this.#isDue(Math.max(firstEndAt + LINGER, pullAgainAt)));
    if (!wanted || !this.#isDue(gathersUntil)) return undefined;
    // Then they go along.
    if (!settle && !idle && !turn) {
      this.#wakeAt = 0;
      return undefined;
    }
    const left = this.#stopAt - performance.now() - roundTrip.mean;
    const { batch } = this.#pace;
    const room = this.#handlers.room(left, together ? 1 : batch);
    if (room === 0) {
      if (this.#handlers.free) this.#close("budget");
      return undefined;
    }
    const pull = { max: together ? batch : room, lease, worker };
    const longest = Math.min(wait, Math.floor(left - most - LAST_LOOK));
    // Where there is more, nothing has to wait for it.
    if (longest <= 0 || (more && !idle)) return pull;
    // Under a token of its own it can be recalled, and costs a command more.
    return { ...pull, wait: longest, token: newToken() };
  }

  #request(pull: PullOptions | undefined): void {
    const { idle, ended } = this.#handlers;
    const now = performance.now();
    const renewals = pull?.wait ? [] : this.#handlers.renewals(now);
    if (pull) this.#handlers.firstEndAt = undefined;
    const last = idle && this.#requests.failure !== undefined;
    const learn = pull && this.#prospect.goesOut(pull, ended);
    this.#requests
      .send(renewals, pull, last, (tasks, leasedAt) => {
        learn?.(tasks, this.#tally.nextDueAt);
        this.#take(tasks, leasedAt);
      })
      .then(this.#tick)
      .catch((error: unknown) => this.#finish({ error }));
  }

  #take(tasks: Batch<T>, leasedAt: number): void {
    this.#tally.pulled(tasks);
    if (tasks.paused) this.#close("paused");
    const held = tasks.map(
      (task) => new InFlightTask(task, leasedAt, this.#options.extendEvery, this.#hearOfLease),
    );
    if (held.length > 0) this.#handlers.add(this.#options.together ? [held] : held.map((one) => [one]));
  }

  readonly #hear = ({ settlement, extends: held }: Item<T>, answer: Settled, sentAt: number): void => {
    if (held) return this.#hearOfLease(held, answer, sentAt);
    this.#tally.settled(answer, settlement.outcome === "requeue" && settlement.unstarted === true);
    // Where Redis did not know the script, the pull of the same request ran before it.
    if (answer.ok && answer.state === "pending") this.#prospect.filled();
  };

  readonly #hearOfLease = (held: InFlightTask<T>, answer: Settled, sentAt: number): void => {
    if (held.over) return;
    if (!answer.ok) {
      held.over = true;
      this.#tally.lose();
      this.#handlers.stopOne(held, "lease_lost");
      return;
    }
    held.extended(sentAt);
    if (answer.cancelRequested) this.#handlers.stopOne(held, "cancelled");
  };
}
