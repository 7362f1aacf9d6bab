import { checkDrainOptions, WORK_OPTIONS } from "../../drain/drain-options.ts";
import type { DrainOptions } from "../../drain/types.ts";
import { isDeclared, type QueueConsumer, type WorkOptions } from "../declared/define-queue.ts";
import { invalidArgument } from "../../errors.ts";
import { onlyOptions, queueName } from "../../kernel/options/validation.ts";
import type { QueueDefinition } from "../../open/definition.ts";
import { checkedSchema } from "../../kernel/enqueue/checked-schema.ts";
import { requiredEncryption } from "../../features/encryption/index.ts";
import type { Consumer, ConsumerHandler, ConsumerOptions } from "../consumer.ts";
import type { ServiceOptions } from "../options.ts";
import type { Setup } from "../setup.ts";

/** What consumers are checked with. */
type CheckContext<Env extends object> = Pick<Setup<Env>, "env" | "budget" | "requests" | "hooks">;

/** Requests of an invocation that are not for its consumers: of a sweep, a wake, and what follows the sweep. */
const OTHER_REQUESTS = 20;

/** The options of a drain with the limits of an invocation, to check them. */
function inInvocation<Env extends object>(
  work: WorkOptions,
  { budget, requests, hooks }: CheckContext<Env>,
): DrainOptions {
  if (requests === undefined) return { ...work, budget };
  const { requestsPerTask = 1 } = work;
  const perTask = Number.isInteger(requestsPerTask) ? requestsPerTask + hooks : requestsPerTask;
  return { ...work, budget, requests: requests - OTHER_REQUESTS, requestsPerTask: perTask };
}

/** A checked consumer, and its queue. The payloads have the type that its handler takes. */
export interface CheckedConsumer<Env> {
  readonly handler: ConsumerHandler<Env, never>;
  readonly work: WorkOptions;
  readonly queue: QueueDefinition<unknown, never>;
}

/**
 * The consumers by their queues.
 * @throws {SluiceError} `invalid_argument`; the path names the consumer
 */
export function checkedConsumers<Env extends object>(
  consumers: NonNullable<ServiceOptions<Env>["consumers"]>,
  context: CheckContext<Env>,
): ReadonlyMap<string, CheckedConsumer<Env>> {
  if (typeof consumers !== "object" || consumers === null) {
    throw invalidArgument(
      "consumers",
      "must be an array of consumers of declared queues, or an object of consumers by queue name",
    );
  }
  if (Array.isArray(consumers)) return declaredConsumers(consumers, context);
  if ([consumers, ...Object.values(consumers)].some(isOfDeclared)) {
    throw invalidArgument(
      "consumers",
      "must be an array of the consumers of declared queues, as [emails.consumer(handler)]",
    );
  }
  return new Map(
    Object.entries(consumers).map(([name, given]) => [
      queueName(name, `consumers.${name}`),
      checked(given, name, context),
    ]),
  );
}

function declaredConsumers<Env extends object>(
  consumers: readonly QueueConsumer<Env>[],
  context: CheckContext<Env>,
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
    checkDrainOptions(inInvocation(options, context), `${path}.`);
    all.set(queue.name, {
      handler,
      work: options,
      queue: queue as QueueDefinition<unknown, unknown> as QueueDefinition<unknown, never>,
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
  context: CheckContext<Env>,
): CheckedConsumer<Env> {
  const path = `consumers.${name}`;
  const options = (typeof given === "function" ? { handler: given } : given) as ConsumerOptions<Env, never>;
  onlyOptions(options, ["handler", "schema", "encryption", ...WORK_OPTIONS], `${path}.`);
  const { handler, schema, encryption, ...work } = options;
  if (typeof handler !== "function") {
    throw invalidArgument(path, "must be a function, or an object with a function `handler`");
  }
  checkedSchema(schema, `${path}.schema`);
  checkDrainOptions(inInvocation(work, context), `${path}.`);
  if (encryption !== undefined && typeof encryption !== "function") {
    throw invalidArgument(`${path}.encryption`, "must be a function that takes the environment");
  }
  const own = encryption && requiredEncryption(encryption(context.env), `${path}.encryption()`);
  return { handler, work, queue: { name, options: { schema, encryption: own } } };
}
