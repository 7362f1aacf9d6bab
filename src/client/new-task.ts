import type { OnDeadLetter } from "../queue/core/dead-letter.ts";
import { derivedTaskIds, newTaskId } from "../queue/core/ids.ts";
import { headerTexts, instantMs, LAST_DUE, onlyOptions, requestKey } from "../queue/core/validation.ts";
import { encodeChecked } from "../queue/tasks/schema.ts";
import { encryptValue, type ValuesQueue } from "../queue/values/encryption.ts";
import type { EnqueueOptions, NewTask, RequestOptions, TaskDefaults } from "../queue/core/types.ts";
import type { QueueOptions } from "../queue/tasks/queue.ts";
import { jsonWith } from "./body.ts";

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
  queue: ValuesQueue,
  { schema, ...defaults }: ClientQueueOptions<In, Out>,
  task: NewTask<In>,
  options: RequestOptions,
  index?: number,
): Promise<string> {
  const at = index === undefined ? "" : `tasks[${index}]`;
  onlyOptions(task, Object.keys(task ?? {}), at);
  const { payload, ...given } = task;
  const pathOf = (field: string) => (at === "" ? field : `${at}.${field}`);
  const path = pathOf("payload");
  const id = given.id ?? (await newId(queue, given, options, index ?? 0));
  const fields = {
    ...given,
    id,
    at: given.at === undefined ? undefined : instantMs(given.at, pathOf("at"), LAST_DUE),
    headers: given.headers === undefined ? undefined : headerTexts(given.headers, pathOf("headers")),
    lease: given.lease ?? defaults.lease,
    maxAttempts: given.maxAttempts ?? defaults.maxAttempts,
    resultTtl: given.resultTtl ?? defaults.resultTtl,
    deadTtl: given.deadTtl ?? defaults.deadTtl,
    delay: given.delay ?? (given.at === undefined ? defaults.delay : undefined),
    unique: given.unique ?? (given.id === undefined || given.again ? undefined : defaults.unique),
  };
  const encoded = await encodeChecked(schema, payload, path, queue.maxPayload);
  const text = await encryptValue(queue, { kind: "payload", id: id ?? "" }, encoded, path);
  return jsonWith(fields, at || "options", "payload", text);
}

/**
 * Generates an id that rises with time. With an idempotency key the server derives the id, so that a repeated
 * call gets the same.
 */
async function newId(
  { name, encryption }: ValuesQueue,
  { again, unique }: EnqueueOptions,
  options: RequestOptions,
  index: number,
): Promise<string | undefined> {
  // These need an id of the caller's, as the server says.
  if (again || unique !== undefined) return undefined;
  const key = requestKey(options);
  if (key === undefined) return newTaskId();
  // An encrypted payload is bound to its id, so the id must be known here.
  return encryption ? (await derivedTaskIds(name, key))(index) : undefined;
}
