import type { DrainHooks } from "../kernel/hooks.ts";
import type { Batch } from "../kernel/lease/leased-task.ts";
import type { DrainReport } from "./types.ts";
import { Alarm } from "./alarm.ts";
import { Dequeues } from "./dequeues.ts";
import { DrainCounts, isEarly } from "./drain-counts.ts";
import type { DrainLoopOptions } from "./drain-options.ts";
import { type DequeueRequest, DrainRequests, type OnSettled } from "./drain-requests.ts";
import { DrainTimes } from "./drain-times.ts";
import { type CallHandler, HandlerPool } from "./handler-pool.ts";
import { InFlightTask, type OnExtended } from "./in-flight-task.ts";
import { RemainingTasks } from "./remaining-tasks.ts";
import type { RequestShare } from "./request-share.ts";
import type { TaskSource } from "./source.ts";
import { Suspects } from "./suspects.ts";
import type { SizedSettlement } from "./to-settlement.ts";

/**
 * One drain. Each event (a handler returns, a request is answered, a timer fires) leads to a step. A step
 * does all that is due, and sets one timer for what is due next. Each request carries as much as it can.
 */
export class DrainLoop<T> {
  readonly #options: DrainLoopOptions<T>;
  readonly #handlers: HandlerPool<T>;
  readonly #requests: DrainRequests<T>;
  readonly #dequeues: Dequeues<T>;
  readonly #remaining: RemainingTasks;
  readonly #suspects: Suspects;
  readonly #counts = new DrainCounts();
  readonly #times: DrainTimes;
  /** The drain's share of a limited number of requests. */
  readonly #share: RequestShare | undefined;
  readonly #hooks: DrainHooks | undefined;
  #finish: (failure?: { readonly error: unknown }) => void = () => {};
  readonly #alarm = new Alarm(() => {
    if (this.#turnsLeft > 0) this.#turnsLeft--;
    this.#tick();
  });
  /** The latest time of the next step. */
  #nextStepAt = 0;
  /** Whether a step is to come in this turn of the event loop. */
  #stepScheduled = false;
  #isOver = false;
  /** How many turns of the event loop handlers wait for a request to be written. */
  #turnsLeft = 0;
  /** Why the drain begins no more tasks; undefined while it does. */
  #closedBy: DrainReport["ended"] | undefined;
  /** Whether the running handlers were stopped. */
  #handlersStopped = false;

  constructor(source: TaskSource<T>, callHandler: CallHandler<T>, options: DrainLoopOptions<T>) {
    const { end, budget, limited } = options;
    this.#options = options;
    this.#remaining = new RemainingTasks(options.wait, options.connected);
    this.#suspects = new Suspects(end);
    this.#share = limited?.share;
    this.#hooks = source.hooks?.drain(options.wholeBatches);
    this.#requests = new DrainRequests(limited?.source ?? source, end, this.#onSettled, this.#share);
    this.#times = new DrainTimes(end, budget, this.#requests.roundTrip);
    this.#handlers = new HandlerPool(
      callHandler,
      { ...options, grace: this.#times.grace, hooks: this.#hooks },
      this.#toSettle,
      (fault) => {
        this.#requests.failure ??= fault;
        this.#stepSoon();
      },
    );
    this.#dequeues = new Dequeues(options, {
      handlers: this.#handlers,
      requests: this.#requests,
      remaining: this.#remaining,
      suspects: this.#suspects,
      share: this.#share,
    });
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
        for (const settlement of this.#requests.buffer) this.#options.failures?.unsettled(settlement);
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

  readonly #onNewTasks = (): boolean => {
    this.#remaining.notify();
    this.#stepSoon();
    // A reply that is under way may fill the free handlers. Beside a suspect no task begins.
    const { dequeues, isPolling } = this.#requests;
    if (this.#closedBy || (dequeues > 0 && !isPolling)) return false;
    return this.#handlers.hasFreeHandler && this.#suspects.mayDequeue(this.#isDue);
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
    if (!this.#handlersStopped && this.#isDue(this.#times.stopAt)) this.#stop("budget");
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
    if (this.#dequeueAhead()) {
      this.#nextStepAt = 0;
      return;
    }
    const { isIdle, buffer } = this.#requests;
    // Before a suspect begins, all that has ended is settled.
    const obstacle = this.#handlers.begin(
      this.#times.stopAt,
      () => isIdle && buffer.size === 0 && this.#suspects.claim(),
      this.#share?.begin,
    );
    if (obstacle === "budget" || obstacle === "requests") this.#close(obstacle);
    if (obstacle === "turn") this.#nextStepAt = 0;
    if (obstacle === "suspect") this.#clearTheWay();
  }

  /**
   * Sends a dequeue before handlers begin, if they are quick.
   * @returns whether they are to begin later: a client writes in the second turn of the event loop from now at the latest
   */
  #dequeueAhead(): boolean {
    const { dequeues } = this.#requests;
    if (this.#turnsLeft === 0 && this.#dequeues.areAhead) this.#send(true);
    if (this.#requests.dequeues > dequeues) this.#turnsLeft = 2;
    return this.#turnsLeft > 0;
  }

  /** Ends all that must not be under way while the next task runs. */
  #clearTheWay(): void {
    if (!this.#suspects.claim()) this.#handlers.handBackWaiting();
    this.#requests.buffer.settleSoon();
  }

  /** @param hadTurn false if handlers may still end in this turn of the event loop */
  #send(hadTurn: boolean): void {
    const { settles, dequeues, isPolling, hasGivenUp, failure, retryAt, buffer } = this.#requests;
    const { isIdle } = this.#handlers;
    if (settles > 0 || hasGivenUp || (failure && !isIdle && !this.#isDue(retryAt))) return;
    if (this.#share && !this.#maySend(this.#share)) return;
    const extend = this.#handlers.mustExtend(this.#isDue);
    const isLate = this.#isDue(buffer.dueAt);
    // No other settlement is about to join, and no dequeue is about to take it along.
    const isAlone = !this.#handlers.isLikelyToEndBy(buffer.dueAt) && (dequeues === 0 || isPolling);
    const settle = isLate || (isAlone && buffer.size > 0);
    const dequeue = this.#nextDequeue(settle, hadTurn);
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
    share.isLast = this.#closedBy !== undefined && this.#handlers.isIdle && this.#requests.dequeues === 0;
    if (share.maySend) return true;
    const settleBy = Math.min(this.#handlers.settleBy(this.#times.stopTime), this.#requests.buffer.settleBy);
    if (!this.#handlersStopped && this.#isDue(settleBy)) {
      this.#stop("requests");
      this.#nextStepAt = 0;
    }
    return false;
  }

  /** The dequeue to send now, if any. */
  #nextDequeue(settle: boolean, hadTurn: boolean): DequeueRequest | undefined {
    if (this.#requests.interruptedPoll) return this.#requests.interruptedPoll;
    if (this.#closedBy) return undefined;
    const next = this.#dequeues.next(settle, hadTurn, this.#times.stopAt, this.#isDue);
    if (typeof next !== "string") return next;
    // Handlers that end in this turn are settled by the same request.
    if (next === "turn") this.#nextStepAt = 0;
    else this.#close(next);
    return undefined;
  }

  #request(dequeue: DequeueRequest | undefined): void {
    const { isIdle, endedCalls } = this.#handlers;
    const tasksToExtend = dequeue?.wait ? [] : this.#handlers.tasksToExtend(performance.now());
    if (dequeue) this.#handlers.firstEndAt = undefined;
    const isLast = isIdle && this.#requests.failure !== undefined;
    const onReply = dequeue && this.#remaining.dequeueSent(dequeue, endedCalls);
    const send = () =>
      this.#requests.send(tasksToExtend, dequeue, isLast, (tasks, leasedAt) => {
        onReply?.(tasks, this.#counts.nextDueAt);
        this.#add(tasks, leasedAt);
      });
    (this.#hooks ? this.#hooks.request(send) : send())
      .then(this.#tick)
      .catch((error: unknown) => this.#finish({ error }));
  }

  #add(batch: Batch<T>, leasedAt: number): void {
    this.#counts.dequeued(batch);
    if (batch.paused) this.#close("paused");
    const { extendEvery, wholeBatches, limited } = this.#options;
    const inFlight = batch.map(
      (task) => new InFlightTask(task, leasedAt, extendEvery, this.#onExtended, limited?.extendFor(task)),
    );
    const tasks = this.#suspects.dequeued(inFlight);
    if (tasks.length > 0) this.#handlers.add(wholeBatches ? [tasks] : tasks.map((task) => [task]));
  }

  readonly #toSettle = (settlement: SizedSettlement, task: InFlightTask<T>) => {
    const settleBy = this.#share && task.settleBy(this.#times.stopTime);
    // A pause of the queue waits for no other settlement.
    const pauses = "queue" in settlement.settlement;
    this.#requests.buffer.add({ ...settlement, settleBy }, pauses ? 0 : task.extendAt(false));
    if (pauses) this.#close("paused");
  };

  readonly #onSettled: OnSettled<T> = (outgoing, reply, sentAt) => {
    const { settlement, extendedTask } = outgoing;
    if (extendedTask) return this.#onExtended(extendedTask, reply, sentAt);
    this.#options.failures?.settled(outgoing, reply);
    this.#counts.settled(reply, settlement);
    // If Redis did not know the settle script, it ran the dequeue of the same request first.
    if (reply.ok && reply.state === "pending") this.#remaining.noteRequeued();
  };

  readonly #onExtended: OnExtended<T> = (task, reply, sentAt) => {
    if (task.isOver) return;
    if (!reply.ok) {
      task.isOver = true;
      this.#counts.lose();
      this.#options.failures?.lost(task);
      this.#handlers.stopTask(task, "lease_lost");
      return;
    }
    task.extended(sentAt);
    if (reply.cancelRequested) this.#handlers.stopTask(task, "cancelled");
  };
}
