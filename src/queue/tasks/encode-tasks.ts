import type { StandardSchemaV1 } from "@standard-schema/spec";
import { encodePayload } from "../core/codec.ts";
import { derivedTaskIds } from "../core/derived-ids.ts";
import { newTaskId, newToken } from "../core/ids.ts";
import { all, type MaybePromise } from "../core/maybe-promise.ts";
import { writeFixed } from "../core/record.ts";
import { taskId } from "../core/validation.ts";
import { encryptValue, type ValuesQueue } from "../values/encryption.ts";
import type { NewObject, StoredPayload } from "../values/offload.ts";
import { encodeChecked } from "./schema.ts";
import { contentOf, fixedOptions, idempotencyToken, uniqueness, whenReady } from "./task-options.ts";
import type { AddTraceHeaders } from "../core/tracing.ts";
import type { NewTask, TaskDefaults } from "../core/types.ts";
import { placedBy } from "../partitions/placement.ts";

/** A task as the enqueue script takes it. */
export interface EnqueueItem {
  readonly id: string;
  readonly when: string;
  readonly unique: string;
  readonly record: string;
  /**
   * What decides in which slot the task is, if the queue has partitions: its id, dedup key or group. A generated
   * id has no slot.
   */
  readonly placedBy: string | undefined;
  /** The object of the payload, if it is in an object store. */
  readonly object?: NewObject | undefined;
}

/** Where new tasks of a queue with partitions go. */
export interface Placing {
  /** The slot of a task; undefined if it has neither id nor dedup key nor group. Checks that they agree. */
  readonly slotOf: (task: NewTask<unknown>, at: string) => number | undefined;
  /** A generated id. */
  readonly newId: (slot: number | undefined) => string;
}

/**
 * The payload as the codec writes it, checked by the schema. Without a schema the result is not a promise.
 * @param limit of the payload, bytes. @default 1 MiB
 * @param at what errors put before the names of options, such as `tasks[3].`
 * @throws {SluiceError} `invalid_argument`, `too_large`
 */
export function checkAndEncode<In, Out>(
  schema: StandardSchemaV1<In, Out> | undefined,
  { id, payload }: NewTask<In>,
  at: string,
  limit?: number,
): MaybePromise<string> {
  const path = `${at}payload`;
  if (id !== undefined) taskId(id, `${at}id`);
  return schema ? encodeChecked(schema, payload, path, limit) : encodePayload(payload, path, limit);
}

/**
 * Tasks as the enqueue script takes them.
 * @param payloads the results of {@link checkAndEncode}, in the order of the tasks
 * @param key the idempotency key of the call
 * @param at what errors put before the names of a task's options
 * @param addTraceHeaders adds to each task the headers of its trace. They are not compared when an
 *   idempotency key comes again: a resend of the call may have others. @default none
 * @param placing where the tasks go, if the queue has partitions
 * @throws {SluiceError} `invalid_argument`, `too_large`
 */
export async function enqueueItems(
  queue: ValuesQueue,
  defaults: TaskDefaults,
  tasks: readonly NewTask<unknown>[],
  payloads: readonly string[],
  key: string | undefined,
  at: (index: number) => string,
  addTraceHeaders?: AddTraceHeaders,
  placing?: Placing,
): Promise<EnqueueItem[]> {
  const derivedId = key === undefined ? undefined : await derivedTaskIds(queue.name, key);
  const ids = tasks.map((task, i) => {
    const slot = placing?.slotOf(task, at(i));
    if (task.id !== undefined) return task.id;
    // Without a tag: a copy of the call from before the queue had partitions has the same id.
    if (derivedId) return derivedId(i);
    return placing ? placing.newId(slot) : newTaskId();
  });
  const encoded = await all(
    payloads.map((text, i) =>
      encryptValue(queue, { kind: "payload", id: ids[i] as string }, text, `${at(i)}payload`),
    ),
  );
  // A generated id is known to its producer only, so it needs no token.
  const needsToken = (task: NewTask<unknown>) => task.id !== undefined || key !== undefined;
  let token: string | undefined;
  if (key !== undefined) {
    const contents = tasks.map((task, i) => [task.id ?? null, contentOf(task, encoded[i] ?? "", at(i))]);
    token = await idempotencyToken(queue.name, key, contents);
  } else if (tasks.some(needsToken)) token = newToken();
  const written = encoded.map((text, i) => ({ id: ids[i] as string, text }));
  const stored: readonly StoredPayload[] = queue.offload
    ? await queue.offload.write(queue, written)
    : written;
  return tasks.map((task, i) => {
    const path = at(i);
    const fixed = fixedOptions(defaults, task, path);
    const id = ids[i] as string;
    return {
      id,
      when: whenReady(defaults, task, path),
      unique: uniqueness(task, path),
      record: writeFixed({
        token: needsToken(task) ? token : undefined,
        ...fixed,
        headers: addTraceHeaders ? addTraceHeaders(fixed.headers) : fixed.headers,
        payload: stored[i]?.text ?? "",
      }),
      placedBy: placedBy(task) ?? (derivedId && id),
      object: stored[i]?.object,
    };
  });
}
