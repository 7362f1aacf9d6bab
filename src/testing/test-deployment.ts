import { operatorOf } from "../open/operator.ts";
import { AsyncLocalStorage } from "node:async_hooks";
import { randomBytes } from "node:crypto";
import { createClient, type Client } from "../client/index.ts";
import { readConfig } from "../config.ts";
import type { DeclaredQueue } from "../deploy/declared/define-queue.ts";
import { topicsOf } from "../deploy/declared/topics-of.ts";
import type { DeploymentTools } from "../deploy/declared/tools.ts";
import type { Environment } from "../environment.ts";
import { invalidArgument, SluiceError } from "../errors.ts";
import { milliseconds, type Duration } from "../kernel/options/duration.ts";
import { instantMs, LAST_INSTANT } from "../kernel/options/instants.ts";
import { onlyOptions } from "../kernel/options/validation.ts";
import type { TaskState } from "../kernel/options/types.ts";
import type { ListedTask } from "../operate/list-tasks.ts";
import type { Transport } from "../kernel/transport.ts";
import type { QueueDefinition, QueueOrName } from "../open/definition.ts";
import type { Open } from "../open/opening.ts";
import type { Queue } from "../open/queue.ts";
import { connectApp } from "../deploy/connect-app.ts";
import { PendingWork } from "../deploy/pending-work.ts";
import { type AppWith, optionsOf } from "../deploy/options-of.ts";
import type { Service, ServiceOptions } from "../deploy/service.ts";
import type { EnqueuedTask } from "./call-log.ts";
import { applyDeclared, connectDeclared, openAlone } from "./declared-queues.ts";
import { storesInMemory } from "./memory-store.ts";
import { TestDatabase } from "./test-database.ts";
import { testService } from "./test-service.ts";
import { deadLettersAmong, listTasks, type DeadLetterInfo } from "./test-queue.ts";

/** Variables that Sluice itself reads. A test may set them, whatever the type of the app's environment. */
type SluiceVariable = "SLUICE_PREFIX" | "SLUICE_TOKENS" | "SLUICE_WAKE_SECRET" | "CRON_SECRET";

/** The environment of a deployment in a test: of the app's type, or any if the app does not say its type. */
type TestEnvironment<Env> = (keyof Env extends never ? Environment : Partial<Env>) & {
  readonly [Name in SluiceVariable]?: string | undefined;
};

export interface TestDeploymentOptions<Env> {
  /** The environment of handlers, beside the variables that the test sets. @default none */
  readonly env?: TestEnvironment<Env> | undefined;
  /** Where the clock begins: a `Date`, or epoch ms. @default now */
  readonly now?: Date | number | undefined;
}

/**
 * Runs a deployment in a test: its routes, consumers, cron and schedules, on an embedded database, with a clock
 * that moves only when the test says so. It needs no Redis and no platform. It logs failed tasks and dead letters, but
 * not successful work. The `queue` and `schedules` that `sluice()` of Next.js returned reach this database from now on.
 * @param app what `sluice()` of any platform returned (of Vercel also its `GET` or `POST`, of Next.js its `handlers`), or
 *   the options of `sluice`
 * @throws {SluiceError} `invalid_argument`
 * @example
 * const test = testDeployment(app, { env: { MAIL_URL: mailServer.url } });
 * await test.fetch("/signup?to=a@example.com");
 * await test.advance("1h");
 * expect(await test.deadLetters(emails)).toEqual([]);
 */
export function testDeployment<Env extends object = Environment>(
  app: AppWith<Env> | ServiceOptions<Env>,
  options: TestDeploymentOptions<NoInfer<Env>> = {},
): TestDeployment<Env> {
  const made = optionsOf<Env>(app);
  const deployment = new TestDeployment(made ?? (app as ServiceOptions<Env>), options, made !== undefined);
  connectApp(app, deployment.tools());
  return deployment;
}

/** A deployment in a test. {@link testDeployment} makes it. */
export class TestDeployment<Env extends object = Environment> {
  /** A token for the deployment's HTTP interface, with all scopes. */
  readonly token = `test_${randomBytes(18).toString("base64url")}`;
  /** Reaches the embedded database. */
  readonly transport: Transport;
  readonly #database: TestDatabase;
  readonly #service: Service<Env>;
  readonly #prefix: string | undefined;
  /** The names of the queues with a consumer. */
  readonly #consumed: ReadonlySet<string>;
  readonly #declared: readonly DeclaredQueue[];
  /** Work that continues after responses. */
  readonly #afterwards = new PendingWork();
  /** True in code that the deployment itself runs. Code there that waits for all of its work would wait for itself. */
  readonly #inside = new AsyncLocalStorage<true>();
  #started: Promise<void> | undefined;

  /** @param ofFunctions whether it is an app of functions, which do not connect the own methods of declared queues */
  constructor(app: ServiceOptions<Env>, options: TestDeploymentOptions<Env>, ofFunctions: boolean) {
    onlyOptions(options, ["env", "now"]);
    const now = instantMs(options.now ?? Date.now(), "now", LAST_INSTANT);
    const scopes = ["enqueue", "consume", "admin"];
    const env: Environment = {
      UPSTASH_REDIS_REST_URL: "https://embedded.test",
      UPSTASH_REDIS_REST_TOKEN: "embedded",
      SLUICE_TOKENS: JSON.stringify([{ token: this.token, scopes, queues: "*" }]),
      ...options.env,
      // A test sends no wakes to other deployments.
      SLUICE_WAKE_URL: undefined,
    };
    this.#prefix = readConfig(env).prefix;
    this.#database = new TestDatabase(now, this.#prefix);
    this.transport = this.#database.transport;
    const inMemory = storesInMemory();
    // In the context that all work of the deployment then has.
    this.#service = this.#inside.run(true, () => testService(app, env as Env, this.transport, inMemory));
    this.#consumed = this.#service.consumedQueues;
    this.#declared = this.#service.declaredQueues;
    const wake = {
      wake: (queue: string) => this.#service.ring("wake", queue),
      queues: (queue: string) => this.#isInside && this.#consumed.has(queue),
      waitUntil: this.#afterwards.add,
    };
    const over = { transport: this.transport, prefix: this.#prefix };
    const open: Open = (queue, own) => this.#service.open(queue, { ...over, wake, ...own });
    const definitionOf = (name: string) => this.#service.definitionOf(name);
    const alone = { ...over, inMemory, isInside: () => this.#isInside, definitionOf };
    const openOf = (declared: Parameters<typeof openAlone>[0]) =>
      ofFunctions ? openAlone(declared, alone) : open;
    for (const queue of this.#declared) connectDeclared(queue, openOf(queue)(queue).options);
    for (const topic of topicsOf(this.#declared)) connectDeclared(topic, openOf(topic));
  }

  /** The clock, epoch ms. */
  get now(): number {
    return this.#database.now;
  }

  /**
   * Sends a request to the deployment. Resolves when the work after the response has also ended, so the tasks that
   * the request enqueued have been worked on. If a handler of the deployment calls it, it does not wait for that work.
   * @param input a path such as "/signup?to=a@example.com", a URL or a `Request`
   */
  async fetch(input: string | URL | Request, init?: RequestInit): Promise<Response> {
    const request =
      input instanceof Request ? input : new Request(new URL(input, "https://sluice.test"), init);
    const respond = () => this.#service.fetch(request, this.#afterwards.add);
    if (this.#isInside) return respond();
    await this.#start();
    return this.#invoke(respond);
  }

  /** Runs cron once: sweeps, and works on what is pending. */
  async run(): Promise<void> {
    this.#onlyOutside("run");
    await this.#start();
    await this.#cron();
  }

  /**
   * Moves the clock, and runs cron at each instant at which a task, a schedule or a lease is due, or a rate allows
   * more, as in a process that stays alive.
   * @param time how far, such as "10m"
   * @throws {SluiceError} `invalid_argument`, also if the clock has to stop more than 10,000 times
   */
  async advance(time: Duration): Promise<void> {
    const ms = milliseconds(time, "time");
    this.#onlyOutside("advance");
    await this.#start();
    await this.#database.advance(ms, () => this.#cron());
  }

  /**
   * Moves the clock until every task of the queues with a consumer has ended: to each delayed task, each lease that
   * expires, and each instant at which a rate allows more. Schedules do not run meanwhile. What they miss,
   * {@link advance} makes up for as after an outage.
   * @throws {SluiceError} `invalid_argument` if pending tasks are left, such as those of a paused queue, or if tasks
   *   still wait after 10,000 stops of the clock
   */
  async runToEnd(): Promise<void> {
    this.#onlyOutside("runToEnd");
    await this.#start();
    await this.#database.moveToEnd(() => this.#cron(), this.#isConsumed);
  }

  /**
   * A queue of the deployment, as its handlers get it. Its tasks wait for {@link run}, {@link advance} or
   * {@link runToEnd}.
   * @throws {SluiceError} `invalid_argument` for a name that no queue of the deployment has
   */
  queue<In = unknown, Out = In>(queue: QueueOrName<In, Out>): Queue<In, Out> {
    return this.#service.tools().queue(this.#known(queue));
  }

  /** What handlers of the deployment get as third argument, to call one with. Its enqueues wait as {@link queue}'s. */
  tools(): DeploymentTools<Env> {
    return this.#service.tools();
  }

  /** A client of the deployment's HTTP interface. */
  client(): Client {
    const fetch = (url: string, init: RequestInit) => this.fetch(url, init);
    return createClient({ url: "https://sluice.test", token: this.token, fetch });
  }

  /**
   * The tasks of a queue, with their payloads as far as they are kept: a completed task has none.
   * @param state the only state to list. Default: all of them
   * @throws {SluiceError} `invalid_argument` for a name that no queue of the deployment has
   */
  async tasks(queue: QueueOrName<unknown, unknown>, state?: TaskState): Promise<ListedTask[]> {
    return listTasks(operatorOf(this.#service.open(this.#known(queue))), state);
  }

  /**
   * The dead letters of a queue: rejected tasks that were not cancelled.
   * @throws {SluiceError} as {@link tasks}
   */
  async deadLetters(queue: QueueOrName<unknown, unknown>): Promise<DeadLetterInfo[]> {
    return deadLettersAmong(await this.tasks(queue, "rejected"));
  }

  /**
   * All tasks that were enqueued so far, by handlers too, in order and with their payloads, except those of
   * schedules.
   * @throws {SluiceError} as {@link tasks}
   */
  enqueued<In = unknown>(queue: QueueOrName<In, unknown>): readonly EnqueuedTask<In>[] {
    const known = this.#known(queue);
    return this.#database.log.tasksOf(typeof known === "string" ? known : known.name) as EnqueuedTask<In>[];
  }

  /**
   * The queue as the deployment has it.
   * @throws {SluiceError} `invalid_argument` for a name that is neither declared nor in use
   */
  #known<In, Out>(queue: QueueOrName<In, Out>): QueueOrName<In, Out> {
    if (typeof queue !== "string") return queue;
    const definition = this.#service.definitionOf(queue) as QueueDefinition<In, Out> | undefined;
    if (definition) return definition;
    const { queues } = this.#database;
    if (queues.has(queue)) return queue;
    const names = new Set([...this.#consumed, ...this.#declared.map(({ name }) => name), ...queues]);
    const allowed = names.size > 0 ? `one of ${[...names].join(", ")}` : "declared";
    throw invalidArgument("queue", `must be ${allowed}: the deployment has no ${JSON.stringify(queue)}`);
  }

  get #isInside(): boolean {
    return this.#inside.getStore() === true;
  }

  readonly #isConsumed = (queue: string): boolean => this.#consumed.has(queue);

  /** @throws {SluiceError} `invalid_argument` if the deployment itself runs the caller */
  #onlyOutside(method: string): void {
    if (!this.#isInside) return;
    throw new SluiceError(
      "invalid_argument",
      `${method} must not be called by a handler of the deployment: it would wait for that handler`,
    );
  }

  /** A server runs cron at its start: that applies what is declared. */
  #start(): Promise<void> {
    return (this.#started ??= this.#begin());
  }

  async #begin(): Promise<void> {
    // Cron would log what it cannot apply, and go on.
    await applyDeclared(this.transport, this.#declared, this.#prefix);
    await this.#cron();
  }

  /** Runs cron. Then works on what it left, such as tasks that were limited when their consumer was last awake. */
  #cron(): Promise<void> {
    return this.#invoke(async () => {
      await this.#service.cron();
      await this.#afterwards.settled();
      for (const { name } of await this.#database.pending(this.#isConsumed))
        await this.#service.ring("wake", name);
    });
  }

  /** Runs work of the deployment, and waits for what continues after it. */
  async #invoke<R>(work: () => Promise<R>): Promise<R> {
    try {
      return await this.#inside.run(true, work);
    } finally {
      await this.#afterwards.settled();
    }
  }
}
