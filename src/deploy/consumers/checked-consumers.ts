import { checkDrainOptions } from "../../drain/check-drain-options.ts";
import { WORK_OPTIONS } from "../../drain/drain-options.ts";
import type { DrainOptions } from "../../drain/types.ts";
import { isDeclared, type QueueConsumer, type WorkOptions } from "../declared/define-queue.ts";
import { invalidArgument } from "../../errors.ts";
import { onlyOptions, queueName } from "../../kernel/options/validation.ts";
import type { QueueDefinition } from "../../open/definition.ts";
import { checkedSchema } from "../../kernel/enqueue/checked-schema.ts";
import { requiredEncryption } from "../../features/encryption/index.ts";
import type { Consumer, ConsumerHandler, ConsumerOptions } from "../consumer.ts";
import type { ServiceOptions } from "../options.ts";

/** What consumers are checked with: the limits of an invocation, and how many hooks a failed task calls. */
export interface ConsumerLimits {
  readonly budget: number;
  readonly requests: number | undefined;
  readonly hooks: number;
}

/** Requests of an invocation that are not for its consumers: of a sweep, a wake, and what follows the sweep. */
const OTHER_REQUESTS = 20;

/** The options of a drain with the limits of an invocation, to check them. */
function inInvocation(work: WorkOptions, { budget, requests, hooks }: ConsumerLimits): DrainOptions {
  if (requests === undefined) return { ...work, budget };
  const { requestsPerTask = 1 } = work;
  const perTask = Number.isInteger(requestsPerTask) ? requestsPerTask + hooks : requestsPerTask;
  return { ...work, budget, requests: requests - OTHER_REQUESTS, requestsPerTask: perTask };
}

/** A checked consumer, and its queue. The payloads have the type that its handler takes. */
export interface CheckedConsumer<Env> {
  readonly handler: ConsumerHandler<Env, never>;
  readonly work: WorkOptions;
  /** The queue, in a deployment with that environment. */
  readonly queueIn: (env: Env) => QueueDefinition<unknown, never>;
}

/** A consumer, and its queue in the environment of the deployment. */
export interface ConsumerHere<Env> extends Omit<CheckedConsumer<Env>, "queueIn"> {
  readonly queue: QueueDefinition<unknown, never>;
}

/**
 * Checks the consumers, without their environment.
 * @param added those of features
 * @returns the consumers by their queues
 * @throws {SluiceError} `invalid_argument`; the path names the consumer
 */
export function checkedConsumers<Env extends object>(
  consumers: NonNullable<ServiceOptions<Env>["consumers"]>,
  added: readonly QueueConsumer<Env>[],
  limits: ConsumerLimits,
): ReadonlyMap<string, CheckedConsumer<Env>> {
  if (typeof consumers !== "object" || consumers === null) {
    throw invalidArgument(
      "consumers",
      "must be an array of consumers of declared queues, or an object of consumers by queue name",
    );
  }
  if (Array.isArray(consumers)) return declaredConsumers([...consumers, ...added], limits);
  if ([consumers, ...Object.values(consumers)].some(isOfDeclared)) {
    throw invalidArgument(
      "consumers",
      "must be an array of the consumers of declared queues, as [emails.consumer(handler)]",
    );
  }
  const named = Object.entries(consumers).map(([name, given]): [string, CheckedConsumer<Env>] => [
    queueName(name, `consumers.${name}`),
    checked(given, name, limits),
  ]);
  return new Map([...named, ...declaredConsumers(added, limits)]);
}

function declaredConsumers<Env extends object>(
  consumers: readonly QueueConsumer<Env>[],
  limits: ConsumerLimits,
): Map<string, CheckedConsumer<Env>> {
  const all = new Map<string, CheckedConsumer<Env>>();
  for (const [i, consumer] of consumers.entries()) {
    const path = `consumers[${i}]`;
    if (!isOfDeclared(consumer)) {
      throw invalidArgument(
        path,
        "must be the consumer of a queue that defineQueue made, such as emails.consumer(handler)",
      );
    }
    const { queue, handler, options } = consumer;
    if (typeof handler !== "function") throw invalidArgument(path, "must have a handler that is a function");
    if (all.has(queue.name)) throw invalidArgument(path, `must be the only consumer of ${queue.name}`);
    onlyOptions(options, WORK_OPTIONS, `${path}.`);
    checkDrainOptions(inInvocation(options, limits), `${path}.`);
    all.set(queue.name, {
      handler,
      work: options,
      queueIn: () => queue as QueueDefinition<unknown, unknown> as QueueDefinition<unknown, never>,
    });
  }
  return all;
}

/** Whether a declared queue's `consumer` made it. */
function isOfDeclared(consumer: unknown): boolean {
  return isDeclared((consumer as Partial<QueueConsumer<never>> | null | undefined)?.queue);
}

function checked<Env extends object>(
  given: Consumer<Env>,
  name: string,
  limits: ConsumerLimits,
): CheckedConsumer<Env> {
  const path = `consumers.${name}`;
  const options = (typeof given === "function" ? { handler: given } : given) as ConsumerOptions<Env, never>;
  onlyOptions(options, ["handler", "schema", "encryption", ...WORK_OPTIONS], `${path}.`);
  const { handler, schema, encryption, ...work } = options;
  if (typeof handler !== "function") {
    throw invalidArgument(path, "must be a function, or an object with a function `handler`");
  }
  checkedSchema(schema, `${path}.schema`);
  checkDrainOptions(inInvocation(work, limits), `${path}.`);
  if (encryption !== undefined && typeof encryption !== "function") {
    throw invalidArgument(`${path}.encryption`, "must be a function that takes the environment");
  }
  const own = (env: Env) => encryption && requiredEncryption(encryption(env), `${path}.encryption()`);
  return { handler, work, queueIn: (env) => ({ name, options: { schema, encryption: own(env) } }) };
}
