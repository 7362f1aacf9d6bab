import { type Config, type Environment, readConfig } from "../../src/config.ts";
import type { DrainOptions } from "../../src/consumer/drain/types.ts";
import { WakeVerifier } from "../../src/consumer/wake/wake-verifier.ts";
import { answerWake } from "../../src/consumer/wake/wake-receiver.ts";
import { webhookWaker } from "../../src/consumer/wake/webhook-waker.ts";
import { invalidArgument, SluiceError } from "../../src/errors.ts";
import { createApp } from "../../src/http/app.ts";
import type { App } from "../../src/http/services.ts";
import { configErrorResponse } from "../../src/http/problems/config-error.ts";
import { Problem, problemResponse } from "../../src/http/problems/problem.ts";
import { milliseconds, type Duration } from "../../src/queue/core/duration.ts";
import { onlyOptions } from "../../src/queue/core/validation.ts";
import type { Coalesce } from "../../src/queue/redis/coalescer.ts";
import { Queue, type QueueOptions } from "../../src/queue/tasks/queue.ts";
import { Schedules } from "../../src/queue/schedules/schedules.ts";
import { sweep } from "../../src/queue/sweep/sweep.ts";
import type { Transport } from "../../src/queue/redis/transport.ts";
import type { Waker } from "../../src/queue/tasks/waker.ts";
import { upstash } from "../../src/transport/upstash.ts";
import type { Consumer } from "./consumer.ts";
import { Consumers } from "./consumers.ts";

/** Lets work go on after the response. */
export type WaitUntil = (promise: Promise<unknown>) => void;

/** What one's own request handler may say of a queue; the deployment says the rest. */
type OwnQueueOptions<In, Out> = Omit<QueueOptions<In, Out>, "transport" | "prefix" | "wake" | "now">;

/** What a request handler of one's own may use. */
export interface Around<Env = Environment> {
  readonly env: Env;
  /**
   * A queue of the deployment's database; what is enqueued there wakes its consumer. It has the schema and the encryption
   * of the consumer that the deployment has for it, unless the options say another; `encryption: null` for none.
   */
  readonly queue: <In = unknown, Out = In>(
    name: string,
    options?: OwnQueueOptions<In, Out>,
  ) => Queue<In, Out>;
  /** The recurring tasks of a queue, encrypted as by {@link queue}. */
  readonly schedules: <T = unknown>(
    queue: string,
    options?: Pick<QueueOptions, "encryption">,
  ) => Schedules<T>;
  /** Lets work go on after the response, where the platform can. */
  readonly waitUntil: WaitUntil | undefined;
}

export interface ServiceOptions<Env = Environment> {
  /** Who works on which queue. @default nobody does here */
  readonly consumers?: Readonly<Record<string, Consumer<Env>>> | undefined;
  /** Answers what is not `/v1/…`, `/wake`, `/health`, `/docs` or `/openapi.json`; 404 where it returns nothing. @default 404 */
  readonly fetch?:
    | ((request: Request, around: Around<Env>) => Response | undefined | Promise<Response | undefined>)
    | undefined;
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
  /** Which single calls share a request to Redis. @default those of one `Queue` and turn of the event loop */
  readonly coalesce?: Coalesce | undefined;
  /** Another way to the consumers at the wake URL, such as a service binding. */
  readonly wakeFetch?: ((request: Request) => Promise<Response>) | undefined;
  /** How long a wake waits for its answer; whoever has not answered by then works. @default "2s" */
  readonly wakeTimeout?: Duration | undefined;
  /** How a drain is told that the process is to end, where it lives on: first gently, then at once. */
  readonly ending?: Pick<DrainOptions, "closing" | "signal"> | undefined;
}

/** What the service answers itself; all else is the deployment's own. */
const OURS = /^\/(?:v1\/.*|wake|health|docs|openapi\.json)$/;

/** All that one deployment does, whatever the platform: the HTTP interface, cron, wakes and consumers. */
export class Service<Env extends object = Environment> {
  readonly #env: Env;
  readonly #options: ServiceOptions<Env>;
  readonly #platform: Platform;
  readonly #config: Config;
  readonly #transport: Transport;
  readonly #app: App;
  readonly #elsewhere: Waker | undefined;
  /** Undefined where nobody can sign a wake. */
  readonly #wakeVerifier: WakeVerifier | undefined;
  readonly #budget: number;
  readonly #consumers: Consumers<Env>;

  /** @throws {SluiceError} `invalid_argument` where the environment is not complete */
  constructor(env: Env, options: ServiceOptions<Env>, platform: Platform) {
    onlyOptions(options, ["consumers", "fetch", "budget"]);
    this.#env = env;
    this.#options = options;
    this.#platform = platform;
    this.#config = readConfig(env as Environment);
    this.#transport = platform.transport(this.#config.redis);
    this.#budget = milliseconds(options.budget ?? platform.budget, "budget", { min: 1_000 });
    const { tokens, cronSecrets, prefix, wakeUrl, wakeSecrets } = this.#config;
    const [secret] = wakeSecrets;
    this.#wakeVerifier = secret === undefined ? undefined : new WakeVerifier(wakeSecrets);
    const url = wakeUrl ?? (platform.wakeFetch && "https://consumer/wake");
    const { wakeFetch, wakeTimeout } = platform;
    if (wakeFetch && !secret) {
      throw invalidArgument("SLUICE_WAKE_SECRET", "is not set, but a binding to the consumer is");
    }
    this.#elsewhere =
      url && secret ? webhookWaker({ url, secret, fetch: wakeFetch, timeout: wakeTimeout }) : undefined;
    this.#consumers = new Consumers(options.consumers ?? {}, {
      env,
      transport: this.#transport,
      prefix,
      elsewhere: this.#elsewhere,
      budget: this.#budget,
      lives: platform.afterResponse === "any",
      ending: platform.ending,
    });
    const wake = this.#waker(platform.afterResponse !== "none", () => this.#budget);
    const limits = { budget: Math.min(20_000, this.#sweepBudget(this.#budget)) };
    this.#app = createApp({
      transport: this.#transport,
      tokens,
      cronSecret: cronSecrets,
      prefix,
      wake,
      coalesce: platform.coalesce,
      limits,
    });
  }

  /**
   * Answers a request.
   * @param time how long this invocation may work, ms; never more than the budget
   */
  async fetch(request: Request, waitUntil?: WaitUntil, time = this.#budget): Promise<Response> {
    const { pathname } = new URL(request.url);
    if (pathname === "/wake") return this.#receive(request, waitUntil, time);
    const own = this.#options.fetch;
    const answer = own && !OURS.test(pathname) ? await own(request, this.#around(waitUntil)) : undefined;
    if (answer !== undefined) return answer;
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
      budget: this.#sweepBudget(budget),
      prefix: this.#config.prefix,
      wake,
      signal: this.#platform.ending?.closing,
    });
    const { scheduled, promoted, reclaimed, rejected, expired, failed } = report;
    if (failed.length > 0) console.error(JSON.stringify({ sweep: report }));
    else if (scheduled + promoted + reclaimed + rejected + expired > 0)
      console.log(JSON.stringify({ sweep: report }));
  }

  /** What a sweep may take of an invocation's time, ms: the rest is for the consumers of what it finds. */
  #sweepBudget(budget: number): number {
    return Math.floor(budget * 0.4);
  }

  #around(waitUntil: WaitUntil | undefined): Around<Env> {
    const { prefix } = this.#config;
    const waker = this.#waker(waitUntil !== undefined, () => this.#budget);
    const shared = { transport: this.#transport, prefix, wake: waker && { ...waker, waitUntil } };
    const consumers = this.#consumers;
    return {
      env: this.#env,
      waitUntil,
      queue: <In, Out>(name: string, options: OwnQueueOptions<In, Out> = {}) => {
        const own = consumers.valuesOf(name);
        // Where a consumer takes another type than the caller says, its schema tells so.
        const { encryption = own?.encryption, schema = own?.schema as typeof options.schema } = options;
        const { coalesce = this.#platform.coalesce } = options;
        return new Queue(name, { ...options, encryption, schema, coalesce, ...shared });
      },
      schedules: (queue, { encryption = consumers.valuesOf(queue)?.encryption, ...others } = {}) =>
        new Schedules(queue, { ...others, encryption, transport: this.#transport, prefix }),
    };
  }

  async #receive(request: Request, waitUntil: WaitUntil | undefined, time: number): Promise<Response> {
    const verifier = this.#wakeVerifier;
    if (!verifier) {
      return problemResponse(new Problem("misconfigured", { detail: "SLUICE_WAKE_SECRET is not set." }));
    }
    const consumers = this.#consumers;
    const drain = (queue: string) => (consumers.has(queue) ? consumers.work(queue, time) : null);
    return answerWake(request, { verifier, drain, waitUntil });
  }

  /**
   * Who is woken: the consumer here, where it may work in this invocation; else one at the wake URL, if there is one. That
   * is this deployment's like, with the same consumers, unless it has none: then somebody else, who works on any queue.
   * @param time how long a consumer here may work, ms
   */
  #waker(mayWorkHere: boolean, time: () => number): Waker | undefined {
    const consumers = this.#consumers;
    const elsewhere = this.#elsewhere;
    const closing = this.#platform.ending?.closing;
    const here = (queue: string) => mayWorkHere && !closing?.aborted && consumers.has(queue);
    if (!elsewhere && (consumers.none || !mayWorkHere)) return undefined;
    return {
      queues: (queue) => here(queue) || (elsewhere !== undefined && (consumers.none || consumers.has(queue))),
      wake: (queue) => (here(queue) ? consumers.work(queue, time()) : elsewhere?.wake(queue)),
    };
  }
}

/** A deployment's service, made at its first use, when the platform has told the environment. */
export class Deployment<Env extends object = Environment> {
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
      return configErrorResponse(error);
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
