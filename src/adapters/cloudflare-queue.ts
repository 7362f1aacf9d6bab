import { invalidArgument } from "../errors.ts";
import { type Backoff, checkBackoff } from "../kernel/options/backoff.ts";
import { MAX_DURATION } from "../kernel/options/duration.ts";
import { onlyOptions, trueOrFalse } from "../kernel/options/validation.ts";
import type { BatchHandler, Task, TaskOutcome } from "../drain/types.ts";
import { outcomeOf } from "../drain/failed-attempt.ts";

/** The largest `delaySeconds` that workerd accepts. */
const MAX_SECONDS = 2_147_483_647;

/** When a retried message is delivered again. Without `delaySeconds` the adapter's `backoff` decides. */
export interface CloudflareRetryOptions {
  readonly delaySeconds?: number | undefined;
}

/** A task as a Cloudflare Queues consumer sees it: `Message` in Cloudflare's "JavaScript APIs". */
export interface CloudflareMessage<Body = unknown> {
  /** The task's id. */
  readonly id: string;
  /** When the task was enqueued. */
  readonly timestamp: Date;
  /** The payload. A `Uint8Array` is an `ArrayBuffer`, as with content type `bytes` on Cloudflare. */
  readonly body: Body;
  /** Delivery number, from 1. */
  readonly attempts: number;
  ack(): void;
  retry(options?: CloudflareRetryOptions): void;
}

/** The tasks of one dequeue: `MessageBatch` in Cloudflare's "JavaScript APIs". */
export interface CloudflareBatch<Body = unknown> {
  readonly queue: string;
  readonly messages: readonly CloudflareMessage<Body>[];
  /** Always zeros, which Cloudflare's runtime also reports when it does not know these numbers. */
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

/** The part of an `ExecutionContext` that the adapter provides if no `ctx` is given. */
export interface CloudflareContext {
  waitUntil(promise: Promise<unknown>): void;
  /** Has no effect. */
  passThroughOnException(): void;
  readonly props: unknown;
}

// A method, so that a handler may declare the platform's own, larger types for its parameters.
interface Consumer<Body, Env, Context> {
  queue(batch: CloudflareBatch<Body>, env: Env, ctx: Context): unknown;
}

/** A Worker with a `queue` handler, or that handler alone. */
export type CloudflareConsumer<Body = unknown, Env = unknown, Context = CloudflareContext> =
  | Partial<Consumer<Body, Env, Context>>
  | Consumer<Body, Env, Context>["queue"];

export interface CloudflareQueueOptions<Env = unknown, Context = CloudflareContext> {
  /** The value of `batch.queue`; usually the queue's name on Cloudflare. */
  readonly queue: string;
  /** The handler's second argument. @default undefined */
  readonly env?: Env | undefined;
  /**
   * The context of the invocation that drains. The handler gets it as its third argument, with another
   * `waitUntil`.
   * @default a {@link CloudflareContext}
   */
  readonly ctx?: Context | undefined;
  /**
   * The delay before the next attempt of failed messages, and of messages that are retried without a delay. A
   * `retry_delay` of a minute is `["1m"]`. Cloudflare's default is `[0]`, which uses up all attempts within
   * moments.
   * @default true: 10 s, 30 s, 90 s, … up to 1 h, each jittered between half and full
   */
  readonly backoff?: Backoff | true | undefined;
  /**
   * Whether the batch waits for the promises given to `ctx.waitUntil`, and fails if one of them fails. False
   * is the compatibility flag `queue_consumer_no_wait_for_wait_until`; it needs a `ctx`, which then waits for
   * these promises.
   * @default true
   */
  readonly waitForWaitUntil?: boolean | undefined;
}

/** The payload of a task, by the type of its message's body. */
export type CloudflarePayload<Body> = Body extends ArrayBuffer ? Uint8Array : Body;

/**
 * Runs an unchanged Cloudflare Queues consumer, a Worker's `queue(batch, env, ctx)`, with `drainBatches`.
 *
 * Outcomes follow Cloudflare's "JavaScript APIs" and "Batching, Retries and Delays", and workerd where these
 * say nothing:
 * - `ack()` completes the task, and `retry()` requeues it, even if the batch fails. The first of the two
 *   counts. The last `retry()` sets the delay. Both count before a later `ackAll()` or `retryAll()`.
 * - The first call of `ackAll()` and `retryAll()` counts. After `ackAll()` a `retry()` has no effect, and
 *   after `retryAll()` an `ack()` has none. A later `retryAll()` with a delay changes the delay.
 * - All other tasks are completed if the handler, and each promise given to `ctx.waitUntil()`, succeeds. They
 *   are requeued with the error if one of these fails, or if the drain's time is over first. A
 *   `NonRetryableError` or `RetryAfter` has the same effect as in `drain`.
 *
 * A task becomes a dead letter by its `maxAttempts`, not by `max_retries`. A `delaySeconds` may be longer
 * than on Cloudflare, up to ten years. A negative one is 0, and fractions are cut as in workerd.
 * @param worker a Worker with a `queue` handler, or that handler
 * @param options.queue the value of `batch.queue`
 * @param options.backoff the delay before the next attempt. Default: 10 s, 30 s, 90 s, … up to 1 h, each
 *   jittered between half and full
 * @returns a handler for `drainBatches`
 * @throws {SluiceError} `invalid_argument`
 * @example
 * await drainBatches(emails, cloudflareQueue(worker, { queue: "emails", env, ctx }), { budget: "25s" });
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
    throw invalidArgument("worker", "must be a function, or an object with a queue() function");
  if (typeof queue !== "string" || queue === "") throw invalidArgument("queue", "must be the queue's name");
  if (!trueOrFalse(waitForWaitUntil, "waitForWaitUntil") && ctx === undefined) {
    throw invalidArgument("ctx", "must be given if waitForWaitUntil is false");
  }
  checkBackoff(backoff);

  return async (tasks, signal) => {
    const decisions = new BatchDecisions();
    const work = new BatchWork();
    const batch = { queue, ...decisions.batchOf<Body>(tasks) };
    const context = (waitForWaitUntil ? contextOf(work, ctx) : ctx) as Context;
    // Async, so that the promises of a handler that throws at once are still waited for.
    const ended = (async () => consumer.queue(batch, env as Env, context))();
    const failure = await Promise.race([work.failure(ended), abortFailure(signal)]);
    return decisions.outcomes(tasks, failure, backoff);
  };
}

/** What a handler decided for the messages of its batch, by the rules of workerd. */
class BatchDecisions {
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

/** The delay of a retry, ms, converted as in workerd: 0 for anything but a number, without fractions. */
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

/** The work of a batch: its handler, and the promises given to `waitUntil`. */
class BatchWork {
  readonly #parts: Promise<unknown>[] = [];

  /** @returns a promise that ends at the same time and does not reject */
  add(promise: unknown): Promise<unknown> {
    const part = Promise.resolve(promise);
    this.#parts.push(part);
    return part.catch(() => {});
  }

  /**
   * Waits for the handler and all promises, also those added meanwhile. Returns the handler's failure, else
   * the first failure of a promise.
   */
  async failure(handler: Promise<unknown>): Promise<Failure> {
    const failureOf = (part: Promise<unknown>): Promise<Failure> =>
      part.then(
        () => undefined,
        (error: unknown) => ({ error }),
      );
    let failure = await failureOf(handler);
    for (const part of this.#parts) {
      const another = await failureOf(part);
      failure ??= another;
    }
    return failure;
  }
}

/** Resolves to a failure when the time of the batch is over. Messages acknowledged before stay so. */
function abortFailure(signal: AbortSignal): Promise<Failure> {
  return new Promise((resolve) => {
    const stop = () => resolve({ error: signal.reason });
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop, { once: true });
  });
}

function contextOf(work: BatchWork, ctx: unknown): unknown {
  if (ctx === undefined) {
    return {
      waitUntil: (promise: unknown) => void work.add(promise),
      passThroughOnException() {},
      props: {},
    };
  }
  const platform = ctx as CloudflareContext;
  // If such a promise fails, the batch fails, not the invocation that drains.
  const waitUntil = (promise: unknown) => platform.waitUntil(work.add(promise));
  return new Proxy(platform, {
    get(target, name) {
      if (name === "waitUntil") return waitUntil;
      const value: unknown = Reflect.get(target, name, target);
      // The platform's functions must be called on its own object.
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}
