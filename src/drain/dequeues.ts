import { newToken } from "../kernel/names/ids.ts";
import type { CheckedOptions } from "./drain-options.ts";
import type { DequeueRequest, DrainRequests } from "./drain-requests.ts";
import type { HandlerPool } from "./handler-pool.ts";
import { Pace, type PaceOptions } from "./pace.ts";
import type { RemainingTasks } from "./remaining-tasks.ts";
import type { RequestShare } from "./request-share.ts";
import type { Suspects } from "./suspects.ts";

/**
 * How long a free handler waits for others that are about to end, ms: one request then serves all of them. Not over TCP.
 */
const LINGER = 5;
/** A long poll ends this much before the last task could begin, ms: its last dequeue takes a request. */
const LAST_LOOK = 100;

/** The parts of a drain that decide whether it dequeues. */
interface Parts<T> {
  readonly handlers: HandlerPool<T>;
  readonly requests: DrainRequests<T>;
  readonly remaining: RemainingTasks;
  readonly suspects: Suspects;
  readonly share: RequestShare | undefined;
}

/** Decides whether a drain dequeues now, and what it asks for. */
export class Dequeues<T> {
  readonly #options: Pick<CheckedOptions, "wholeBatches" | "wait" | "lease" | "worker"> & PaceOptions;
  readonly #parts: Parts<T>;
  readonly #pace: Pace;

  constructor(options: CheckedOptions & PaceOptions, parts: Parts<T>) {
    this.#options = options;
    this.#parts = parts;
    this.#pace = new Pace(options, parts.handlers, parts.requests);
  }

  /**
   * Whether the next dequeue goes out before waiting handlers begin, although another one may be under way. Not if
   * requests are limited.
   */
  get areAhead(): boolean {
    const { handlers, requests, remaining, share } = this.#parts;
    // What runs ends soon, and is settled by the same request.
    const settles = requests.buffer.size + handlers.freeHandlers > 0;
    return settles && remaining.hasMore && !share && requests.dequeues < 2 && this.#pace.isQuick;
  }

  /**
   * The dequeue to send now, if any.
   * @param settle whether a settlement goes out now
   * @param hadTurn false if handlers may still end in this turn of the event loop
   * @param stopAt when handlers are stopped
   * @param isDue whether a time has come
   * @returns or why no task can begin any more; or "turn" if the event loop needs one first
   */
  next(
    settle: boolean,
    hadTurn: boolean,
    stopAt: number,
    isDue: (at: number) => boolean,
  ): DequeueRequest | "budget" | "requests" | "turn" | undefined {
    const { handlers, requests, remaining, suspects, share } = this.#parts;
    const { wholeBatches, wait, lease, worker, connected } = this.#options;
    const { isIdle, hasFreeHandler, longestDuration, firstEndAt = 0 } = handlers;
    const { buffer, roundTrip, dequeues } = requests;
    const { areAhead } = this;
    if (dequeues > 0 && !areAhead) return undefined;
    const { hasMore, mayHaveMore, dequeueAgainAt, gatherUntil } = remaining;
    const prefetch = hasMore && this.#pace.runsOut && (areAhead || !this.#pace.isQuick);
    if (!(hasFreeHandler || prefetch) || !suspects.mayDequeue(isDue)) return undefined;
    // Of several last requests, only the last one dequeues: then its reply counts no lease of this drain.
    if (isIdle && !buffer.fitsOneRequest) return undefined;
    const wanted =
      isIdle && buffer.size === 0
        ? !remaining.isEmpty(handlers.endedCalls)
        : settle ||
          prefetch ||
          (mayHaveMore && isDue(Math.max(firstEndAt + (connected ? 0 : LINGER), dequeueAgainAt)));
    if (!wanted || !isDue(gatherUntil)) return undefined;
    if (!settle && !isIdle && !hadTurn) return "turn";
    const left = stopAt - performance.now() - roundTrip.mean;
    const { batch } = this.#pace;
    const room = handlers.callsThatFit(left, wholeBatches ? 1 : batch);
    const affordable = share?.tasksThatFit(handlers.waitingTasks) ?? batch;
    if (room === 0 || affordable === 0) {
      return hasFreeHandler ? (room === 0 ? "budget" : "requests") : undefined;
    }
    const max = Math.min(wholeBatches ? batch : suspects.atMost(room), affordable);
    const dequeue = { max, lease, worker };
    const mostWait = Math.min(wait, share?.longestWait ?? wait);
    const longestWait = Math.min(mostWait, Math.floor(left - longestDuration - LAST_LOOK));
    // If tasks are left, the dequeue need not wait.
    if (longestWait <= 0 || areAhead || (hasMore && !isIdle)) return dequeue;
    // With a token of its own, which costs one more command, the dequeue can be sent again after it was cut
    // short.
    return { ...dequeue, wait: longestWait, token: newToken() };
  }
}
