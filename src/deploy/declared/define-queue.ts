import type { DrainOptions, Task } from "../../drain/types.ts";
import { checkedAt, invalidArgument } from "../../errors.ts";
import type { TaskInfo } from "../../kernel/record/task-info.ts";
import type {
  Cancelled,
  Enqueued,
  EnqueueOptions,
  NewTask,
  RequestOptions,
} from "../../kernel/options/types.ts";
import { processVariable } from "../../environment.ts";
import { prefixVariable } from "../../redis-variables.ts";
import { queueName } from "../../kernel/options/validation.ts";
import type { NewSchedule } from "../../features/schedules/index.ts";
import type { DefinedOptions, QueueDefinition } from "../../open/definition.ts";
import type { FlowCalls } from "../../open/flows/flow-calls.ts";
import { Producer } from "../../open/producer.ts";
import type { ProducerOptions } from "../../open/options.ts";
import { given, pick } from "../../pick.ts";
import { inOrder } from "../../open/in-order.ts";
import {
  checkDeclaration,
  DEFINED_OPTIONS,
  type DeclaredSettings,
  type OrMade,
  type QueueDeclaration,
  SETTINGS,
} from "./declaration.ts";
import type { Transport } from "../../kernel/transport.ts";
import type { DeploymentTools } from "./tools.ts";

/** Options of a declared queue's consumer: those of `drain`, except how long it lasts. */
export type WorkOptions = Omit<DrainOptions, "budget" | "signal" | "closing" | "listen" | "onFailure">;

/** What a deployment needs of a declared queue, with any types. */
export type DeclaredQueue = Pick<
  DefinedQueue<unknown, unknown>,
  "name" | "options" | "partitions" | "settings" | "schedules" | "subscribes" | "connect" | "requireTransport"
>;

/** How the own methods of a declared queue reach Redis and wake its consumer. */
export type QueueConnection = Omit<ProducerOptions, "schema">;

/** The consumer of a declared queue, for a deployment. A test may call its handler. */
export interface QueueConsumer<Env, T = never> {
  readonly queue: DeclaredQueue;
  readonly handler: (task: Task<T> & FlowCalls, env: Env, tools: DeploymentTools<Env>) => unknown;
  readonly options: WorkOptions;
}

/**
 * Declares a queue in one place: its types, the defaults of its tasks, its settings, its schedules, and how its
 * tasks are handled. Producers, consumers, the client and tests use it in place of the queue's name. It sends
 * nothing by itself: a deployment applies settings and schedules.
 * @param name `^[A-Za-z0-9_-][A-Za-z0-9_.-]{0,127}$`
 * @throws {SluiceError} `invalid_argument`
 * @example
 * export const emails = defineQueue("emails", {
 *   schema: z.object({ to: z.email() }),
 *   rate: { most: 5, per: "1s" },
 *   schedules: { digest: { cron: "0 9 * * 1", payload: { to: "team@example.com" } } },
 * });
 */
export function defineQueue<In = unknown, Out = In>(
  name: string,
  declaration: QueueDeclaration<In, Out> = {},
): DefinedQueue<In, Out> {
  return new DefinedQueue(name, declaration);
}

/** A declared queue. `defineQueue` makes it. */
export class DefinedQueue<In = unknown, Out = In> implements QueueDefinition<In, Out> {
  declare readonly types?: { readonly in: In; readonly out: Out } | undefined;
  readonly name: string;
  /** Over how many partitions its tasks are spread; undefined if that is not declared. */
  readonly partitions: number | undefined;
  readonly settings: DeclaredSettings;
  readonly schedules: Readonly<Record<string, NewSchedule<In>>>;
  /** The topics that it subscribes to, unchecked. */
  readonly subscribes: QueueDeclaration["subscribes"];
  /** How its tasks are handled, if a consumer does not set it otherwise. */
  readonly work: WorkOptions;
  readonly #declaration: QueueDeclaration<In, Out>;
  #options: DefinedOptions<In, Out> | undefined;
  #producer: Producer<In, Out> | undefined;
  /** Producers that are connected, such as those of running servers. The last one is used. */
  readonly #connected: Producer<In, Out>[] = [];

  /** @throws {SluiceError} `invalid_argument` */
  constructor(name: string, declaration: QueueDeclaration<In, Out>) {
    this.name = queueName(name);
    checkedAt(`${this.name}.`, () => checkDeclaration(declaration));
    this.partitions = declaration.partitions;
    this.settings = pick(declaration, SETTINGS);
    this.schedules = declaration.schedules ?? {};
    this.subscribes = declaration.subscribes;
    this.work = pick(declaration, ["backoff", "timeout"]);
    this.#declaration = declaration;
  }

  /** The options of a `Queue` that the declaration sets. */
  get options(): DefinedOptions<In, Out> {
    const { encryption, offload, ...others } = pick(this.#declaration, DEFINED_OPTIONS);
    return (this.#options ??= { ...others, encryption: made(encryption), offload: made(offload) });
  }

  /**
   * Connects the queue's own methods, instead of the declared `transport`, `prefix` and `wake`. A server (`serve`
   * of Node, Bun and Deno) connects its declared queues until it closes. In its process, `emails.enqueue(…)` then
   * starts their consumers, as `queue(emails).enqueue(…)` does. Of several connections the last one is used.
   * @returns a function that disconnects them
   * @throws {SluiceError} `invalid_argument`
   */
  connect(connection: QueueConnection): () => void {
    const producer = inOrder(this, new Producer<In, Out>(this, connection));
    this.#connected.push(producer);
    return () => {
      const at = this.#connected.indexOf(producer);
      if (at >= 0) this.#connected.splice(at, 1);
    };
  }

  /**
   * Adds one task, outside of a deployment. In a deployment use `queue(emails)`, which wakes the consumer.
   * @throws {SluiceError} as `Producer.enqueue`; `invalid_argument` if the declaration has no `transport`
   * @example await emails.enqueue({ to: "a@example.com" }, { id: "welcome-17" })
   */
  enqueue(payload: In, options?: EnqueueOptions & RequestOptions): Promise<Enqueued> {
    return this.#call((producer) => producer.enqueue(payload, options));
  }

  /**
   * Adds up to 1,000 tasks in one request, as `Producer.enqueueMany`.
   * @throws {SluiceError} as {@link enqueue}
   */
  enqueueMany(tasks: readonly NewTask<In>[], options?: RequestOptions): Promise<Enqueued[]> {
    return this.#call((producer) => producer.enqueueMany(tasks, options));
  }

  /**
   * Reads a task, as `Producer.get`.
   * @throws {SluiceError} as {@link enqueue}
   */
  get(id: string, options?: RequestOptions): Promise<TaskInfo | null> {
    return this.#call((producer) => producer.get(id, options));
  }

  /**
   * Cancels a task, as `Producer.cancel`.
   * @throws {SluiceError} as {@link enqueue}
   */
  cancel(id: string, options?: Parameters<Producer["cancel"]>[1]): Promise<Cancelled> {
    return this.#call((producer) => producer.cancel(id, options));
  }

  /**
   * Makes the queue's consumer, for the `consumers` of a deployment.
   * @param handler works on one task, like the handler of `drain`. `env` is the deployment's environment. `queue`
   *   of the tools adds tasks to the deployment's queues
   * @param options of its drain; those of the declaration are the defaults
   * @example sluice({ consumers: [emails.consumer(async ({ payload }) => send(payload.to))] })
   */
  consumer<Env extends object = object>(
    handler: (task: Task<Out> & FlowCalls, env: Env, tools: DeploymentTools<Env>) => unknown,
    options: WorkOptions = {},
  ): QueueConsumer<Env, Out> {
    return {
      queue: this,
      handler,
      options: { ...this.work, ...given(options) },
    };
  }

  /**
   * The declared transport. The queue's own methods use it unless a server has connected them.
   * @throws {SluiceError} `invalid_argument` if none is declared
   */
  requireTransport(): OrMade<Transport> {
    const { transport } = this.#declaration;
    if (transport !== undefined) return transport;
    throw invalidArgument(
      "transport",
      `must be declared, as defineQueue("${this.name}", { transport: upstash }) or { transport: resp }, to call ${this.name}.enqueue(…) itself. ` +
        `A server in this process, once it has started, connects the queues of its consumers and queues: [${this.name}]. ` +
        "Handlers and fetch of a deployment take queue(…) from their arguments, and code with Next.js takes what sluice() returned",
    );
  }

  /**
   * What the queue's own methods use. Flows take it too.
   * @throws {SluiceError} `invalid_argument` if none is connected, and the declaration has no `transport`
   */
  get producer(): Producer<In, Out> {
    return this.#connected.at(-1) ?? (this.#producer ??= this.#declaredProducer());
  }

  async #call<T>(run: (producer: Producer<In, Out>) => Promise<T>): Promise<T> {
    return run(this.producer);
  }

  #declaredProducer(): Producer<In, Out> {
    const transport = made(this.requireTransport());
    const { prefix = transport.prefix ?? processPrefix(), wake, tracing } = this.#declaration;
    const producer = new Producer<In, Out>(this, { transport, prefix, wake: made(wake), tracing });
    return inOrder(this, producer);
  }
}

/** Whether `defineQueue` made the queue. Not by its class: a bundle may have two copies of it. */
export function isDeclared(value: unknown): value is DeclaredQueue {
  if (typeof value !== "object" || value === null) return false;
  const { name, connect, settings, schedules } = value as Partial<DeclaredQueue>;
  const parts = [settings, schedules].every((part) => typeof part === "object" && part !== null);
  return parts && typeof name === "string" && typeof connect === "function";
}

function processPrefix(): string | undefined {
  return prefixVariable({ SLUICE_PREFIX: processVariable("SLUICE_PREFIX") });
}

function made<T extends object | undefined>(value: T | (() => T)): T {
  return typeof value === "function" ? value() : value;
}
