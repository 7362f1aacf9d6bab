import { SluiceError } from "../errors.ts";
import { sleep } from "../sleep.ts";
import { milliseconds } from "./duration.ts";
import type { Duration } from "./types.ts";

/** Longest that one call may wait, ms: what every platform allows a request. */
export const LONGEST_WAIT = 60_000;

/** From one look to the next, ms: at first, then twice as long each time, up to the longest. */
const FIRST_PAUSE = 100;
const LONGEST_PAUSE = 500;

/** After a pull that found nothing although something was in line, held by a limit or a pause, ms. */
const HELD_PAUSE = 2_000;

/** How often it pulls without a reason: what was delayed since the last pull may be due before all else, ms. */
const PULL_EVERY = 10_000;

/** How much too early a timer may fire, ms: what is left then is no time to wait for. */
const EARLY = 2;

/** What a pull tells a long poll. */
interface Pulled {
  readonly length: number;
  readonly nextDueAt: number | null;
}

export interface LongPollSteps<B extends Pulled> {
  /** One dequeue. The last one has to make sure that no late copy of an earlier one leases anything. */
  readonly pull: (last: boolean) => Promise<B>;
  /** Whether anything is in line, in one command, and Redis's time, in one more where it is asked for. */
  readonly look: (withTime: boolean) => Promise<{ readonly some: boolean; readonly now: number | undefined }>;
}

/** @throws {SluiceError} `invalid_argument` */
export function waitOf(wait: Duration | undefined): number {
  return milliseconds(wait ?? 0, "wait", { max: LONGEST_WAIT });
}

/**
 * Waits until a pull gives something: where nothing is in line it looks with one command, and pulls when there is
 * something, when something falls due, every ten seconds, and when the time is over.
 * @param first what the pull gave before waiting
 * @param wait ms
 * @throws {SluiceError} `aborted` when the signal does
 */
export async function pollUntilSome<B extends Pulled>(
  first: B,
  wait: number,
  { pull, look }: LongPollSteps<B>,
  signal: AbortSignal | undefined,
): Promise<B> {
  const end = performance.now() + wait;
  const left = () => end - performance.now();
  let batch = first;
  let pause = FIRST_PAUSE;
  let pulledAt = performance.now();
  // When something falls due, on this function's clock: learnt from Redis's own time at the first look.
  let due: number | undefined;
  while (batch.length === 0 && left() > 0) {
    const untilDue = due === undefined ? pause : Math.max(due - performance.now(), 1);
    await sleep(Math.ceil(Math.min(pause, untilDue, left())), signal);
    if (signal?.aborted) throw new SluiceError("aborted", "the wait for tasks was aborted by its signal");
    if (left() < EARLY) break;
    const { some, now } = await look(due === undefined && batch.nextDueAt !== null);
    if (now !== undefined) due = performance.now() + ((batch.nextDueAt ?? now) - now);
    const isDue = due !== undefined && due <= performance.now();
    if (some || isDue || performance.now() - pulledAt >= PULL_EVERY) {
      batch = await pull(false);
      pulledAt = performance.now();
      due = undefined;
      pause = some || isDue ? HELD_PAUSE : LONGEST_PAUSE;
    } else {
      pause = Math.min(pause * 2, LONGEST_PAUSE);
    }
  }
  return batch.length > 0 ? batch : pull(true);
}
