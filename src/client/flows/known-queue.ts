/** The queues of flows, as callers of the client name them. */
import { checkedEncryption, encrypted } from "../../features/encryption/index.ts";
import { checkedSchema } from "../../kernel/enqueue/checked-schema.ts";
import { queueName } from "../../kernel/options/validation.ts";
import { plainValues, type Values } from "../../kernel/values/values.ts";
import { type DefinedOptions, nameAndOptions, type QueueOrName } from "../../open/definition.ts";
import { MAX_PAYLOAD } from "../new-task.ts";

/** A queue by its name, or a declared one. */
// Any payload: a queue that takes one type is not one that takes another.
// oxlint-disable-next-line typescript/no-explicit-any
export type NamedQueue = QueueOrName<any, any>;

export interface KnownQueue {
  readonly name: string;
  readonly options: DefinedOptions<unknown, unknown>;
  readonly values: Values;
}

/** @throws {SluiceError} `invalid_argument` */
export function knownQueue(queue: NamedQueue): KnownQueue {
  const { name, options } = nameAndOptions<DefinedOptions<unknown, unknown>>(queue, {});
  checkedSchema(options.schema);
  const values = encrypted(plainValues(MAX_PAYLOAD), queueName(name), checkedEncryption(options.encryption));
  return { name, options, values };
}
