import type { OnDeadLetter } from "../kernel/record/dead-letter.ts";
import { given, pick } from "../pick.ts";
import { DEFAULT_OPTIONS } from "../kernel/options/default-options.ts";
import { newTaskId } from "../kernel/names/ids.ts";
import { plainJson } from "../kernel/record/plain-json.ts";
import { optionsObject, requestKey } from "../kernel/options/validation.ts";
import type { Values } from "../kernel/values/values.ts";
import type { EnqueueOptions, NewTask, RequestOptions, TaskDefaults } from "../kernel/options/types.ts";
import type { QueueOptions } from "../open/options.ts";
import { onDemand } from "./load.ts";
import type { DequeuingQueue } from "./types.ts";

/** Limit of a payload, bytes. The server has its own, which depends on its object store. */
export const MAX_PAYLOAD = 100_000_000;

/** The defaults for the tasks of a client's queue, how it reads and writes payloads, and its hook. */
export interface ClientQueueOptions<In = unknown, Out = In>
  extends TaskDefaults, Pick<QueueOptions<In, Out>, "maxBytes" | "schema" | "encryption"> {
  /**
   * Called once with each task that a settle of this queue makes a dead letter, and with each invalid payload
   * that a dequeue does. The call does not wait for it. If it fails, one line is written to the console. The
   * server has a hook of its own for the tasks whose last lease has expired.
   * @default none
   */
  readonly onDeadLetter?: OnDeadLetter | undefined;
}

/**
 * The JSON of a new task, with the defaults of its queue.
 * @param index its position among several; undefined for a single task
 * @throws {SluiceError} `invalid_argument`, `too_large`
 */
export async function taskJson<In, Out>(
  { name, values }: Pick<DequeuingQueue<Out>, "name" | "values">,
  queueOptions: ClientQueueOptions<In, Out>,
  task: NewTask<In>,
  options: RequestOptions,
  index?: number,
): Promise<string> {
  const at = index === undefined ? "" : `tasks[${index}]`;
  optionsObject(task, at);
  const { payload, ...own } = given(task) as NewTask<In>;
  const id = own.id ?? (await newId(name, values, own, options, index ?? 0));
  const { delay, unique, ...defaults } = pick(queueOptions, DEFAULT_OPTIONS);
  const fields = {
    ...defaults,
    ...(own.at === undefined && { delay }),
    ...(own.id !== undefined && !own.again && { unique }),
    ...own,
    id,
  };
  const { schema } = queueOptions;
  const hasOptions = schema || values.areSealed || own.headers || typeof own.at === "object";
  const isPlain = !hasOptions && !(payload instanceof Uint8Array);
  const plain = isPlain ? plainJson({ payload, ...fields }, MAX_PAYLOAD) : undefined;
  // Of a payload that JSON does not have, nothing is written.
  if (plain?.startsWith('{"payload":')) return plain;
  return (await onDemand()).taskJson({ values, schema, fields, at }, payload);
}

/**
 * Generates an id that rises with time, and says where the task goes if its queue has partitions. With an idempotency key
 * the server derives the id, so that a repeated call gets the same.
 */
async function newId(
  name: string,
  { areSealed }: Values,
  own: EnqueueOptions,
  options: RequestOptions,
  index: number,
): Promise<string | undefined> {
  // These need an id of the caller's, as the server says.
  if (own.again || own.unique !== undefined) return undefined;
  const key = requestKey(options);
  const id = key ? undefined : newTaskId();
  if (!(key ?? own.group ?? own.dedup)) return id;
  return (await onDemand()).placedId(id, own, areSealed && [name, key, index]);
}
