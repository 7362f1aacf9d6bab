import type { AlertEvaluator } from "../../src/alerts/types.ts";
import { type Config, type Environment, readConfig } from "../../src/config.ts";
import { RequestBudget } from "../../src/consumer/drain/request-budget.ts";
import { WakeVerifier } from "../../src/consumer/wake/wake-verifier.ts";
import { answerWake } from "../../src/consumer/wake/wake-receiver.ts";
import { webhookWaker } from "../../src/consumer/wake/webhook-waker.ts";
import { invalidArgument } from "../../src/errors.ts";
import type { DeploymentTools, WaitUntil } from "../../src/declared/tools.ts";
import { type Open, opening, type OpeningOptions } from "../../src/opening.ts";
import { createApp } from "../../src/http/app.ts";
import type { App } from "../../src/http/services.ts";
import { Problem, problemResponse } from "../../src/http/problems/problem.ts";
import { milliseconds } from "../../src/queue/core/duration.ts";
import { checkedTracing } from "../../src/queue/core/tracing.ts";
import { onlyOptions, optionalFunction, wholeNumber } from "../../src/queue/core/validation.ts";
import type { QueueDefinition } from "../../src/queue/tasks/definition.ts";
import { sweep } from "../../src/queue/sweep/sweep.ts";
import type { Transport } from "../../src/queue/redis/transport.ts";
import { toConsole, type Waker } from "../../src/queue/tasks/waker.ts";
import type { AlarmKind, Alarms } from "./alarms.ts";
import { connectedAlerts } from "./connected-alerts.ts";
import { Consumers, MAX_IDLE } from "./consumers.ts";
import { Declarations } from "./declarations.ts";
import { Drains } from "./drains.ts";
import { deploymentWaker } from "./deployment-waker.ts";
import { type Invocation, type InvocationTools, LEAST_TIME, toolsIn } from "./invocation.ts";
import { ObjectStores } from "./object-stores.ts";
import { optionalParts } from "./optional-parts.ts";
import { SERVICE_OPTIONS, type Platform, type ServiceOptions } from "./options.ts";
import { ownContext } from "./own-context.ts";
import { withWaitUntil } from "./pending-work.ts";
import { logDone } from "./task-log.ts";

export type { DeploymentTools, WaitUntil } from "../../src/declared/tools.ts";
export type { Platform, ServiceOptions } from "./options.ts";

/** The paths of Sluice. All others go to the deployment's own `fetch`. */
const SLUICE_PATHS = /^\/(?:v1\/.*|wake|health|metrics)$/;
const DOCS_PATHS = /^\/(?:docs|openapi\.json)$/;
const DASHBOARD_PATHS = /^\/dashboard(?:\/.*)?$/;

/** The least limit of requests with which an invocation sweeps, drains, wakes another one and evaluates alerts. */
const LEAST_REQUESTS = 30;

/** Requests of an invocation that are kept for alert rules and for objects without tasks. */
const AFTER_SWEEP_REQUESTS = 10;

/** How long a pass of the alert rules may take, ms. */
const ALERTS_TIME = 20_000;

/** A deployment on any platform: the HTTP interface, cron, wakes and consumers. */
export class Service<Env extends object = Environment> {
  /** Opens the deployment's queues, outside of an invocation. */
  readonly open: Open;
  /** What the deployment's queues have in common. */
  readonly #ofQueues: OpeningOptions;
  readonly #inOwnContext = ownContext();
  readonly #env: Env;
  readonly #options: ServiceOptions<Env>;
  readonly #platform: Platform;
  readonly #log: (line: object) => void;
  readonly #config: Config;
  readonly #transport: Transport;
  readonly #app: App;
  readonly #remoteWaker: Waker | undefined;
  /** Undefined if no wake secret is configured. */
  readonly #wakeVerifier: WakeVerifier | undefined;
  readonly #budget: number;
  /** Most requests of one invocation. */
  readonly #requests: number | undefined;
  readonly #consumers: Consumers<Env>;
  readonly #declared: Declarations;
  readonly #alarms: Alarms | undefined;
  readonly #alerts: AlertEvaluator | undefined;
  readonly #stores: ObjectStores<Env>;
  readonly #parts: ReturnType<typeof optionalParts>;
  /** Disconnects the own methods of declared queues. */
  #disconnect = () => {};

  /** @throws {SluiceError} `invalid_argument` if the environment is incomplete or invalid */
  constructor(env: Env, options: ServiceOptions<Env>, platform: Platform) {
    onlyOptions(options, SERVICE_OPTIONS);
    optionalFunction(options.fetch, "fetch");
    optionalFunction(options.onDeadLetter, "onDeadLetter");
    optionalFunction(options.onFailure, "onFailure");
    this.#stores = new ObjectStores({
      env,
      offload: options.offload,
      replace: platform.offload,
    });
    const tracing = checkedTracing(options.tracing);
    this.#alerts = connectedAlerts(options.alerts, env);
    this.#parts = optionalParts(options, platform.onDemand);
    this.#env = env;
    this.#options = options;
    this.#platform = platform;
    this.#log = platform.log ?? logDone;
    this.#config = readConfig(env as Environment);
    this.#transport = platform.transport(this.#config.redis);
    this.#budget = milliseconds(options.budget ?? platform.budget, "budget", { min: 1_000 });
    const requests = options.requests ?? platform.requests;
    this.#requests =
      requests === undefined
        ? undefined
        : wholeNumber(requests, "requests", LEAST_REQUESTS, Number.MAX_SAFE_INTEGER);
    const { tokens, cronSecrets, prefix, wakeUrl, wakeSecrets } = this.#config;
    this.#alarms = platform.alarms?.(prefix);
    const [secret] = wakeSecrets;
    this.#wakeVerifier = secret === undefined ? undefined : new WakeVerifier(wakeSecrets);
    const url = wakeUrl ?? (platform.wakeFetch && "https://consumer/wake");
    const { wakeFetch, wakeTimeout } = platform;
    if (wakeFetch && !secret) {
      throw invalidArgument("SLUICE_WAKE_SECRET", "must be set, because the binding SLUICE_CONSUMER is set");
    }
    this.#remoteWaker =
      url && secret ? webhookWaker({ url, secret, fetch: wakeFetch, timeout: wakeTimeout }) : undefined;
    const { coalesce } = platform;
    const definitionOf = (queue: string) => this.definitionOf(queue);
    const offload = this.#stores.of;
    this.#ofQueues = { transport: this.#transport, prefix, coalesce, tracing, offload, definitionOf };
    this.open = opening(this.#ofQueues);
    const { consumers = {}, queues = [] } = options;
    this.#consumers = new Consumers(consumers, {
      env,
      transport: this.#transport,
      ofQueues: this.#ofQueues,
      remoteWaker: this.#remoteWaker,
      budget: this.#budget,
      requests: this.#requests,
      hasDefaultLimit: options.requests === undefined,
      newDrains: this.newDrains,
      hooks: (options.onFailure ? 1 : 0) + (options.onDeadLetter ? 1 : 0),
      isProcess: platform.afterResponse === "any",
      ending: platform.ending,
      maxIdle: platform.maxIdle ?? MAX_IDLE,
      alarms: this.#alarms,
      waitUntil: platform.waitUntil,
      log: this.#log,
      toolsIn: (invocation) => this.#toolsIn(invocation),
      inOwnContext: this.#inOwnContext,
    });
    this.#declared = new Declarations(consumers, queues);
    const timeLeft = platform.afterResponse === "none" ? undefined : () => this.#budget;
    const wake = this.#wakerIn({ timeLeft });
    const limits = { budget: Math.min(20_000, this.#sweepBudget(this.#budget)) };
    this.#app = createApp({
      ...this.#ofQueues,
      offload: (queue) => offload(definitionOf(queue)),
      tokens,
      cronSecret: cronSecrets,
      wake,
      limits,
      beforeSweep: (props) => this.#applyDeclared(this.#drainsOf(props)),
      afterSweep: (props) => this.#afterSweep(this.#budget, this.#drainsOf(props)),
      ...(this.#requests !== undefined && {
        ofRequest: (props: unknown) => {
          const drains = this.#drainsOf(props);
          return { transport: drains.counted(this.#transport), wake: this.#wakerIn({ timeLeft, drains }) };
        },
      }),
      ...this.#parts,
      onDeadLetter: (letter, waitUntil = () => {}) =>
        this.#toolsIn({ keepRunning: waitUntil, waitUntil, timeLeft }).onDeadLetter(letter),
    });
    const { waitUntil } = platform;
    if (waitUntil) {
      // With `waitUntil`, because an enqueue must not wait for the consumer that it wakes.
      const waking = wake && { ...wake, waitUntil };
      this.#disconnect = this.#declared.connect(opening({ ...this.#ofQueues, wake: waking }));
    }
  }

  /**
   * Handles a request.
   * @param time how long this invocation may work, ms. @default the budget
   */
  async fetch(request: Request, waitUntil?: WaitUntil, time = this.#budget): Promise<Response> {
    const { pathname } = new URL(request.url);
    if (pathname === "/wake") return this.#receiveWake(request, waitUntil, time);
    return withWaitUntil(waitUntil, performance.now() + time, async (keepRunning) => {
      const own = this.#isOfSluice(pathname) ? undefined : this.#options.fetch;
      const timeLeft = waitUntil && (() => this.#budget);
      const { headers } = request;
      const drains = this.newDrains();
      if (pathname === "/v1/sweep") this.#keepForAfterSweep(drains);
      const invocation = { keepRunning, waitUntil, timeLeft, drains, isCounted: true, headers };
      const response = await own?.(request, this.#toolsIn(invocation).tools);
      if (response !== undefined) return response;
      const context = { waitUntil: keepRunning, passThroughOnException: () => {}, props: drains };
      return this.#app.fetch(request, this.#env, context);
    });
  }

  #isOfSluice(pathname: string): boolean {
    const { dashboard, docs } = this.#parts;
    if (dashboard && DASHBOARD_PATHS.test(pathname)) return true;
    return SLUICE_PATHS.test(pathname) || (docs !== undefined && DOCS_PATHS.test(pathname));
  }

  /**
   * Handles cron: applies declared queues, and sweeps every queue. Then the consumers of queues with pending
   * tasks work here, or are woken elsewhere, and the alert rules are evaluated. Logs a line if the sweep moved
   * a task or failed for a queue.
   * @param time how long this invocation may work, ms; at most the budget. @default the budget
   * @param waitUntil if given, the call does not wait for the consumers
   */
  async cron(time = this.#budget, waitUntil?: WaitUntil): Promise<void> {
    const end = performance.now() + Math.min(time, this.#budget);
    const drains = this.newDrains();
    await this.#applyDeclared(drains);
    await this.#sweep(undefined, end, waitUntil, drains);
  }

  /**
   * Handles an alarm: the consumer of the queue works here. If it is elsewhere, or a schedule is due, the queue
   * is swept, which wakes the consumer.
   * @param waitUntil if given, the call does not wait for the consumer
   * @param drains of the invocation, if it handles several alarms
   */
  ring(kind: AlarmKind, queue: string, waitUntil?: WaitUntil, drains = this.newDrains()): Promise<void> {
    return this.#inOwnContext(() => this.#ring(kind, queue, waitUntil, drains));
  }

  async #ring(
    kind: AlarmKind,
    queue: string,
    waitUntil: WaitUntil | undefined,
    drains: Drains,
  ): Promise<void> {
    if (kind === "sweep" || !this.#consumers.has(queue)) {
      return this.#sweep(queue, performance.now() + this.#budget, waitUntil, drains);
    }
    const working = this.#consumers.work(queue, this.#budget, drains);
    if (!waitUntil) await working;
    else waitUntil(working.catch((error: unknown) => toConsole("drain")(error, queue)));
  }

  /** The tools of the deployment's own code outside of an invocation: an enqueue starts no consumer here. */
  tools(): DeploymentTools<Env> {
    return this.#toolsIn({ keepRunning: () => {}, waitUntil: undefined, timeLeft: undefined }).tools;
  }

  /** Ends what reaches into the process beside this deployment. */
  close(): void {
    this.#disconnect();
  }

  /** The drains of an invocation. A process has no limit in all. */
  readonly newDrains = (): Drains => {
    const limit = this.#platform.afterResponse === "any" ? undefined : this.#requests;
    return new Drains(limit === undefined ? undefined : new RequestBudget(limit));
  };

  /** The drains of the invocation that handles a request: the `props` that `fetch` passes to the app. */
  #drainsOf(props: unknown): Drains {
    return props instanceof Drains ? props : this.newDrains();
  }

  /** Keeps requests of the invocation for what follows a sweep of all queues. Returns what gives them back. */
  #keepForAfterSweep({ requests }: Drains): (() => void) | undefined {
    const { alerts, offload } = this.#options;
    return alerts || offload ? requests?.reserve(AFTER_SWEEP_REQUESTS) : undefined;
  }

  #applyDeclared(drains: Drains): Promise<void> {
    const { ending } = this.#platform;
    const transport = drains.counted(this.#transport);
    return this.#declared.apply(transport, this.#config.prefix, ending?.closing, this.#log);
  }

  /**
   * @param queue the only one to sweep. @default every queue
   * @param end of the invocation, on the clock of `performance.now()`
   */
  async #sweep(
    queue: string | undefined,
    end: number,
    waitUntil: WaitUntil | undefined,
    drains = this.newDrains(),
  ): Promise<void> {
    const timeLeft = () => Math.max(0, end - performance.now());
    const transport = drains.counted(this.#transport);
    const giveBack = queue === undefined ? this.#keepForAfterSweep(drains) : undefined;
    const waker = this.#wakerIn({ timeLeft, drains });
    const report = await withWaitUntil(waitUntil, end, async (keepRunning) => {
      const swept = await sweep(transport, {
        queue,
        budget: this.#sweepBudget(Math.max(timeLeft(), LEAST_TIME)),
        prefix: this.#config.prefix,
        wake: waker && { ...waker, waitUntil },
        onDeadLetter: this.#toolsIn({
          keepRunning,
          waitUntil: keepRunning,
          timeLeft,
          drains,
          isCounted: true,
        }).onDeadLetter,
        signal: this.#platform.ending?.closing,
      });
      giveBack?.();
      if (queue === undefined) keepRunning(this.#afterSweep(timeLeft(), drains));
      return swept;
    });
    const { scheduled, promoted, reclaimed, rejected, expired, failed } = report;
    if (failed.length > 0) console.error(JSON.stringify({ sweep: report }));
    else if (scheduled + promoted + reclaimed + rejected + expired > 0) this.#log({ sweep: report });
  }

  /**
   * What follows a sweep of all queues. Never throws.
   * @param timeLeft of the invocation, ms
   */
  #afterSweep(timeLeft: number, drains: Drains): Promise<void> {
    const transport = drains.counted(this.#transport);
    return this.#inOwnContext(() => this.#followSweep(timeLeft, transport));
  }

  async #followSweep(timeLeft: number, transport: Transport): Promise<void> {
    const until = performance.now() + timeLeft;
    const signal = this.#platform.ending?.closing;
    const pass = { transport, prefix: this.#config.prefix, until, signal };
    const removing = this.#stores.removeOrphans(this.#declared.all, pass, this.#log);
    await Promise.all([this.#evaluateAlerts(timeLeft, transport), removing]);
  }

  /** @param timeLeft of the invocation, ms */
  async #evaluateAlerts(timeLeft: number, transport: Transport): Promise<void> {
    await this.#alerts?.evaluate({
      transport,
      prefix: this.#config.prefix,
      budget: Math.max(LEAST_TIME, Math.min(timeLeft, ALERTS_TIME)),
      signal: this.#platform.ending?.closing,
      log: this.#log,
    });
  }

  /** The sweep's share of an invocation's time, ms. The rest is for the consumers. */
  #sweepBudget(budget: number): number {
    return Math.floor(budget * 0.4);
  }

  /** The queue as its consumer here or its declaration sets it; undefined if it has neither. */
  definitionOf(queue: string): QueueDefinition | undefined {
    return this.#consumers.definitionOf(queue) ?? this.#declared.named(queue);
  }

  /** See {@link toolsIn}. */
  #toolsIn(invocation: Invocation): InvocationTools<Env> {
    const context = {
      env: this.#env,
      ofQueues: this.#ofQueues,
      onDeadLetter: this.#options.onDeadLetter,
      onFailure: this.#options.onFailure,
      inOwnContext: this.#inOwnContext,
      wakerIn: (one: Pick<Invocation, "timeLeft" | "drains">) => this.#wakerIn(one),
    };
    return toolsIn(context, invocation);
  }

  async #receiveWake(request: Request, waitUntil: WaitUntil | undefined, time: number): Promise<Response> {
    const verifier = this.#wakeVerifier;
    if (!verifier) {
      return problemResponse(
        new Problem("misconfigured", {
          detail: "SLUICE_WAKE_SECRET is not set, so this server accepts no wakes.",
        }),
      );
    }
    const consumers = this.#consumers;
    const drain = (queue: string) => (consumers.has(queue) ? consumers.work(queue, time) : null);
    return answerWake(request, { verifier, drain, waitUntil });
  }

  /** See {@link deploymentWaker}. */
  #wakerIn(invocation: Pick<Invocation, "timeLeft" | "drains">): Waker | undefined {
    const context = {
      transport: invocation.drains?.counted(this.#transport) ?? this.#transport,
      consumers: this.#consumers,
      remoteWaker: this.#remoteWaker,
      alarms: this.#alarms,
      closing: this.#platform.ending?.closing,
    };
    return deploymentWaker(context, invocation);
  }
}
