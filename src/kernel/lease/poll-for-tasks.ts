/** What a dequeue that waits needs. It is loaded with the first one that finds no task. */
import { SluiceError } from "../../errors.ts";
import { sleep } from "../../sleep.ts";
import { MAX_EMPTY_DEQUEUES } from "./long-poll.ts";

/** Pause between two checks, ms: doubled each time, up to the longest. */
const FIRST_PAUSE = 100;
const LONGEST_PAUSE = 500;

/**
 * Shortest time between an empty dequeue and one for tasks that became due after it, ms: the second dequeue
 * then takes several together.
 */
const GATHER_PAUSE = 250;

/** Pause after an empty dequeue of a queue with pending or due tasks, ms: a limit or a pause holds them. */
const LIMITED_PAUSE = 2_000;

/**
 * How often a check also reads when the first delayed task is due, ms: a task may have been delayed since the
 * last dequeue.
 */
const DUE_EVERY = 2_000;

/** After this time without a dequeue, ms, it dequeues anyway: a lease may have begun and expired since. */
const DEQUEUE_EVERY = 10_000;

/** How much too early a timer may fire, ms. */
const TIMER_SLACK = 2;

/** What a long poll needs of a batch. */
interface PolledBatch {
  readonly length: number;
  readonly nextDueAt: number | null;
}

export interface LongPollSteps<B extends PolledBatch> {
  /** Dequeues. The last dequeue must make sure that no late copy of an earlier one leases tasks. */
  readonly dequeue: (last: boolean) => Promise<B>;
  /**
   * Checks whether tasks are pending, with one command. `due` also reads when the first delayed task is due
   * (null if there is none), and `time` reads Redis's time. Each costs one more command.
   */
  readonly check: (ask: { readonly due: boolean; readonly time: boolean }) => Promise<QueueCheck>;
}

/** The state of a queue. Instants are epoch ms. */
interface QueueCheck {
  readonly hasPending: boolean;
  readonly dueAt?: number | null | undefined;
  readonly now?: number | undefined;
}

/**
 * Waits until a dequeue returns tasks. While no task is pending it checks with one command. It dequeues when
 * tasks are pending, when one falls due, every ten seconds, and when the time is over.
 * @param first the batch of the dequeue before the wait
 * @param wait ms
 * @returns the first batch with tasks, or the last empty one
 * @throws {SluiceError} `aborted` if the signal aborts
 */
export async function pollForTasks<B extends PolledBatch>(
  first: B,
  wait: number,
  { dequeue, check }: LongPollSteps<B>,
  signal: AbortSignal | undefined,
): Promise<B> {
  const end = performance.now() + wait;
  const left = () => end - performance.now();
  let batch = first;
  let pause = FIRST_PAUSE;
  let emptyDequeues = 0;
  let dequeuedAt = performance.now();
  let readDueAt = dequeuedAt;
  /** When a task falls due, by Redis's clock. */
  let dueAt = first.nextDueAt;
  /** How far Redis's clock is ahead of this function's, ms; read when it is needed. */
  let ahead: number | undefined;
  const untilDue = () =>
    dueAt === null || ahead === undefined ? Number.POSITIVE_INFINITY : dueAt - ahead - performance.now();
  const untilDequeue = () => {
    const due = untilDue();
    const sinceDequeue = performance.now() - dequeuedAt;
    return due + sinceDequeue > 0 ? Math.max(due, GATHER_PAUSE - sinceDequeue) : due;
  };
  while (batch.length === 0 && left() > 0) {
    await sleep(Math.ceil(Math.min(pause, Math.max(untilDequeue(), 1), left())), signal);
    if (signal?.aborted) throw new SluiceError("aborted", "the wait for tasks was aborted by its signal");
    if (left() < TIMER_SLACK) break;
    const due = performance.now() - readDueAt >= DUE_EVERY;
    const state = await check({ due, time: dueAt !== null && ahead === undefined });
    if (state.now !== undefined) ahead = state.now - performance.now();
    if (due) readDueAt = performance.now();
    if (state.dueAt != null) dueAt = Math.min(dueAt ?? state.dueAt, state.dueAt);
    const isDue = untilDequeue() <= 0;
    if (state.hasPending || isDue || performance.now() - dequeuedAt >= DEQUEUE_EVERY) {
      batch = await dequeue(false);
      dequeuedAt = performance.now();
      dueAt = batch.nextDueAt;
      // A dequeue whose token is used up never gets tasks, for example.
      if (untilDue() > 0) emptyDequeues = 0;
      else if (++emptyDequeues >= MAX_EMPTY_DEQUEUES) dueAt = null;
      pause = state.hasPending || isDue ? LIMITED_PAUSE : LONGEST_PAUSE;
    } else {
      pause = Math.min(pause * 2, LONGEST_PAUSE);
    }
  }
  return batch.length > 0 ? batch : dequeue(true);
}
