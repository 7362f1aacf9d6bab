import type { DrainHooks } from "../kernel/hooks.ts";
import type { Task, TaskOutcome } from "./types.ts";
import { DurationEstimator } from "./duration-estimator.ts";
import { StoppedError, type StopReason } from "./failures.ts";
import { HandlerCall, type InFlightTask } from "./in-flight-task.ts";
import { type CallEnd, endOf, type FailureOptions } from "./call-end.ts";
import { handBack, type SizedSettlement } from "./to-settlement.ts";

/** How long the pool may begin calls before the event loop gets a turn, ms: requests need turns. */
const LONGEST_TURN = 10;

/** The shortest duration of a call, ms: some clocks do not advance between sends and receives. */
const SHORTEST_CALL = 0.01;

/** Calls the handler for some tasks, and returns an outcome for each. The signal is that of the call. */
export type CallHandler<T> = (
  tasks: readonly Task<T>[],
  call: { readonly signal: AbortSignal },
) => Promise<readonly TaskOutcome[]>;

/** The options of a drain for its calls. */
export interface CallOptions extends FailureOptions {
  readonly concurrency: number;
  /** ms; Infinity for none. */
  readonly timeout: number;
}

export interface HandlerPoolOptions extends CallOptions {
  /** How long a handler may take to stop, ms. */
  readonly grace: number;
  readonly hooks: DrainHooks | undefined;
}

/** The calls of the handler: those that wait for their turn, and those that run. */
export class HandlerPool<T> {
  /** How many calls have begun. */
  begunCalls = 0;
  /** How many calls have ended. */
  endedCalls = 0;
  /** When the first call ended since the last dequeue went out, which sets it to undefined. */
  firstEndAt: number | undefined;
  /** When to check the leases: not later than the first one must be extended. */
  #extendAt = Number.POSITIVE_INFINITY;
  /** When to check the running calls: not later than the first one must be stopped or given up. */
  #stopAt = Number.POSITIVE_INFINITY;
  readonly #callHandler: CallHandler<T>;
  readonly #options: HandlerPoolOptions;
  readonly #settle: (settlement: SizedSettlement, task: InFlightTask<T>) => void;
  readonly #onEnd: (fault?: { readonly error: unknown }) => void;
  readonly #running = new Set<HandlerCall<T>>();
  #waiting: (readonly InFlightTask<T>[])[] = [];
  /** How long a call takes if it is not stopped. */
  readonly #duration = new DurationEstimator();
  /** When the event loop last had a turn. */
  #turnAt = 0;

  /**
   * @param settle takes the settlement of each finished task
   * @param onEnd called when a handler has returned, and perhaps others since; with a fault if the drain cannot go on
   */
  constructor(
    callHandler: CallHandler<T>,
    options: HandlerPoolOptions,
    settle: (settlement: SizedSettlement, task: InFlightTask<T>) => void,
    onEnd: (fault?: { readonly error: unknown }) => void,
  ) {
    this.#callHandler = callHandler;
    this.#options = options;
    this.#settle = settle;
    this.#onEnd = onEnd;
  }

  get isIdle(): boolean {
    return this.#running.size === 0 && this.#waiting.length === 0;
  }

  /** Whether a call could begin at once if there were a task. */
  get hasFreeHandler(): boolean {
    return this.#waiting.length === 0 && this.freeHandlers > 0;
  }

  /** How many more calls could run. */
  get freeHandlers(): number {
    return this.#options.concurrency - this.#running.size;
  }

  /** How many calls wait for their turn. */
  get waitingCalls(): number {
    return this.#waiting.length;
  }

  /** How many tasks wait for their turn. */
  get waitingTasks(): number {
    return this.#waiting.flat().length;
  }

  /** When the first task must be settled if no lease is extended any more: see {@link InFlightTask.settleBy}. */
  settleBy(reserve: number): number {
    return Math.min(...Array.from(this.#inFlight(), (task) => task.settleBy(reserve)), Infinity);
  }

  /** The duration that a call seldom exceeds, ms; 0 before the first call has ended. */
  get longestDuration(): number {
    return Math.min(this.#duration.upperBound, this.#options.timeout);
  }

  /** How long a call takes, ms; 0 before the first call has ended. */
  get meanDuration(): number {
    return this.#duration.mean;
  }

  /** How many calls begin within `ms` if enough of them wait; 0 before the first call has ended. */
  callsBegunWithin(ms: number): number {
    if (!this.#duration.hasSamples) return 0;
    return (this.#options.concurrency * ms) / Math.max(this.#duration.mean, SHORTEST_CALL);
  }

  /** Whether the call that began first, or is about to begin, is likely to end by the time `at`. */
  isLikelyToEndBy(at: number): boolean {
    const [first] = this.#running;
    return !this.isIdle && (first?.beganAt ?? performance.now()) + this.#duration.mean <= at;
  }

  /** How many more calls, at most `most`, can begin early enough to end within `ms`. */
  callsThatFit(ms: number, most: number): number {
    const spare = ms - this.longestDuration;
    if (spare < 0) return 0;
    const { mean } = this.#duration;
    const rounds = mean > 0 ? Math.floor(spare / mean) : most;
    const begun = this.#running.size + this.#waiting.length;
    return Math.max(0, Math.min(most, this.#options.concurrency * (rounds + 1) - begun));
  }

  /** Whether a lease must be extended now. */
  mustExtend(isDue: (at: number) => boolean): boolean {
    if (!isDue(this.#extendAt)) return false;
    this.#extendAt = Number.POSITIVE_INFINITY;
    for (const task of this.#inFlight()) this.#extendAt = Math.min(this.#extendAt, task.extendAt(false));
    return isDue(this.#extendAt);
  }

  /** The tasks whose leases a request that goes out now should extend too. */
  tasksToExtend(now: number): InFlightTask<T>[] {
    return [...this.#inFlight()].filter((task) => task.extendAt(true) <= now);
  }

  add(calls: readonly (readonly InFlightTask<T>[])[]): void {
    this.#waiting.push(...calls);
    for (const task of calls.flat()) this.#extendAt = Math.min(this.#extendAt, task.extendAt(false));
  }

  /** Notes that the event loop has had a turn. */
  noteTurn(): void {
    this.#turnAt = performance.now();
  }

  /**
   * Begins waiting calls while handlers are free. A call with a suspect begins when no other runs, and those
   * behind it are handed back.
   * @param end when every call must have ended, on the clock of `performance.now()`
   * @param mayBeginSuspect whether a suspect may begin now if no handler runs
   * @param mayBegin whether so many tasks may begin; called last
   * @returns why the next call did not begin although a handler is free: too little time, the event loop
   *   needs a turn, a lease must be extended first, it must be alone, or `mayBegin` has refused it
   */
  begin(
    end: number,
    mayBeginSuspect: () => boolean,
    mayBegin: (tasks: number) => boolean = () => true,
  ): "budget" | "turn" | "lease" | "suspect" | "requests" | undefined {
    for (let next; (next = this.#waiting[0]) && this.#running.size < this.#options.concurrency;) {
      const now = performance.now();
      if (now + this.longestDuration > end) return "budget";
      if (now - this.#turnAt > LONGEST_TURN) return "turn";
      if (next.some(({ isOver, beginBy }) => !isOver && beginBy < now)) return "lease";
      if (hasSuspect(next)) {
        this.#handBack(this.#waiting.splice(1));
        if (!mayBeginSuspect() || this.#running.size > 0) return "suspect";
      }
      if (!mayBegin(next.length)) return "requests";
      const tasks = this.#waiting.shift()?.filter((task) => this.#mayBegin(task)) ?? [];
      if (tasks.length > 0) this.#call(new HandlerCall(tasks, this.#options.timeout));
    }
    return undefined;
  }

  /** Hands back the tasks of all waiting calls. */
  handBackWaiting(): void {
    this.#handBack(this.#waiting.splice(0));
  }

  /** Whether a suspect waits or runs. */
  readonly hasSuspect = (): boolean =>
    this.#waiting.some(hasSuspect) || [...this.#running].some(({ tasks }) => hasSuspect(tasks));

  /** Stops all running calls. A call that has not ended when the grace is over is given up. */
  stop(code: StopReason): void {
    const error = new StoppedError(code);
    const giveUpAt = performance.now() + this.#options.grace;
    for (const call of this.#running) call.stop(error, giveUpAt);
    this.#stopAt = Math.min(this.#stopAt, giveUpAt);
  }

  /**
   * Stops one task, and its call once each of the call's tasks is stopped. If it still waits, it is handed back when
   * its turn comes.
   */
  stopTask(task: InFlightTask<T>, code: StopReason): void {
    const error = new StoppedError(code);
    const giveUpAt = performance.now() + this.#options.grace;
    task.stop(error);
    for (const call of this.#running) {
      if (call.endedAt === undefined && call.tasks.every(({ isStopped }) => isStopped))
        call.stop(error, giveUpAt);
    }
    this.#stopAt = Math.min(this.#stopAt, giveUpAt);
  }

  /**
   * Stops the calls whose timeout is over, and gives up those that have not ended since.
   * @param isDue whether a time has come
   */
  enforceTimeouts(isDue: (at: number) => boolean): void {
    if (!isDue(this.#stopAt)) return;
    this.#stopAt = Number.POSITIVE_INFINITY;
    for (const call of this.#running) {
      if (call.endedAt !== undefined) continue;
      if (call.stopped === undefined && isDue(call.timeoutAt)) {
        call.stop(new StoppedError("timeout"), performance.now() + this.#options.grace);
      }
      if (isDue(call.giveUpAt)) this.#end(call, undefined, call.givenUp(performance.now()));
      this.#stopAt = Math.min(this.#stopAt, call.stopped ? call.giveUpAt : call.timeoutAt);
    }
  }

  #call(call: HandlerCall<T>): void {
    this.#running.add(call);
    this.#stopAt = Math.min(this.#stopAt, call.timeoutAt);
    this.begunCalls++;
    const tasks = call.tasks.map(({ forHandler }) => forHandler);
    const run = () => this.#callHandler(tasks, call);
    call.hooks = this.#options.hooks?.handlerCall(tasks);
    (call.hooks ? call.hooks.run(run) : run()).then(
      (outcomes) => this.#end(call, outcomes),
      (thrown: unknown) => this.#end(call, undefined, thrown),
    );
  }

  /** @param outcomes undefined if the handler has thrown, or its call was given up */
  #end(call: HandlerCall<T>, outcomes: readonly TaskOutcome[] | undefined, thrown?: unknown): void {
    // Its call has been given up.
    if (call.endedAt !== undefined) return;
    call.endedAt = performance.now();
    const tasks = call.tasks.map(({ leased }) => leased);
    const end = endOf(tasks, outcomes, thrown, this.#options);
    if (!(end instanceof Promise)) return this.#settleCall(call, end);
    end
      .then((loaded) => this.#settleCall(call, loaded))
      .catch((error: unknown) => {
        this.#running.delete(call);
        this.#onEnd({ error });
      });
  }

  #settleCall(call: HandlerCall<T>, { outcomes, settlementOf }: CallEnd): void {
    const { endedAt = 0, tasks } = call;
    const ranFor = endedAt - call.beganAt;
    this.#running.delete(call);
    if (call.stopped === undefined) this.#duration.add(ranFor);
    this.endedCalls++;
    this.firstEndAt ??= endedAt;
    call.hooks?.end(
      tasks.map(({ isOver }, i) => (isOver ? { outcome: "lost" } : (outcomes[i] as TaskOutcome))),
    );
    for (const [i, task] of tasks.entries()) {
      if (!task.isOver) this.#settleTask(task, { ...settlementOf(i), ranFor });
    }
    this.#onEnd();
  }

  /** The tasks whose leases must last. */
  *#inFlight(): Generator<InFlightTask<T>> {
    for (const { tasks } of this.#running) yield* tasks.filter(({ isOver }) => !isOver);
    for (const tasks of this.#waiting) yield* tasks.filter(({ isOver }) => !isOver);
  }

  /** False if the task lost its lease or was cancelled while it waited. Hands back a cancelled task. */
  #mayBegin(task: InFlightTask<T>): boolean {
    if (task.isOver) return false;
    if (task.isStopped) this.#handBack([[task]]);
    return !task.isStopped;
  }

  #handBack(calls: readonly (readonly InFlightTask<T>[])[]): void {
    for (const task of calls.flat()) if (!task.isOver) this.#settleTask(task, handBack(task.leased));
  }

  #settleTask(task: InFlightTask<T>, settlement: SizedSettlement): void {
    task.isOver = true;
    this.#options.hooks?.onSettle(settlement.settlement, task.leased.headers);
    this.#settle(settlement, task);
  }
}

function hasSuspect(tasks: readonly InFlightTask<unknown>[]): boolean {
  return tasks.some(({ isSuspect }) => isSuspect);
}
