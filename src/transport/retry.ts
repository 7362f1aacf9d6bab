import { invalidArgument, SluiceError } from "../errors.ts";
import { LONGEST_TIMER, sleep } from "../sleep.ts";

/** How long and how often a transport resends what is worth resending. All times are in milliseconds. */
export interface RetryOptions {
  /** For all tries of one request and the waits between them. @default 10_000 */
  readonly deadline?: number | undefined;
  /** For one try; never past the deadline. @default 5_000 */
  readonly tryTimeout?: number | undefined;
  /** Tries of one request; 1 resends nothing. @default as many as the deadline allows */
  readonly tries?: number | undefined;
  /** Upper bound of the wait after the first try; it doubles with each further one. @default 50 */
  readonly firstWait?: number | undefined;
  /** Upper bound of every wait. @default 1_000 */
  readonly longestWait?: number | undefined;
}

export type RetryPolicy = { readonly [name in keyof RetryOptions]-?: number };

/** A failure that another try may not meet. It never leaves the transport, its message may. */
export class Transient extends Error {
  override readonly name = "Transient";
}

class TimedOut extends Transient {
  constructor(timeout: number) {
    super(`no answer within ${Math.round(timeout)} ms`);
  }
}

/** One try, for those who carry it out. */
export class Try {
  /** Why it was ended, by its timeout or its caller; undefined while it goes on. */
  reason: Error | undefined;
  /** Called when it is ended. */
  onEnd: (() => void) | undefined;
  #controller: AbortController | undefined;

  /** Aborts when it is ended, with the reason. Made where it is asked for: few need one. */
  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.reason) this.#controller.abort(this.reason);
    return this.#controller.signal;
  }

  end(reason: Error): void {
    this.reason = reason;
    this.onEnd?.();
    this.#controller?.abort(reason);
  }
}

/** Time and chance, so that tests can own them. */
export interface Pace {
  /** Milliseconds of a clock that never goes back. */
  readonly now: () => number;
  /** From 0 up to but not including 1. */
  readonly random: () => number;
  /** Resolves after `ms`, or at once when the signal aborts. */
  readonly sleep: (ms: number, signal: AbortSignal | undefined) => Promise<void>;
}

export const realPace: Pace = { now: () => performance.now(), random: Math.random, sleep };

const defaults: RetryPolicy = {
  deadline: 10_000,
  tryTimeout: 5_000,
  tries: Number.MAX_SAFE_INTEGER,
  firstWait: 50,
  longestWait: 1_000,
};
const counts = { unit: "tries", least: 1, most: Number.MAX_SAFE_INTEGER };
const waits = { unit: "milliseconds", least: 0, most: LONGEST_TIMER };
const limits = { unit: "milliseconds", least: 1, most: LONGEST_TIMER };

/** @throws {SluiceError} `invalid_argument` where an option is unknown or out of its bounds */
export function retryPolicy(options: RetryOptions = {}): RetryPolicy {
  const policy = { ...defaults };
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined) continue;
    const path = `retry.${name}`;
    if (!isOption(name)) {
      const known = Object.keys(defaults).join(", ");
      throw invalidArgument(path, `is unknown; allowed are ${known}`);
    }
    const { unit, least, most } = name === "tries" ? counts : name.endsWith("Wait") ? waits : limits;
    if (typeof value !== "number" || !(value >= least && value <= most)) {
      const message = `${path} must be a number of ${unit} from ${least} to ${most}`;
      throw new SluiceError("invalid_argument", message, path);
    }
    policy[name] = value;
  }
  return policy;
}

function isOption(name: string): name is keyof RetryPolicy {
  return Object.hasOwn(defaults, name);
}

/**
 * The wait after the given try (1 for the first): anywhere between nothing and a bound that
 * doubles. Full jitter, because functions that failed together must not come back together.
 */
export function backoff(
  tries: number,
  { firstWait, longestWait }: RetryPolicy,
  random: () => number,
): number {
  return random() * Math.min(longestWait, firstWait * 2 ** (tries - 1));
}

/**
 * Tries until `accept` says `done`. A {@link Transient} from either function leads to a wait and
 * another try, `again` to another try at once, any other error to the end.
 * @param attempt one try; what it gives after it was ended is dropped
 * @throws {SluiceError} `redis_unreachable` when the deadline or the number of tries is used up,
 * `aborted` when the caller's signal aborts
 */
export async function retrying<T>(
  policy: RetryPolicy,
  pace: Pace,
  signal: AbortSignal | undefined,
  attempt: (own: Try) => Promise<T>,
  accept: (result: T) => "done" | "again",
): Promise<void> {
  const start = pace.now();
  const end = start + policy.deadline;
  let last = "no answer";
  for (let tries = 1; ; tries++) {
    if (signal?.aborted) throw aborted(tries > 1);
    const left = end - pace.now();
    // A sleep may last longer than it was asked to.
    if (left <= 0) throw unreachable(tries - 1, pace.now() - start, last);
    try {
      if (accept(await within(Math.min(policy.tryTimeout, left), signal, attempt)) === "done") return;
    } catch (error) {
      if (!(error instanceof Transient)) throw error;
      // A try that the deadline cut short says less than the one before it.
      if (tries === 1 || left >= policy.tryTimeout || !(error instanceof TimedOut)) last = error.message;
      const wait = backoff(tries, policy, pace.random);
      if (tries >= policy.tries || pace.now() + wait >= end) {
        throw unreachable(tries, pace.now() - start, last);
      }
      await pace.sleep(wait, signal);
    }
  }
}

/** Runs one try; ends it, and does not wait for it, at the timeout or when the caller aborts. */
function within<T>(
  timeout: number,
  caller: AbortSignal | undefined,
  attempt: (own: Try) => Promise<T>,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const own = new Try();
    const end = (reason: Error) => {
      leave();
      reject(reason);
      own.end(reason);
    };
    const onAbort = () => end(aborted(true));
    caller?.addEventListener("abort", onAbort);
    const timer = setTimeout(() => end(new TimedOut(timeout)), timeout);
    const leave = () => {
      clearTimeout(timer);
      caller?.removeEventListener("abort", onAbort);
    };
    attempt(own).then(
      (result) => {
        leave();
        resolve(result);
      },
      (error: unknown) => {
        leave();
        reject(error);
      },
    );
  });
}

function aborted(sent: boolean): SluiceError {
  const effect = sent ? "it may have taken effect" : "it was not sent";
  return new SluiceError("aborted", `the request was aborted by its signal; ${effect}`);
}

function unreachable(tries: number, elapsed: number, cause: string): SluiceError {
  const effort = `${tries} ${tries === 1 ? "try" : "tries"} over ${Math.round(elapsed)} ms`;
  return new SluiceError(
    "redis_unreachable",
    `Redis gave no useful answer in ${effort}; the last time: ${cause}`,
  );
}
