import { SluiceError } from "../../errors.ts";
import { sleep } from "../../sleep.ts";
import { milliseconds, type Duration } from "../core/duration.ts";

/** Longest that one call may wait, ms. */
export const LONGEST_WAIT = 60_000;

/** From one look to the next, ms: at first, then twice as long each time, up to the longest. */
const FIRST_PAUSE = 100;
const LONGEST_PAUSE = 500;

/** From a pull that found nothing to one for what has fallen due since, ms: a trickle of retries is taken together. */
const GATHER = 250;

/** After a pull that found nothing although something was in line, held by a limit or a pause, ms. */
const HELD_PAUSE = 2_000;

/** How many pulls in a row may find nothing although something is said to be ready: then who says so is not believed. */
export const IN_VAIN = 10;

/** How often it looks at what is delayed, too: what was delayed since the last pull may be due before all else, ms. */
const DUE_EVERY = 2_000;

/** How often it pulls without a reason, ms: a lease of another holder may have come and gone since. */
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
  /**
   * Whether anything is in line, in one command; and where it is asked for, in one more each, when the first delayed task
   * is due (null: none is), and Redis's time.
   */
  readonly look: (ask: { readonly due: boolean; readonly time: boolean }) => Promise<Look>;
}

/** Epoch ms. */
interface Look {
  readonly some: boolean;
  readonly dueAt?: number | null | undefined;
  readonly now?: number | undefined;
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
  let inVain = 0;
  let pulledAt = performance.now();
  let askedAt = pulledAt;
  /** When something falls due, by Redis's clock, and what that is ahead of this function's: learnt when it matters. */
  let dueAt = first.nextDueAt;
  let ahead: number | undefined;
  const untilDue = () =>
    dueAt === null || ahead === undefined ? Number.POSITIVE_INFINITY : dueAt - ahead - performance.now();
  const untilPull = () => {
    const due = untilDue();
    const sincePull = performance.now() - pulledAt;
    return due + sincePull > 0 ? Math.max(due, GATHER - sincePull) : due;
  };
  while (batch.length === 0 && left() > 0) {
    await sleep(Math.ceil(Math.min(pause, Math.max(untilPull(), 1), left())), signal);
    if (signal?.aborted) throw new SluiceError("aborted", "the wait for tasks was aborted by its signal");
    if (left() < EARLY) break;
    const due = performance.now() - askedAt >= DUE_EVERY;
    const seen = await look({ due, time: dueAt !== null && ahead === undefined });
    if (seen.now !== undefined) ahead = seen.now - performance.now();
    if (due) askedAt = performance.now();
    if (seen.dueAt != null) dueAt = Math.min(dueAt ?? seen.dueAt, seen.dueAt);
    const isDue = untilPull() <= 0;
    if (seen.some || isDue || performance.now() - pulledAt >= PULL_EVERY) {
      batch = await pull(false);
      pulledAt = performance.now();
      dueAt = batch.nextDueAt;
      // Such as under a token that is used up: it is given nothing any more, whatever there is.
      if (untilDue() > 0) inVain = 0;
      else if (++inVain >= IN_VAIN) dueAt = null;
      pause = seen.some || isDue ? HELD_PAUSE : LONGEST_PAUSE;
    } else {
      pause = Math.min(pause * 2, LONGEST_PAUSE);
    }
  }
  return batch.length > 0 ? batch : pull(true);
}
