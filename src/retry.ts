import { abortedBySignal, type SluiceError } from "./errors.ts";
import { LONGEST_TIMER, sleep } from "./sleep.ts";

/** How long and how often a request is tried. All times are in milliseconds. */
export interface RetryPolicy {
  /** Longest time of one request: all its tries, and the waits between them. */
  readonly deadline: number;
  /** Longest time of one try. The deadline may shorten it. */
  readonly tryTimeout: number;
  /** Most tries of one request; 1 resends nothing. */
  readonly tries: number;
  /** Upper bound of the wait after the first try; it doubles with each further try. */
  readonly firstWait: number;
  /** Upper bound of every wait. */
  readonly longestWait: number;
}

export const defaultPolicy: RetryPolicy = {
  deadline: 10_000,
  tryTimeout: 5_000,
  tries: Number.MAX_SAFE_INTEGER,
  firstWait: 50,
  longestWait: 1_000,
};

/**
 * A failure that may pass, so that another try is worth it. Callers of {@link retry} see only its message or
 * cause.
 */
export class Transient extends Error {
  override readonly name = "Transient";
  /** The shortest wait before the next try, ms. */
  readonly after: number;

  constructor(message: string, options: { after?: number; cause?: unknown } = {}) {
    super(message, options);
    this.after = options.after ?? 0;
  }
}

/** The other side answers, and refuses what it is asked for now. */
export class Refused extends Transient {}

/** A try that its timeout ended. */
export class TimedOut extends Transient {
  constructor(timeout: number) {
    super(`no answer within ${Math.round(timeout)} ms`);
  }
}

/** One try, as the function that carries it out sees it. */
export class Try {
  /** Why the try was ended, by its timeout or its caller; undefined while it runs. */
  reason: Error | undefined;
  /** Called when the try is ended. */
  onEnd: (() => void) | undefined;
  #controller: AbortController | undefined;

  /** Aborts with the reason when the try is ended. Made when first read: most tries need none. */
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

/** Time and chance, which tests replace. */
export interface Timing {
  /** Milliseconds of a clock that never goes back. */
  readonly now: () => number;
  /** From 0 up to but not including 1. */
  readonly random: () => number;
  /** Resolves after `ms`, or at once when the signal aborts. */
  readonly sleep: (ms: number, signal: AbortSignal | undefined) => Promise<void>;
}

export const realTiming: Timing = { now: () => performance.now(), random: Math.random, sleep };

/** A request that is tried until it succeeds. */
export interface RetriedRequest<T> {
  readonly policy: RetryPolicy;
  /** One try. Its result is dropped if the try was ended before. */
  readonly attempt: (currentTry: Try) => Promise<T>;
  /** Takes the result of a try: `again` asks for another try at once. @default every result is `done` */
  readonly accept?: (result: T) => "done" | "again";
  /**
   * Makes the error to throw when the deadline or the tries are used up. Takes the last failure, and the
   * effort as text, such as "3 tries over 950 ms".
   */
  readonly giveUp: (last: Transient, effort: string) => unknown;
  /** Ends the request. */
  readonly signal: AbortSignal | undefined;
  /** How long the other side was asked to wait, ms: added to the deadline and to the timeout. @default 0 */
  readonly wait?: number | undefined;
  readonly timing?: Timing | undefined;
}

/**
 * Tries a request until `accept` returns `done`. After a {@link Transient} from `attempt` or `accept` it
 * waits and tries again. Any other error ends the request.
 * @returns the accepted result
 * @throws {SluiceError} `aborted` when the signal aborts, with the last failure as its `cause`; what `giveUp`
 *   returns; or the error of a try
 */
export async function retry<T>(request: RetriedRequest<T>): Promise<T> {
  const { policy, attempt, accept, giveUp, signal, wait = 0, timing = realTiming } = request;
  const start = timing.now();
  const end = start + wait + policy.deadline;
  let last: Transient | undefined;
  const exhausted = (tries: number) =>
    giveUp(
      last ?? new Transient("no answer"),
      `${tries} ${tries === 1 ? "try" : "tries"} over ${Math.round(timing.now() - start)} ms`,
    );
  for (let tries = 1; ; tries++) {
    if (signal?.aborted) throw aborted(tries > 1, last);
    const now = timing.now();
    // A sleep may last longer than it was asked to.
    if (now >= end) throw exhausted(tries - 1);
    const timeout = Math.max(0, start + wait - now) + policy.tryTimeout;
    try {
      const result = await runTry(Math.min(timeout, end - now, LONGEST_TIMER), signal, last, attempt);
      if (!accept || accept(result) === "done") return result;
    } catch (error) {
      if (!(error instanceof Transient)) throw error;
      // A try that the deadline cut short says less than the one before it.
      if (tries === 1 || end - now >= timeout || !(error instanceof TimedOut)) last = error;
      const pause = Math.max(jitteredWait(tries, policy, timing.random), error.after);
      if (tries >= policy.tries || timing.now() + pause >= end) throw exhausted(tries);
      await timing.sleep(pause, signal);
    }
  }
}

/**
 * The wait after the given try (1 for the first), ms: anywhere between 0 and a bound that doubles. Full
 * jitter spreads the next tries of functions that failed together.
 */
export function jitteredWait(
  tries: number,
  { firstWait, longestWait }: RetryPolicy,
  random: () => number,
): number {
  return random() * Math.min(longestWait, firstWait * 2 ** (tries - 1));
}

/** Runs one try; ends it, and does not wait for it, at the timeout or when the caller aborts. */
function runTry<T>(
  timeout: number,
  caller: AbortSignal | undefined,
  last: Transient | undefined,
  attempt: (currentTry: Try) => Promise<T>,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const own = new Try();
    const end = (reason: Error) => {
      leave();
      reject(reason);
      own.end(reason);
    };
    const onAbort = () => end(aborted(true, last));
    caller?.addEventListener("abort", onAbort);
    const timer = setTimeout(() => end(new TimedOut(timeout)), timeout);
    const leave = () => {
      clearTimeout(timer);
      caller?.removeEventListener("abort", onAbort);
    };
    void attempt(own).then(resolve, reject).finally(leave);
  });
}

function aborted(sent: boolean, last: Transient | undefined): SluiceError {
  return causedBy(last, abortedBySignal(sent));
}

/** Gives an error the failure of the last try as its `cause`. */
export function causedBy(last: unknown, error: SluiceError): SluiceError {
  error.cause = last;
  return error;
}

/**
 * The failure of a `fetch`, with the system's code, such as `ECONNREFUSED`.
 * @param otherwise the code to show if the runtime reports none
 */
export function networkError(error: unknown, otherwise?: string): Transient {
  const code = (error as { cause?: { code?: string } } | undefined)?.cause?.code ?? otherwise;
  return new Transient(`a network error${code === undefined ? "" : ` (${code})`}`);
}
