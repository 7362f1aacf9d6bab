import { type Config, type Environment, readConfig } from "../src/config.ts";
import { drain, type DrainOptions, type DrainReport, type HeldTask } from "../src/consumer/drain.ts";
import { reinforced } from "../src/consumer/reinforced.ts";
import { wakeReceiver } from "../src/consumer/wake-receiver.ts";
import { webhookWaker } from "../src/consumer/webhook-waker.ts";
import { SluiceError } from "../src/errors.ts";
import { createApp } from "../src/http/app.ts";
import type { App } from "../src/http/context.ts";
import { misconfigured } from "../src/http/misconfigured.ts";
import { Problem, problemResponse } from "../src/http/problem.ts";
import { milliseconds } from "../src/queue/duration.ts";
import { Queue, type QueueOptions } from "../src/queue/queue.ts";
import { sweep } from "../src/queue/sweep.ts";
import type { Transport } from "../src/queue/transport.ts";
import type { Duration } from "../src/queue/types.ts";
import type { Waker } from "../src/queue/waker.ts";
import { upstash } from "../src/transport/upstash.ts";

/** Works on the tasks of one queue, as a drain's handler does; `env` is the deployment's environment. */
export type ConsumerHandler<Env = Environment, T = unknown> = (task: HeldTask<T>, env: Env) => unknown;

/** A handler, or one with the options of its drain and of its queue. */
export type Consumer<Env = Environment, T = unknown> =
  | ConsumerHandler<Env, T>
  | (Omit<DrainOptions, "budget" | "signal" | "closing"> &
      Pick<QueueOptions<unknown, T>, "schema"> & { readonly handler: ConsumerHandler<Env, T> });

/** Lets work go on after the response. */
export type WaitUntil = (promise: Promise<unknown>) => void;

/** What a request handler of one's own may use. */
export interface Around<Env = Environment> {
  readonly env: Env;
  /** A queue of the deployment's database; what is enqueued there wakes its consumer. */
  readonly queue: <In = unknown, Out = In>(
    name: string,
    options?: Omit<QueueOptions<In, Out>, "transport" | "prefix" | "wake" | "now">,
  ) => Queue<In, Out>;
  /** Lets work go on after the response, where the platform can. */
  readonly waitUntil: WaitUntil | undefined;
}

export interface ServiceOptions<Env = Environment> {
  /** Who works on which queue. @default nobody does here */
  readonly consumers?: Readonly<Record<string, Consumer<Env, never>>> | undefined;
  /** Answers what is not `/v1/…`, `/wake`, `/health`, `/docs` or `/openapi.json`. @default 404 */
  readonly fetch?: ((request: Request, around: Around<Env>) => Response | Promise<Response>) | undefined;
  /** How long one invocation may work. @default what the platform allows, less some seconds */
  readonly budget?: Duration | undefined;
}

/** What a platform brings. */
export interface Platform {
  /** How it reaches Redis. */
  readonly transport: (redis: Config["redis"]) => Transport;
  /** How long one invocation may work. */
  readonly budget: Duration;
  /** What work goes on after a response: none, for some seconds, or, in a process that lives on, any. */
  readonly afterResponse: "none" | "bounded" | "any";
  /** Another way to the consumers at the wake URL, such as a service binding. */
  readonly wakeFetch?: ((request: Request) => Promise<Response>) | undefined;
  /** How long a wake waits for its answer; whoever has not answered by then works. @default "2s" */
  readonly wakeTimeout?: Duration | undefined;
  /** How a drain is told that the process is to end, where it lives on: first gently, then at once. */
  readonly ending?: Pick<DrainOptions, "closing" | "signal"> | undefined;
}

/** Of drains that end within this time of each other, ms, one hands over. */
const HAND_OVER = 100;

/** What the service answers itself; all else is the deployment's own. */
const OURS = /^\/(?:v1\/.*|wake|health|docs|openapi\.json)$/;

/** All that one deployment does, whatever the platform: the HTTP interface, cron, wakes and consumers. */
export class Service<Env extends Environment = Environment> {
  readonly #env: Env;
  readonly #options: ServiceOptions<Env>;
  readonly #platform: Platform;
  readonly #config: Config;
  readonly #transport: Transport;
  readonly #app: App;
  readonly #elsewhere: Waker | undefined;
  readonly #budget: number;
  /** In a process that lives on: the queues that are worked on. */
  readonly #working = new Map<string, Promise<DrainReport>>();
  /** Those of them for which a wake has come meanwhile. */
  readonly #wokenAgain = new Set<string>();

  /** @throws {SluiceError} `invalid_argument` where the environment is not complete */
  constructor(env: Env, options: ServiceOptions<Env>, platform: Platform) {
    this.#env = env;
    this.#options = options;
    this.#platform = platform;
    this.#config = readConfig(env);
    this.#transport = platform.transport(this.#config.redis);
    this.#budget = milliseconds(options.budget ?? platform.budget, "budget", { min: 1_000 });
    const { tokens, cronSecret, prefix, wakeUrl, wakeSecrets } = this.#config;
    const [secret] = wakeSecrets;
    const url = wakeUrl ?? (platform.wakeFetch && "https://consumer/wake");
    const { wakeFetch, wakeTimeout } = platform;
    this.#elsewhere =
      url && secret ? webhookWaker({ url, secret, fetch: wakeFetch, timeout: wakeTimeout }) : undefined;
    const wake = this.#waker(platform.afterResponse !== "none", () => this.#budget);
    this.#app = createApp({ transport: this.#transport, tokens, cronSecret, prefix, wake });
  }

  /**
   * Answers a request.
   * @param time how long this invocation may work, ms; never more than the budget
   */
  async fetch(request: Request, waitUntil?: WaitUntil, time = this.#budget): Promise<Response> {
    const { pathname } = new URL(request.url);
    if (pathname === "/wake") return this.#receive(request, waitUntil, time);
    const own = this.#options.fetch;
    if (own && !OURS.test(pathname)) return own(request, this.#around(waitUntil));
    const context = waitUntil && { waitUntil, passThroughOnException: () => {}, props: {} };
    return this.#app.fetch(request, this.#env, context);
  }

  /**
   * What cron does: sweeps every queue; then the consumers of those with tasks ready work here, or are woken elsewhere.
   * A sweep that moved or missed something leaves a line in the log.
   * @param time how long this invocation may work, ms; never more than the budget
   * @param waitUntil where given, it does not wait for the consumers
   */
  async cron(time = this.#budget, waitUntil?: WaitUntil): Promise<void> {
    const budget = Math.min(time, this.#budget);
    const end = performance.now() + budget;
    const waker = this.#waker(true, () => end - performance.now());
    const wake = waker && { ...waker, waitUntil };
    const report = await sweep(this.#transport, {
      budget: Math.floor(budget * 0.4),
      prefix: this.#config.prefix,
      wake,
      signal: this.#platform.ending?.closing,
    });
    const { promoted, reclaimed, rejected, expired, failed } = report;
    if (failed.length > 0) console.error(JSON.stringify({ sweep: report }));
    else if (promoted + reclaimed + rejected + expired > 0) console.log(JSON.stringify({ sweep: report }));
  }

  #around(waitUntil: WaitUntil | undefined): Around<Env> {
    const { prefix } = this.#config;
    const waker = this.#waker(waitUntil !== undefined, () => this.#budget);
    const shared = { transport: this.#transport, prefix, wake: waker && { ...waker, waitUntil } };
    return {
      env: this.#env,
      waitUntil,
      queue: (name, options) => new Queue(name, { ...options, ...shared }),
    };
  }

  async #receive(request: Request, waitUntil: WaitUntil | undefined, time: number): Promise<Response> {
    const { wakeSecrets } = this.#config;
    if (wakeSecrets.length === 0) {
      return problemResponse(new Problem("misconfigured", { detail: "SLUICE_WAKE_SECRET is not set." }));
    }
    const budget = Math.min(time, this.#budget);
    const work = (queue: string) => (this.#worksOn(queue) ? this.#work(queue, budget) : null);
    return wakeReceiver({ secret: wakeSecrets, drain: work })(request, { waitUntil });
  }

  /**
   * Who is woken: the consumer here, where it may work in this invocation; else one at the wake URL, if there is one. That
   * is this deployment's like, with the same consumers, unless it has none: then somebody else, who works on any queue.
   * @param time how long a consumer here may work, ms
   */
  #waker(mayWorkHere: boolean, time: () => number): Waker | undefined {
    const here = (queue: string) => mayWorkHere && !closing?.aborted && this.#worksOn(queue);
    const elsewhere = this.#elsewhere;
    const closing = this.#platform.ending?.closing;
    const { consumers } = this.#options;
    if (!elsewhere && !(mayWorkHere && consumers)) return undefined;
    return {
      queues: (queue) => here(queue) || (elsewhere !== undefined && (!consumers || this.#worksOn(queue))),
      wake: (queue) => (here(queue) ? this.#work(queue, time()) : elsewhere?.wake(queue)),
    };
  }

  #worksOn(queue: string): boolean {
    return Object.hasOwn(this.#options.consumers ?? {}, queue);
  }

  /** In a process that lives on, one drain at a time works on a queue: so its `concurrency` holds. */
  #work(name: string, time: number): Promise<DrainReport> {
    if (this.#platform.afterResponse !== "any") return this.#drain(name, time);
    let working = this.#working.get(name);
    // That drain may just have found that nothing is left.
    if (working) this.#wokenAgain.add(name);
    else this.#working.set(name, (working = this.#goOn(name)));
    return working;
  }

  async #goOn(name: string): Promise<DrainReport> {
    try {
      for (;;) {
        this.#wokenAgain.delete(name);
        const report = await this.#drain(name, this.#budget);
        if (report.ended === "aborted") return report;
        if (report.ended !== "budget" && !this.#wokenAgain.has(name)) return report;
      }
    } finally {
      this.#working.delete(name);
    }
  }

  /** Works on a queue; where that ends before the work does, another invocation or process goes on. */
  async #drain(name: string, time: number): Promise<DrainReport> {
    const consumer = this.#options.consumers?.[name] as Consumer<Env>;
    const { handler, schema, ...options } =
      typeof consumer === "function" ? { handler: consumer, schema: undefined } : consumer;
    const wake = this.#elsewhere;
    const at = { transport: this.#transport, prefix: this.#config.prefix };
    const queue = new Queue(name, { ...at, schema, wake });
    const report = await drain(wake ? reinforced(queue) : queue, (task) => handler(task, this.#env), {
      ...options,
      ...this.#platform.ending,
      budget: Math.max(Math.floor(time), 1_000),
    });
    const unfinished = report.ended === "budget" || report.ended === "aborted";
    if (wake && unfinished) {
      // The wake that began this drain, not long ago where the budget is short, is no reason not to send another.
      const next = new Queue(name, { ...at, wake: { ...wake, window: HAND_OVER } });
      await next.wakeAnother().catch(() => {});
    }
    return report;
  }
}

/** A deployment's service, made at its first use, when the platform has told the environment. */
export class Deployment<Env extends Environment = Environment> {
  readonly #options: ServiceOptions<Env>;
  readonly #platform: (env: Env) => Platform;
  #service: Service<Env> | undefined;

  constructor(options: ServiceOptions<Env>, platform: (env: Env) => Platform) {
    this.#options = options;
    this.#platform = platform;
  }

  /** @throws {SluiceError} `invalid_argument` where the environment is not complete */
  service(env: Env): Service<Env> {
    this.#service ??= new Service(env, this.#options, this.#platform(env));
    return this.#service;
  }

  /** Answers a request; while the environment is not complete, with what is missing. */
  async fetch(request: Request, env: Env, waitUntil?: WaitUntil, time?: number): Promise<Response> {
    let service: Service<Env>;
    try {
      service = this.service(env);
    } catch (error) {
      return misconfigured(error);
    }
    return service.fetch(request, waitUntil, time);
  }
}

/**
 * The transport of a platform that reaches Redis over HTTP only.
 * @throws {SluiceError} `invalid_argument` for `REDIS_URL`
 */
export function overHttp(redis: Config["redis"]): Transport {
  if ("redisUrl" in redis) {
    throw new SluiceError(
      "invalid_argument",
      "Here Redis is reached over HTTP: set UPSTASH_REDIS_REST_URL and UPSTASH_REDIS_REST_TOKEN, not REDIS_URL",
    );
  }
  return upstash(redis);
}
