import { newToken } from "../kernel/names/ids.ts";
import type { Batch } from "../kernel/lease/leased-task.ts";
import type { Worker } from "../kernel/options/types.ts";
import type { DrainOptions, DrainReport } from "./types.ts";
import { Alarm } from "./alarm.ts";
import { type CallHandler, HandlerPool, type HandlerPoolOptions } from "./handler-pool.ts";
import { InFlightTask, type OnExtended } from "./in-flight-task.ts";
import { Pace, type PaceOptions } from "./pace.ts";
import { RemainingTasks } from "./remaining-tasks.ts";
import { type DequeueRequest, DrainRequests, type OnSettled } from "./drain-requests.ts";
import type { LimitedSource } from "./limited-source.ts";
import type { RequestShare } from "./request-share.ts";
import type { TaskSource } from "./source.ts";
import { DrainCounts, isEarly } from "./drain-counts.ts";
import { Suspects } from "./suspects.ts";
import type { TaskFailures } from "./task-failures.ts";

/**
 * How long a free handler waits for others that are about to end, ms: one request then serves all of them.
 */
const LINGER = 5;
/** A long poll ends this much before the last task could begin, ms: its last dequeue takes a request. */
const LAST_LOOK = 100;

/** A drain's options, checked; durations in ms. */
export interface DrainLoopOptions
  extends Omit<HandlerPoolOptions, "queue" | "grace" | "tracing">, PaceOptions {
  readonly budget: number;
  readonly lease: number | undefined;
  readonly extendEvery: number;
  readonly wait: number;
  readonly worker: Worker | undefined;
  readonly signal: AbortSignal | undefined;
  readonly closing: AbortSignal | undefined;
  readonly listen: DrainOptions["listen"];
}

/** What a drain has only with an option. */
export interface DrainExtras<T> {
  readonly limited: LimitedSource<T> | undefined;
  readonly failures: TaskFailures | undefined;
}

/**
 * One drain. Each event (a handler returns, a request is answered, a timer fires) leads to a step. A step
 * does all that is due, and sets one timer for what is due next. Each request carries as much as it can.
 */
export class DrainLoop<T> {
  readonly #options: DrainLoopOptions;
  readonly #handlers: HandlerPool<T>;
  readonly #requests: DrainRequests<T>;
  readonly #pace: Pace;
  readonly #remaining: RemainingTasks;
  readonly #suspects: Suspects;
  readonly #counts = new DrainCounts();
  readonly #failures: TaskFailures | undefined;
  /** When the drain must be over, on the clock of `performance.now()`. */
  readonly #end: number;
  readonly #grace: number;
  /** The drain's share of a limited number of requests. */
  readonly #share: RequestShare | undefined;
  /** Sends the extends of handlers, which count as theirs. */
  readonly #extendFor: LimitedSource<T>["extendFor"] | undefined;
  #finish: (failure?: { readonly error: unknown }) => void = () => {};
  readonly #alarm = new Alarm(() => this.#tick());
  /** The latest time of the next step. */
  #nextStepAt = 0;
  /** Whether a step is to come in this turn of the event loop. */
  #stepScheduled = false;
  #isOver = false;
  /** Why the drain begins no more tasks; undefined while it does. */
  #closedBy: DrainReport["ended"] | undefined;
  /** Whether the running handlers were stopped. */
  #handlersStopped = false;

  /** @param end when the drain must be over, on the clock of `performance.now()` */
  constructor(
    source: TaskSource<T>,
    callHandler: CallHandler<T>,
    options: DrainLoopOptions,
    end: number,
    { limited, failures }: DrainExtras<T>,
  ) {
    this.#options = options;
    this.#end = end;
    this.#grace = Math.min(500, options.budget / 10);
    this.#remaining = new RemainingTasks(options.wait);
    this.#suspects = new Suspects(end);
    this.#failures = failures;
    const tracing = source.tracing?.drain(source.name, options.wholeBatches);
    this.#share = limited?.share;
    this.#extendFor = limited?.extendFor;
    this.#requests = new DrainRequests(limited?.source ?? source, end, this.#onSettled, tracing, this.#share);
    this.#handlers = new HandlerPool(
      callHandler,
      { ...options, queue: source.name, grace: this.#grace, tracing },
      (settlement, task) => {
        const settleBy = this.#share && task.settleBy(this.#stopTime);
        this.#requests.buffer.add(
          this.#share ? { ...settlement, settleBy } : settlement,
          task.extendAt(false),
        );
      },
      (fault) => (fault ? this.#finish(fault) : this.#stepSoon()),
    );
    this.#pace = new Pace(options, this.#handlers, this.#requests.roundTrip);
  }

  /** @throws the failure of the first request that failed */
  run(): Promise<DrainReport> {
    const { signal, closing, listen } = this.#options;
    listen?.(this.#onNewTasks);
    return new Promise((resolve, reject) => {
      this.#finish = (failure) => {
        this.#isOver = true;
        this.#alarm.clear();
        this.#suspects.release(() => false);
        this.#share?.end();
        signal?.removeEventListener("abort", this.#abort);
        closing?.removeEventListener("abort", this.#onClosing);
        for (const settlement of this.#requests.buffer) this.#failures?.unsettled(settlement);
        if (failure) reject(failure.error);
        else resolve(this.#counts.report(this.#ended, this.#remaining.hasMore || isEarly(this.#ended)));
      };
      signal?.addEventListener("abort", this.#abort);
      closing?.addEventListener("abort", this.#onClosing);
      if (signal?.aborted) this.#stop("aborted");
      if (closing?.aborted) this.#close("aborted");
      this.#tick();
    });
  }

  readonly #abort = () => {
    this.#stop("aborted");
    this.#stepSoon();
  };

  readonly #onClosing = () => {
    this.#close("aborted");
    this.#stepSoon();
  };

  readonly #onNewTasks = () => {
    this.#remaining.notify();
    this.#stepSoon();
  };

  /**
   * Schedules a step. It cannot run at once, because a handler may call this in the middle of a step. One
   * step then serves all events of this turn.
   */
  readonly #stepSoon = () => {
    if (this.#stepScheduled) return;
    this.#stepScheduled = true;
    queueMicrotask(() => {
      this.#stepScheduled = false;
      this.#step();
    });
  };

  readonly #tick = () => {
    this.#handlers.noteTurn();
    this.#step(true);
  };

  /** @param hadTurn whether the event loop has had a turn */
  #step(hadTurn = false): void {
    if (this.#isOver) return;
    this.#nextStepAt = Number.POSITIVE_INFINITY;
    if (!this.#handlersStopped && this.#isDue(this.#stopAt)) this.#stop("budget");
    const { begunCalls } = this.#handlers;
    this.#begin();
    this.#send(hadTurn && this.#handlers.begunCalls === begunCalls);
    if (this.#canFinish) return this.#finish(this.#requests.failure);
    this.#requests.enforceEnd(this.#isDue);
    this.#handlers.enforceTimeouts(this.#isDue);
    this.#alarm.set(this.#nextStepAt);
  }

  /** Whether a time has come. If not, the next step takes place at that time at the latest. */
  readonly #isDue = (at: number): boolean => {
    if (at <= performance.now()) return true;
    this.#nextStepAt = Math.min(this.#nextStepAt, at);
    return false;
  };

  get #canFinish(): boolean {
    const { isIdle, hasGivenUp, buffer, interruptedPoll } = this.#requests;
    if (!isIdle || !this.#handlers.isIdle) return false;
    if (hasGivenUp) return true;
    return buffer.size === 0 && !interruptedPoll && (this.#closedBy !== undefined || this.#isEmpty);
  }

  get #isEmpty(): boolean {
    return this.#remaining.isEmpty(this.#handlers.endedCalls);
  }

  /** When to stop handlers, early enough for their settlements to reach Redis. */
  get #stopAt(): number {
    const { budget } = this.#options;
    const reserve = Math.max(Math.min(1_000, budget / 10), this.#requests.roundTrip.upperBound);
    return this.#end - this.#grace - Math.min(reserve, budget / 3);
  }

  /** How long it takes to stop a handler, and to settle its task, ms. */
  get #stopTime(): number {
    return this.#grace + Math.max(1_000, this.#requests.roundTrip.upperBound);
  }

  #stop(reason: "budget" | "requests" | "aborted"): void {
    if (this.#handlersStopped) return;
    this.#handlersStopped = true;
    this.#close(reason);
    this.#handlers.stop(reason);
  }

  #close(reason: DrainReport["ended"]): void {
    this.#closedBy ??= reason;
    this.#requests.stopPolling();
    this.#handlers.handBackWaiting();
  }

  get #ended(): DrainReport["ended"] {
    // An empty queue is the better reason, even if the budget or the requests ended too.
    return this.#closedBy === undefined || (isEarly(this.#closedBy) && this.#isEmpty)
      ? "empty"
      : this.#closedBy;
  }

  #begin(): void {
    this.#suspects.release(this.#handlers.hasSuspect);
    if (this.#requests.failure) this.#close("aborted");
    if (this.#closedBy) return this.#handlers.handBackWaiting();
    const { isIdle, buffer } = this.#requests;
    // Before a suspect begins, all that has ended is settled.
    const obstacle = this.#handlers.begin(
      this.#stopAt,
      () => isIdle && buffer.size === 0 && this.#suspects.claim(),
      this.#share?.begin,
    );
    if (obstacle === "time") this.#close("budget");
    if (obstacle === "requests") this.#close("requests");
    if (obstacle === "turn") this.#nextStepAt = 0;
    if (obstacle === "suspect") this.#clearTheWay();
  }

  /** Ends all that must not be under way while the next task runs. */
  #clearTheWay(): void {
    if (!this.#suspects.claim()) this.#handlers.handBackWaiting();
    this.#requests.buffer.settleSoon();
  }

  /** @param hadTurn false if handlers may still end in this turn of the event loop */
  #send(hadTurn: boolean): void {
    const { isSettling, isDequeuing, isPolling, hasGivenUp, failure, retryAt, buffer } = this.#requests;
    const { isIdle } = this.#handlers;
    if (isSettling || hasGivenUp || (failure && !isIdle && !this.#isDue(retryAt))) return;
    if (this.#share && !this.#maySend(this.#share)) return;
    const extend = this.#handlers.mustExtend(this.#isDue);
    const isLate = this.#isDue(buffer.dueAt);
    // No other settlement is about to join, and no dequeue is about to take it along.
    const isAlone = !this.#handlers.isLikelyToEndBy(buffer.dueAt) && (!isDequeuing || isPolling);
    const settle = isLate || (isAlone && buffer.size > 0);
    const dequeue = isDequeuing ? undefined : this.#nextDequeue(settle, hadTurn);
    // A long poll replies late. So leases are extended first, in a request without a dequeue.
    if (dequeue && !(dequeue.wait && extend)) this.#request(dequeue);
    else if (settle || extend) this.#request(undefined);
  }

  /**
   * Whether a request may be sent now. If only those for the last settle are left, it waits for all handlers. One
   * whose lease ends before is stopped: no other consumer may get its task while it runs, and what it has done must
   * be settled.
   */
  #maySend(share: RequestShare): boolean {
    if (!share.maySend) this.#close("requests");
    share.isLast = this.#closedBy !== undefined && this.#handlers.isIdle && !this.#requests.isDequeuing;
    if (share.maySend) return true;
    const settleBy = Math.min(this.#handlers.settleBy(this.#stopTime), this.#requests.buffer.settleBy);
    if (!this.#handlersStopped && this.#isDue(settleBy)) {
      this.#stop("requests");
      this.#nextStepAt = 0;
    }
    return false;
  }

  /** The dequeue to send now, if any. */
  #nextDequeue(settle: boolean, hadTurn: boolean): DequeueRequest | undefined {
    const { interruptedPoll, buffer, roundTrip } = this.#requests;
    if (interruptedPoll) return interruptedPoll;
    const { hasMore, mayHaveMore, dequeueAgainAt, gatherUntil } = this.#remaining;
    const prefetch = hasMore && this.#pace.runsOut;
    if (this.#closedBy || !(this.#handlers.hasFreeHandler || prefetch)) return undefined;
    if (!this.#suspects.mayDequeue(this.#isDue)) return undefined;
    const { wholeBatches, wait, lease, worker } = this.#options;
    const { isIdle, longestDuration, firstEndAt = 0 } = this.#handlers;
    // Of several last requests, only the last one dequeues: then its reply counts no lease of this drain.
    if (isIdle && !buffer.fitsOneRequest) return undefined;
    const wanted =
      isIdle && buffer.size === 0
        ? !this.#isEmpty
        : settle || prefetch || (mayHaveMore && this.#isDue(Math.max(firstEndAt + LINGER, dequeueAgainAt)));
    if (!wanted || !this.#isDue(gatherUntil)) return undefined;
    // Handlers that end in this turn are settled by the same request.
    if (!settle && !isIdle && !hadTurn) {
      this.#nextStepAt = 0;
      return undefined;
    }
    const left = this.#stopAt - performance.now() - roundTrip.mean;
    const { batch } = this.#pace;
    const room = this.#handlers.callsThatFit(left, wholeBatches ? 1 : batch);
    const affordable = this.#share?.tasksThatFit(this.#handlers.waitingTasks) ?? batch;
    if (room === 0 || affordable === 0) {
      if (this.#handlers.hasFreeHandler) this.#close(room === 0 ? "budget" : "requests");
      return undefined;
    }
    const max = Math.min(wholeBatches ? batch : this.#suspects.atMost(room), affordable);
    const dequeue = { max, lease, worker };
    const mostWait = Math.min(wait, this.#share?.longestWait ?? wait);
    const longestWait = Math.min(mostWait, Math.floor(left - longestDuration - LAST_LOOK));
    // If tasks are left, the dequeue need not wait.
    if (longestWait <= 0 || (hasMore && !isIdle)) return dequeue;
    // With a token of its own, which costs one more command, the dequeue can be sent again after it was cut
    // short.
    return { ...dequeue, wait: longestWait, token: newToken() };
  }

  #request(dequeue: DequeueRequest | undefined): void {
    const { isIdle, endedCalls } = this.#handlers;
    const now = performance.now();
    const tasksToExtend = dequeue?.wait ? [] : this.#handlers.tasksToExtend(now);
    if (dequeue) this.#handlers.firstEndAt = undefined;
    const isLast = isIdle && this.#requests.failure !== undefined;
    const onReply = dequeue && this.#remaining.dequeueSent(dequeue, endedCalls);
    this.#requests
      .send(tasksToExtend, dequeue, isLast, (tasks, leasedAt) => {
        onReply?.(tasks, this.#counts.nextDueAt);
        this.#add(tasks, leasedAt);
      })
      .then(this.#tick)
      .catch((error: unknown) => this.#finish({ error }));
  }

  #add(batch: Batch<T>, leasedAt: number): void {
    this.#counts.dequeued(batch);
    if (batch.paused) this.#close("paused");
    const { extendEvery, wholeBatches } = this.#options;
    const tasks = this.#suspects.dequeued(
      batch.map(
        (task) => new InFlightTask(task, leasedAt, extendEvery, this.#onExtended, this.#extendFor?.(task)),
      ),
    );
    if (tasks.length > 0) this.#handlers.add(wholeBatches ? [tasks] : tasks.map((task) => [task]));
  }

  readonly #onSettled: OnSettled<T> = (outgoing, reply, sentAt) => {
    const { settlement, extendedTask } = outgoing;
    if (extendedTask) return this.#onExtended(extendedTask, reply, sentAt);
    this.#failures?.settled(outgoing, reply);
    this.#counts.settled(reply, settlement.outcome === "requeue" && settlement.unstarted === true);
    // If Redis did not know the settle script, it ran the dequeue of the same request first.
    if (reply.ok && reply.state === "pending") this.#remaining.noteRequeued();
  };

  readonly #onExtended: OnExtended<T> = (task, reply, sentAt) => {
    if (task.isOver) return;
    if (!reply.ok) {
      task.isOver = true;
      this.#counts.lose();
      this.#failures?.lost(task);
      this.#handlers.stopTask(task, "lease_lost");
      return;
    }
    task.extended(sentAt);
    if (reply.cancelRequested) this.#handlers.stopTask(task, "cancelled");
  };
}
