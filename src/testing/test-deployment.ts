import { randomBytes } from "node:crypto";
import { createClient, type Client } from "../client/index.ts";
import type { Environment } from "../config.ts";
import { milliseconds, type Duration } from "../queue/core/duration.ts";
import { instantMs, LAST_INSTANT, onlyOptions } from "../queue/core/validation.ts";
import type { TaskState } from "../queue/core/types.ts";
import { Operator } from "../queue/operate/operator.ts";
import type { ListedTask } from "../queue/operate/task-operator.ts";
import type { Transport } from "../queue/redis/transport.ts";
import type { QueueOrName } from "../queue/tasks/definition.ts";
import { Queue } from "../queue/tasks/queue.ts";
import { PendingWork } from "../../serverless/deployment/pending-work.ts";
import { optionsOf } from "../../serverless/deployment/options-of.ts";
import { Service, type ServiceOptions } from "../../serverless/deployment/service.ts";
import type { EnqueuedTask } from "./enqueue-log.ts";
import { TestDatabase } from "./test-database.ts";
import { deadLettersAmong, listTasks, type DeadLetterInfo } from "./test-queue.ts";

export interface TestDeploymentOptions<Env> {
  /** The environment of handlers, beside the variables that the test sets. @default none */
  readonly env?: Partial<Env> | undefined;
  /** Where the clock begins: a `Date`, or epoch ms. @default now */
  readonly now?: Date | number | undefined;
}

/**
 * Runs a deployment in a test: its routes, consumers, cron and schedules, on an embedded database, with a clock
 * that moves only when the test says so. It needs no Redis and no platform.
 * @param app what `sluice()` of any platform returned (of Vercel also its `GET` or `POST`), or the options of
 *   `sluice`
 * @throws {SluiceError} `invalid_argument`
 * @example
 * const test = testDeployment(app, { env: { MAIL_URL: mailServer.url } });
 * await test.fetch("/signup?to=a@example.com");
 * await test.advance("1h");
 * expect(await test.deadLetters(emails)).toEqual([]);
 */
export function testDeployment<Env extends object = Environment>(
  app: object,
  options: TestDeploymentOptions<Env> = {},
): TestDeployment<Env> {
  return new TestDeployment(optionsOf(app) ?? app, options);
}

/** A deployment in a test. {@link testDeployment} makes it. */
export class TestDeployment<Env extends object = Environment> {
  /** A token for the deployment's HTTP interface, with all scopes. */
  readonly token = `test_${randomBytes(18).toString("base64url")}`;
  /** Reaches the embedded database. */
  readonly transport: Transport;
  readonly #database: TestDatabase;
  readonly #service: Service<Env>;
  /** Work that continues after responses. */
  readonly #afterwards = new PendingWork();
  #started: Promise<void> | undefined;

  constructor(app: ServiceOptions<Env>, options: TestDeploymentOptions<Env>) {
    onlyOptions(options, ["env", "now"]);
    this.#database = new TestDatabase(instantMs(options.now ?? Date.now(), "now", LAST_INSTANT));
    this.transport = this.#database.transport;
    const scopes = ["enqueue", "consume", "admin"];
    const env = {
      UPSTASH_REDIS_REST_URL: "https://embedded.test",
      UPSTASH_REDIS_REST_TOKEN: "embedded",
      SLUICE_TOKENS: JSON.stringify([{ token: this.token, scopes, queues: "*" }]),
      ...options.env,
    };
    this.#service = new Service(env as unknown as Env, app, {
      transport: () => this.transport,
      budget: "25s",
      afterResponse: "bounded",
      waitUntil: this.#afterwards.add,
      // The clock does not move while consumers work.
      maxIdle: -1,
    });
  }

  /** The clock, epoch ms. */
  get now(): number {
    return this.#database.now;
  }

  /**
   * Sends a request to the deployment. Resolves when the work after the response has ended too: the tasks that it
   * enqueued have then been worked on.
   * @param input a path such as "/signup?to=a@example.com", a URL or a `Request`
   */
  async fetch(input: string | URL | Request, init?: RequestInit): Promise<Response> {
    await this.#start();
    const request =
      input instanceof Request ? input : new Request(new URL(input, "https://sluice.test"), init);
    const response = await this.#service.fetch(request, this.#afterwards.add);
    await this.#afterwards.settled();
    return response;
  }

  /** Runs cron once: sweeps, and works on what is pending. */
  async run(): Promise<void> {
    await this.#start();
    await this.#cron();
  }

  /**
   * Moves the clock, and runs cron at each instant at which a task, a schedule or a lease is due, as in a process
   * that stays alive.
   * @param time how far, such as "10m"
   */
  async advance(time: Duration): Promise<void> {
    const ms = milliseconds(time, "time");
    await this.#start();
    await this.#database.moveTo(this.now + ms, true, () => this.#cron());
  }

  /**
   * Moves the clock until every task has ended: to each delayed task and each lease that expires. It does not
   * stop for schedules.
   * @throws {SluiceError} `invalid_argument` if tasks still wait after 10,000 moves of the clock
   */
  async runToEnd(): Promise<void> {
    await this.run();
    await this.#database.moveTo(LAST_INSTANT, false, () => this.#cron());
  }

  /** A queue of the deployment. Its tasks wait for {@link run}, {@link advance} or {@link runToEnd}. */
  queue<In = unknown, Out = In>(queue: QueueOrName<In, Out>): Queue<In, Out> {
    return new Queue(queue, { transport: this.transport });
  }

  /** A client of the deployment's HTTP interface. */
  client(): Client {
    const fetch = (url: string, init: RequestInit) => this.fetch(url, init);
    return createClient({ url: "https://sluice.test", token: this.token, fetch });
  }

  /**
   * The tasks of a queue, with their payloads as far as they are kept: a completed task has none.
   * @param state the only state to list. Default: all of them
   */
  tasks(queue: QueueOrName<unknown, unknown>, state?: TaskState): Promise<ListedTask[]> {
    return listTasks(new Operator(queue, { transport: this.transport }), state);
  }

  /** The dead letters of a queue: rejected tasks that were not cancelled. */
  async deadLetters(queue: QueueOrName<unknown, unknown>): Promise<DeadLetterInfo[]> {
    return deadLettersAmong(await this.tasks(queue, "rejected"));
  }

  /**
   * All tasks that were enqueued so far, in order, with their payloads; by handlers too. Those of schedules are not
   * among them.
   */
  enqueued<In = unknown>(queue: QueueOrName<In, unknown>): readonly EnqueuedTask<In>[] {
    const name = typeof queue === "string" ? queue : queue.name;
    return this.#database.log.tasksOf(name) as EnqueuedTask<In>[];
  }

  /** A server runs cron at its start: that applies what is declared. */
  #start(): Promise<void> {
    return (this.#started ??= this.#cron());
  }

  async #cron(): Promise<void> {
    await this.#service.cron();
    await this.#afterwards.settled();
  }
}
