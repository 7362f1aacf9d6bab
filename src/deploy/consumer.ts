import type { StandardSchemaV1 } from "@standard-schema/spec";
import type { Environment } from "../config.ts";
import type { DeadLetter } from "../kernel/record/dead-letter.ts";
import type { Task } from "../drain/types.ts";
import type { FlowCalls } from "../open/flows/flow-calls.ts";
import type { WorkOptions } from "./declared/define-queue.ts";
import type { DeploymentTools } from "./declared/tools.ts";
import type { Encryption } from "../features/encryption/index.ts";

/**
 * Handles one task of a queue, like a handler of `drain`. `before` of the task needs the option `flows`. `env` is the deployment's environment. `queue` of the tools
 * adds tasks to the deployment's queues, and wakes their consumers.
 */
export interface ConsumerHandler<Env = Environment, T = unknown> {
  (task: Task<T> & FlowCalls, env: Env, tools: DeploymentTools<Env>): unknown;
  /** As the option `onDeadLetter` of a deployment, for the dead letters of the consumer's queue. @default none */
  readonly onDeadLetter?: ((letter: DeadLetter, tools: DeploymentTools<Env>) => unknown) | undefined;
}

/** A handler, with options of its drain and its queue. */
export interface ConsumerOptions<Env = Environment, T = unknown> extends WorkOptions {
  readonly handler: ConsumerHandler<Env, T>;
  /**
   * The schema of the payload. {@link consumer} infers the handler's type from it.
   * @default payloads are not checked
   */
  readonly schema?: StandardSchemaV1<unknown, T> | undefined;
  /** Returns the encryption of the queue's tasks for the environment. @default no encryption */
  readonly encryption?: ((env: Env) => Encryption) | undefined;
}

/** The consumer of one queue, with any type of payload. */
export type Consumer<Env = Environment> =
  | ConsumerHandler<Env, never>
  | (Omit<ConsumerOptions<Env, never>, "schema"> & { readonly schema?: StandardSchemaV1 | undefined });

/**
 * Defines a consumer whose handler gets payloads of the type that its schema returns.
 * @example
 * const schema = z.object({ to: z.string() });
 * sluice({ consumers: { emails: consumer({ schema, handler: ({ payload }) => send(payload.to) }) } });
 */
export function consumer<T, Env = Environment>(options: ConsumerOptions<Env, T>): Consumer<Env> {
  return options;
}
