import { invalidArgument } from "../../errors.ts";
import { type Backoff, checkBackoff } from "../../queue/core/backoff.ts";
import { MAX_DURATION } from "../../queue/core/duration.ts";
import { onlyOptions, trueOrFalse } from "../../queue/core/validation.ts";
import type { BatchHandler, Task, TaskOutcome } from "../drain/types.ts";
import { outcomeOf } from "../drain/to-settlement.ts";

/** The largest number that workerd takes. */
const MAX_SECONDS = 2_147_483_647;

/** When what is retried is delivered again; without `delaySeconds` as the adapter's `backoff` says. */
export interface CloudflareRetryOptions {
  readonly delaySeconds?: number | undefined;
}

/** A task as a Cloudflare Queues consumer knows it: `Message` in Cloudflare's "JavaScript APIs". */
export interface CloudflareMessage<Body = unknown> {
  /** The task's id. */
  readonly id: string;
  /** When the task was enqueued. */
  readonly timestamp: Date;
  /** The payload; a `Uint8Array` as an `ArrayBuffer`, which is what content type `bytes` gives there. */
  readonly body: Body;
  /** Which delivery this is, from 1. */
  readonly attempts: number;
  ack(): void;
  retry(options?: CloudflareRetryOptions): void;
}

/** The tasks of one pull: `MessageBatch` in Cloudflare's "JavaScript APIs". */
export interface CloudflareBatch<Body = unknown> {
  readonly queue: string;
  readonly messages: readonly CloudflareMessage<Body>[];
  /** Not known here: the zeros that the runtime shows where it was not told. */
  readonly metadata: {
    readonly metrics: {
      readonly backlogCount: number;
      readonly backlogBytes: number;
      readonly oldestMessageTimestamp?: Date;
    };
  };
  ackAll(): void;
  retryAll(options?: CloudflareRetryOptions): void;
}

/** What there is of an `ExecutionContext` where the platform has none. */
export interface CloudflareContext {
  waitUntil(promise: Promise<unknown>): void;
  /** Means nothing to a queue. */
  passThroughOnException(): void;
  readonly props: unknown;
}

// Declared as a method: only so may a handler name the platform's own, larger types for its parameters.
interface Consumer<Body, Env, Context> {
  queue(batch: CloudflareBatch<Body>, env: Env, ctx: Context): unknown;
}

/** A Worker with a `queue` handler, or that handler alone. */
export type CloudflareConsumer<Body = unknown, Env = unknown, Context = CloudflareContext> =
  | Partial<Consumer<Body, Env, Context>>
  | Consumer<Body, Env, Context>["queue"];

export interface CloudflareQueueOptions<Env = unknown, Context = CloudflareContext> {
  /** What the handler reads as `batch.queue`; usually the name that the queue has on Cloudflare. */
  readonly queue: string;
  /** The handler's second argument. @default undefined */
  readonly env?: Env | undefined;
  /**
   * The context of the invocation that drains. The handler's third argument is this one, but for `waitUntil`.
   * @default a {@link CloudflareContext} and nothing more
   */
  readonly ctx?: Context | undefined;
  /**
   * Before the next attempt of what is retried without a delay of its own, and of what failed. A consumer's
   * `retry_delay` of a minute is `["1m"]`; the default there is `[0]`, which uses all attempts up within moments.
   * @default true: exponential with full jitter, 1 s to 15 min
   */
  readonly backoff?: Backoff | true | undefined;
  /**
   * Whether the batch ends, and may still fail, with the last promise that `ctx.waitUntil` was given. False is the
   * compatibility flag `queue_consumer_no_wait_for_wait_until`; it needs a `ctx`, to see these promises through.
   * @default true
   */
  readonly waitForWaitUntil?: boolean | undefined;
}

/** The payload of a task whose message has that body. */
export type CloudflarePayload<Body> = Body extends ArrayBuffer ? Uint8Array : Body;

/**
 * Lets `drainBatches` work with a Cloudflare Queues consumer, a Worker's `queue(batch, env, ctx)`, as it is:
 *
 * ```ts
 * await drainBatches(emails, cloudflareQueue(worker, { queue: "emails", env, ctx }), { budget: "25s" });
 * ```
 *
 * What becomes of a task, by Cloudflare's "JavaScript APIs" and "Batching, Retries and Delays", and where these are
 * silent by what workerd does:
 * - `ack()` completes it and `retry()` requeues it, whatever becomes of the batch. Of the two the first call counts;
 *   of several `retry()` the last, for the delay. Either goes before `ackAll()` and `retryAll()` if it was called first.
 * - Of `ackAll()` and `retryAll()` the first call counts; after `ackAll()` a `retry()`, after `retryAll()` an `ack()`
 *   has no effect. A later `retryAll()` changes the delay, if it names one.
 * - All others are completed when the handler, and each promise given to `ctx.waitUntil()`, has ended well. They are
 *   requeued, with the error, if any of these failed (by a `NonRetryableError` or `RetryAfter` as in `drain`), or
 *   the drain's time was over first. Until then calls count.
 *
 * Dead letters are by the task's `maxAttempts`, not by `max_retries`. A `delaySeconds` may be longer than Cloudflare's,
 * up to ten years; a negative one is 0, and what is no whole number becomes one as in workerd.
 * @throws {SluiceError} `invalid_argument`
 */
export function cloudflareQueue<Body = unknown, Env = unknown, Context = CloudflareContext>(
  worker: CloudflareConsumer<Body, Env, Context>,
  options: CloudflareQueueOptions<Env, Context>,
): BatchHandler<CloudflarePayload<Body>> {
  onlyOptions(options, ["queue", "env", "ctx", "backoff", "waitForWaitUntil"]);
  const { queue, env, ctx, backoff = true, waitForWaitUntil = true } = options;
  const consumer = (typeof worker === "function" ? { queue: worker } : worker) as Consumer<
    Body,
    Env,
    Context
  >;
  if (typeof consumer?.queue !== "function")
    throw invalidArgument("worker", "must have a queue() function, or be one");
  if (typeof queue !== "string" || queue === "") throw invalidArgument("queue", "must be the queue's name");
  if (!trueOrFalse(waitForWaitUntil, "waitForWaitUntil") && ctx === undefined) {
    throw invalidArgument("ctx", "must be given where waitForWaitUntil is false");
  }
  checkBackoff(backoff);

  return async (tasks, signal) => {
    const answers = new Answers();
    const work = new Work();
    const batch = { queue, ...answers.batchOf<Body>(tasks) };
    const context = (waitForWaitUntil ? contextOf(work, ctx) : ctx) as Context;
    // Async, so that a handler that throws at once still has its waitUntil.
    const handled = (async () => consumer.queue(batch, env as Env, context))();
    const failure = await Promise.race([work.failure(handled), stopOf(signal)]);
    return answers.outcomes(tasks, failure, backoff);
  };
}

/** What a handler said of its batch; kept as workerd keeps it. */
class Answers {
  readonly #acked = new Set<string>();
  readonly #retried = new Map<string, number | undefined>();
  #all: { readonly ack: boolean; readonly delay?: number | undefined } | undefined;

  batchOf<Body>(tasks: readonly Task[]): Omit<CloudflareBatch<Body>, "queue"> {
    return {
      messages: tasks.map((task) => this.#messageOf<Body>(task)),
      metadata: { metrics: { backlogCount: 0, backlogBytes: 0 } },
      ackAll: () => {
        this.#all ??= { ack: true };
      },
      retryAll: (options) => {
        const delay = delayOf(options);
        if (!this.#all?.ack) this.#all = { ack: false, delay: delay ?? this.#all?.delay };
      },
    };
  }

  #messageOf<Body>({ id, payload, enqueuedAt, attempt }: Task): CloudflareMessage<Body> {
    return {
      id,
      timestamp: new Date(enqueuedAt),
      body: (payload instanceof Uint8Array ? new Uint8Array(payload).buffer : payload) as Body,
      attempts: attempt,
      ack: () => {
        if (!this.#all && !this.#retried.has(id)) this.#acked.add(id);
      },
      retry: (options) => {
        const delay = delayOf(options);
        if (!this.#all?.ack && !this.#acked.has(id)) this.#retried.set(id, delay);
      },
    };
  }

  outcomes(tasks: readonly Task[], failure: Failure, backoff: Backoff | true): TaskOutcome[] {
    const error = failure && { error: failure.error };
    const retry = (delay?: number): TaskOutcome => ({
      outcome: "requeue",
      ...(delay === undefined ? { backoff } : { delay }),
      ...error,
    });
    return tasks.map(({ id }) => {
      if (this.#acked.has(id)) return { outcome: "complete" };
      if (this.#retried.has(id)) return retry(this.#retried.get(id));
      if (this.#all) return this.#all.ack ? { outcome: "complete" } : retry(this.#all.delay);
      return failure ? outcomeOf(failure.error, backoff) : { outcome: "complete" };
    });
  }
}

/** The delay that was asked for, ms. Converted as workerd does: what is no number is 0, fractions are cut. */
function delayOf(options: CloudflareRetryOptions | undefined): number | undefined {
  const asked: unknown = options?.delaySeconds;
  if (asked === undefined) return undefined;
  const seconds = Number.isFinite(Number(asked)) ? Math.trunc(Number(asked)) : 0;
  if (Math.abs(seconds) > MAX_SECONDS) {
    throw new TypeError(`delaySeconds must be a whole number from 0 to ${MAX_SECONDS}`);
  }
  return Math.min(Math.max(seconds, 0) * 1_000, MAX_DURATION);
}

type Failure = { readonly error: unknown } | undefined;

/** What a handler gave to `waitUntil`. */
class Work {
  readonly #parts: Promise<unknown>[] = [];

  /** @returns the same promise, but one that does not fail */
  add(promise: unknown): Promise<unknown> {
    const part = Promise.resolve(promise);
    this.#parts.push(part);
    return part.catch(() => {});
  }

  /** The handler's failure, or else the first other one, once all have ended, also those that are added meanwhile. */
  async failure(handled: Promise<unknown>): Promise<Failure> {
    const failureOf = (part: Promise<unknown>): Promise<Failure> =>
      part.then(
        () => undefined,
        (error: unknown) => ({ error }),
      );
    let failure = await failureOf(handled);
    for (const part of this.#parts) {
      const another = await failureOf(part);
      failure ??= another;
    }
    return failure;
  }
}

/** Ends a batch whose time is over as a failure: what was acknowledged until then stays so. */
function stopOf(signal: AbortSignal): Promise<Failure> {
  return new Promise((resolve) => {
    const stop = () => resolve({ error: signal.reason });
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop, { once: true });
  });
}

function contextOf(work: Work, ctx: unknown): unknown {
  if (ctx === undefined) {
    return {
      waitUntil: (promise: unknown) => void work.add(promise),
      passThroughOnException() {},
      props: {},
    };
  }
  const platform = ctx as CloudflareContext;
  // The failure of such a promise is the batch's, not that of the invocation that drains.
  const waitUntil = (promise: unknown) => platform.waitUntil(work.add(promise));
  return new Proxy(platform, {
    get(target, name) {
      if (name === "waitUntil") return waitUntil;
      const value: unknown = Reflect.get(target, name, target);
      // The platform's functions want to be called on its own object.
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}
