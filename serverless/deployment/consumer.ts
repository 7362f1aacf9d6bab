import type { StandardSchemaV1 } from "@standard-schema/spec";
import type { Environment } from "../../src/config.ts";
import type { DrainOptions, Task } from "../../src/consumer/drain/types.ts";
import type { Encryption } from "../../src/queue/values/encryption.ts";

/** Works on the tasks of one queue, as a drain's handler does; `env` is the deployment's environment. */
export type ConsumerHandler<Env = Environment, T = unknown> = (task: Task<T>, env: Env) => unknown;

/** A handler with the options of its drain and of its queue. */
export interface ConsumerOptions<Env = Environment, T = unknown> extends Omit<
  DrainOptions,
  "budget" | "signal" | "closing"
> {
  readonly handler: ConsumerHandler<Env, T>;
  /** What a payload must be; {@link consumer} gives the handler its type. */
  readonly schema?: StandardSchemaV1<unknown, T> | undefined;
  /** What encrypts the queue's tasks, by the deployment's environment. @default nothing is encrypted */
  readonly encryption?: ((env: Env) => Encryption) | undefined;
}

/** What works on one queue, whatever its payloads are. */
export type Consumer<Env = Environment> =
  | ConsumerHandler<Env, never>
  | (Omit<ConsumerOptions<Env, never>, "schema"> & { readonly schema?: StandardSchemaV1 | undefined });

/** A consumer whose handler takes what its schema makes of a payload. */
export function consumer<T, Env = Environment>(options: ConsumerOptions<Env, T>): Consumer<Env> {
  return options;
}
