import type { StandardSchemaV1 } from "@standard-schema/spec";
import { invalidArgument, type SluiceError } from "../errors.ts";
import { given } from "../pick.ts";
import type { TaskDefaults } from "../kernel/options/types.ts";
import type { MaybeEncryption } from "../features/encryption/index.ts";
import type { Offload } from "../features/offload/types.ts";

/** The options of a queue that its declaration sets. */
export interface DefinedOptions<In, Out> extends TaskDefaults {
  readonly schema?: StandardSchemaV1<In, Out> | undefined;
  readonly encryption?: MaybeEncryption;
  readonly offload?: Offload | undefined;
  readonly maxBytes?: number | undefined;
  readonly partitions?: number | "stored" | undefined;
}

/**
 * A declared queue, as `defineQueue` makes it. It can take the place of the name of a queue: its options are then
 * the defaults, and its types are those of the payloads.
 */
export interface QueueDefinition<In = unknown, Out = In> {
  readonly name: string;
  readonly options: DefinedOptions<In, Out>;
  /** Has the types of payloads at enqueue and at delivery; never a value. */
  readonly types?: { readonly in: In; readonly out: Out } | undefined;
}

/** A queue by its name or its declaration. */
export type QueueOrName<In, Out> = string | QueueDefinition<In, Out>;

/**
 * The name of a queue, and its options: those that are given, and for the others those of its declaration.
 * @throws {SluiceError} `invalid_argument` if it is neither a name nor a declared queue
 */
export function nameAndOptions<Options extends object>(
  queue: QueueOrName<unknown, unknown>,
  own: Options,
): { readonly name: string; readonly options: Options } {
  if (typeof queue === "string") return { name: queue, options: own };
  if (typeof queue?.options !== "object" || typeof queue.name !== "string") throw notAQueue();
  return { name: queue.name, options: { ...queue.options, ...(given(own ?? {}) as Options) } };
}

export function notAQueue(): SluiceError {
  return invalidArgument("queue", "must be a name, or a queue that defineQueue made");
}
