import type { Environment } from "../config.ts";
import { RequestBudget } from "../drain/request-budget.ts";
import { WakeVerifier, type Waker } from "../features/waking/index.ts";
import { answerWake } from "../adapters/wake-receiver.ts";
import type { DeclaredQueue } from "./declared/define-queue.ts";
import type { DeploymentTools, WaitUntil } from "./declared/tools.ts";
import { createApp } from "../http/app.ts";
import { drainFailed } from "../log/lines.ts";
import type { App } from "../http/services.ts";
import { Problem, problemResponse } from "../http/problems/problem.ts";
import type { Worker } from "../kernel/options/types.ts";
import { type Open, opening } from "../open/opening.ts";
import type { QueueDefinition } from "../open/definition.ts";
import type { AlarmKind } from "./alarms.ts";
import { type CheckedOptions, checkedOptions } from "./checked-options.ts";
import { Consumers } from "./consumers/consumers.ts";
import type { Declarations } from "./declarations.ts";
import { Drains } from "./drains.ts";
import { missingConsumerWarning } from "./consumers/missing-consumer.ts";
import { deploymentWaker } from "./consumers/deployment-waker.ts";
import { type Invocation, type InvocationTools, type ServiceContext, toolsIn } from "./invocation.ts";
import type { Platform, ServiceOptions } from "./options.ts";
import { ownContext } from "./own-context.ts";
import { withWaitUntil } from "./pending-work.ts";
import { type Setup, setUp } from "./setup.ts";
import { sweepBudget, Sweeps } from "./sweeps.ts";

export type { DeploymentTools, WaitUntil } from "./declared/tools.ts";
export type { Platform, ServiceOptions } from "./options.ts";

/** The paths of Sluice. All others go to the deployment's own `fetch`. */
const SLUICE_PATHS = /^\/(?:v1\/.*|wake|health|metrics)$/;
const DOCS_PATHS = /^\/(?:docs|openapi\.json)$/;
const DASHBOARD_PATHS = /^\/dashboard(?:\/.*)?$/;

/** Whether a path is that of a feature, which may end with `*`. */
const isBelow = (pathname: string, path: string) =>
  path.endsWith("*") ? pathname.startsWith(path.slice(0, -1)) : pathname === path;

/** A deployment on any platform: the HTTP interface, cron, wakes and consumers. */
export class Service<Env extends object = Environment> {
  /** Opens the deployment's queues, outside of an invocation. */
  readonly open: Open;
  readonly #setup: Setup<Env>;
  readonly #context: ServiceContext<Env>;
  readonly #app: App;
  /** Undefined if no wake secret is configured. */
  readonly #wakeVerifier: WakeVerifier | undefined;
  readonly #consumers: Consumers<Env>;
  readonly #declared: Declarations;
  readonly #sweeps: Sweeps<Env>;
  /** Disconnects the own methods of declared queues. */
  readonly #disconnect: () => void;

  /** @throws {SluiceError} `invalid_argument` if the environment is incomplete or invalid */
  constructor(
    env: Env,
    options: ServiceOptions<Env>,
    platform: Platform,
    checked: CheckedOptions<Env> = checkedOptions(options, platform),
  ) {
    const setup = setUp(env, checked, platform);
    this.#setup = setup;
    const { wakeSecrets, prefix } = setup.config;
    this.#wakeVerifier = wakeSecrets.length === 0 ? undefined : new WakeVerifier(wakeSecrets);
    const { transport, tracing, stores, parts } = setup;
    const { coalesce } = platform;
    const definitionOf = (queue: string) => this.definitionOf(queue);
    const context: ServiceContext<Env> = {
      setup,
      ofQueues: {
        transport,
        prefix,
        coalesce,
        tracing,
        offload: stores.of,
        definitionOf,
        schedules: parts.schedules,
      },
      inOwnContext: platform.inOwnContext ?? ownContext(),
      newDrains: this.newDrains,
      onOpen: missingConsumerWarning(setup),
      toolsIn: (invocation) => toolsIn(context, invocation),
      wakerIn: (invocation) => deploymentWaker(setup, this.#consumers, invocation),
    };
    this.#context = context;
    this.open = opening(context.ofQueues);
    this.#consumers = new Consumers(context);
    this.#declared = setup.declared;
    this.#sweeps = new Sweeps(context, this.#declared);
    const timeLeft = platform.afterResponse === "none" ? undefined : () => setup.budget;
    const wake = context.wakerIn({ timeLeft });
    this.#app = this.#newApp(wake, timeLeft);
    // With `waitUntil`, because an enqueue must not wait for the consumer that it wakes.
    const { waitUntil } = platform;
    const waking = wake && { ...wake, waitUntil };
    this.#disconnect = waitUntil
      ? this.#declared.connect(opening({ ...context.ofQueues, wake: waking }))
      : () => {};
  }

  #newApp(wake: Waker | undefined, timeLeft: Invocation["timeLeft"]): App {
    const { config, transport, budget, requests, stores, parts, options, platform } = this.#setup;
    return createApp({
      ...this.#context.ofQueues,
      ...parts,
      offload: (queue) => stores.of(this.definitionOf(queue)),
      tokens: config.tokens,
      cronSecret: config.cronSecrets,
      cronIsRequest: platform.cronIsRequest,
      logger: options.logger ?? platform.logger,
      wake,
      limits: { budget: Math.min(20_000, sweepBudget(budget)) },
      beforeSweep: (props) => this.#sweeps.applyDeclared(this.#drainsOf(props)),
      afterSweep: (props) => this.#sweeps.after(budget, this.#drainsOf(props)),
      ...(requests !== undefined && {
        ofRequest: (props: unknown) => {
          const drains = this.#drainsOf(props);
          return { transport: drains.counted(transport), wake: this.#context.wakerIn({ timeLeft, drains }) };
        },
      }),
      onDeadLetter: (letter, waitUntil = () => {}) =>
        this.#context.toolsIn({ keepRunning: waitUntil, waitUntil, timeLeft }).onDeadLetter(letter),
    });
  }

  /**
   * Handles a request.
   * @param time how long this invocation may work, ms. @default the budget
   */
  async fetch(request: Request, waitUntil?: WaitUntil, time = this.#setup.budget): Promise<Response> {
    const { pathname } = new URL(request.url);
    if (pathname === "/wake") return this.#receiveWake(request, waitUntil, time);
    return withWaitUntil(waitUntil, performance.now() + time, async (keepRunning) => {
      const own = this.#isOfSluice(pathname) ? undefined : this.#setup.options.fetch;
      const timeLeft = waitUntil && (() => this.#setup.budget);
      const { headers } = request;
      const drains = this.newDrains();
      if (pathname === "/v1/sweep") this.#sweeps.keepForAfter(drains);
      const invocation = { keepRunning, waitUntil, timeLeft, drains, isCounted: true, headers };
      const response = await own?.(request, this.#context.toolsIn(invocation).tools);
      if (response !== undefined) return response;
      const context = { waitUntil: keepRunning, passThroughOnException: () => {}, props: drains };
      return this.#app.fetch(request, this.#setup.env, context);
    });
  }

  #isOfSluice(pathname: string): boolean {
    const { dashboard, docs, parts } = this.#setup.parts;
    return (
      SLUICE_PATHS.test(pathname) ||
      (dashboard && DASHBOARD_PATHS.test(pathname)) ||
      (docs && DOCS_PATHS.test(pathname)) ||
      parts.some(({ paths }) => paths.some((path) => isBelow(pathname, path)))
    );
  }

  /**
   * Handles cron: applies declared queues, and sweeps every queue. Then the consumers of queues with pending
   * tasks work here, or are woken elsewhere, and the alert rules are evaluated. Logs a line if the sweep moved
   * a task or failed for a queue.
   * @param time how long this invocation may work, ms; at most the budget. @default the budget
   * @param waitUntil if given, the call does not wait for the consumers
   */
  async cron(time = this.#setup.budget, waitUntil?: WaitUntil): Promise<void> {
    const end = performance.now() + Math.min(time, this.#setup.budget);
    const drains = this.newDrains();
    await this.#sweeps.applyDeclared(drains);
    await this.#sweeps.run(undefined, end, waitUntil, drains);
  }

  /**
   * Handles an alarm: the consumer of the queue works here. If it is elsewhere, or a schedule is due, the queue
   * is swept, which wakes the consumer.
   * @param waitUntil if given, the call does not wait for the consumer
   * @param drains of the invocation, if it handles several alarms
   */
  ring(kind: AlarmKind, queue: string, waitUntil?: WaitUntil, drains = this.newDrains()): Promise<void> {
    return this.#context.inOwnContext(() => this.#ring(kind, queue, waitUntil, drains));
  }

  async #ring(
    kind: AlarmKind,
    queue: string,
    waitUntil: WaitUntil | undefined,
    drains: Drains,
  ): Promise<void> {
    const { budget, log } = this.#setup;
    if (kind === "sweep" || !this.#consumers.has(queue)) {
      return this.#sweeps.run(queue, performance.now() + budget, waitUntil, drains);
    }
    // Who started that waits for it. Each wake that waited too would be kept until a busy queue is empty.
    if (this.#consumers.pullsAgain(queue)) return;
    const working = this.#consumers.work(queue, budget, drains);
    if (!waitUntil) await working;
    else waitUntil(working.catch((error: unknown) => log(drainFailed(queue, error))));
  }

  /** The declared queues. */
  get declaredQueues(): readonly DeclaredQueue[] {
    return this.#declared.all;
  }

  /** The queues that have a consumer here. */
  get consumedQueues(): ReadonlySet<string> {
    return new Set(this.#consumers.queues);
  }

  /**
   * Says that a process lives to the queues whose consumers have its name. Extends no lease. Never rejects.
   * @param worker the process
   */
  async beat(worker: Worker, signal: AbortSignal): Promise<void> {
    const beats = this.#consumers.unnamed.map((queue) =>
      this.open(queue).queue().heartbeat(worker, { receipts: [], signal }),
    );
    await Promise.allSettled(beats);
  }

  /**
   * The tools of the deployment's own code outside of an invocation.
   * @param waitUntil keeps the consumers running that an enqueue starts. @default an enqueue starts no consumer here
   */
  tools(waitUntil?: WaitUntil): DeploymentTools<Env> {
    return this.toolsOutside(waitUntil).tools;
  }

  /** As {@link tools}, with what opens any queue. */
  toolsOutside(waitUntil?: WaitUntil): InvocationTools<Env> {
    const timeLeft = waitUntil && (() => this.#setup.budget);
    return this.#context.toolsIn({ keepRunning: waitUntil ?? (() => {}), waitUntil, timeLeft });
  }

  /** Ends what reaches into the process beside this deployment. */
  close(): void {
    this.#disconnect();
  }

  /** The drains of an invocation. A process has no limit in all. */
  readonly newDrains = (): Drains => {
    const { platform, requests } = this.#setup;
    const limit = platform.afterResponse === "any" ? undefined : requests;
    return new Drains(limit === undefined ? undefined : new RequestBudget(limit));
  };

  /** The drains of the invocation that handles a request: the `props` that `fetch` passes to the app. */
  #drainsOf(props: unknown): Drains {
    return props instanceof Drains ? props : this.newDrains();
  }

  /** The queue as its consumer here or its declaration sets it; undefined if it has neither. */
  definitionOf(queue: string): QueueDefinition | undefined {
    return this.#consumers.definitionOf(queue) ?? this.#declared.named(queue);
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
    const onError = (error: unknown, queue: string) => this.#setup.log(drainFailed(queue, error));
    return answerWake(request, { verifier, drain, waitUntil, onError });
  }
}
