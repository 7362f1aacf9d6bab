import type { StandardSchemaV1 } from "@standard-schema/spec";
import { MAX_BATCH } from "./options/limits.ts";
import { all } from "./maybe-promise.ts";
import type { AddHeaders } from "./hooks.ts";
import type { Enqueued, EnqueueOptions, NewTask, RequestOptions, TaskDefaults } from "./options/types.ts";
import { listOf, onlyOptions, REQUEST_OPTIONS, requestKey } from "./options/validation.ts";
import { fixedOptions, TASK_OPTIONS, whenReady } from "./enqueue/task-options.ts";
import type { Values } from "./values/values.ts";
import { checkAndEncode, newTasks, type NewTasksOptions } from "./enqueue/new-tasks.ts";
import type { AddBatch, AddReply, Adds } from "./store.ts";
import { waitFor } from "./unless-aborted.ts";
import { TasksById } from "./tasks/tasks-by-id.ts";

const ENQUEUE_OPTIONS = [...TASK_OPTIONS, ...REQUEST_OPTIONS];
const NEW_TASK_OPTIONS = ["payload", ...TASK_OPTIONS];

/** What a producer is made of. */
export interface ProducerParts<In, Out> {
  readonly store: Adds;
  readonly values: Values;
  readonly defaults: TaskDefaults;
  readonly schema: StandardSchemaV1<In, Out> | undefined;
}

/** Adds tasks to a queue, and reads and cancels them. */
export class Producer<In = unknown, Out = In> extends TasksById {
  protected readonly defaults: TaskDefaults;
  protected readonly schema: StandardSchemaV1<In, Out> | undefined;

  /** @throws {SluiceError} `invalid_argument` */
  constructor({ store, values, defaults, schema }: ProducerParts<In, Out>) {
    super(store, values);
    this.schema = schema;
    this.defaults = defaults;
    // Invalid defaults throw here, not at the first task.
    fixedOptions({}, defaults, "");
    whenReady(defaults, {}, "");
  }

  /**
   * Adds one task, in one request. Calls of the same turn share it: see {@link ProducerOptions.coalesce}.
   * @param payload anything that JSON can express, or a `Uint8Array`; at most 1 MiB, or the `maxBytes` of `offload`
   * @param options of the task, such as `delay`, `id` or `priority`; the queue's options are the defaults
   * @returns the task's id. `created` is false if the id was known already
   * @throws {SluiceError} `invalid_argument`, `too_large`, `queue_full`, `idempotency_key_reused` if the key
   *   belongs to other tasks, or a fault of the transport
   * @example const { id } = await emails.enqueue({ to: "a@example.com" }, { delay: "30s", id: "welcome-17" })
   */
  enqueue(payload: In, options?: EnqueueOptions & RequestOptions): Promise<Enqueued>;
  async enqueue(payload: In, options: EnqueueOptions & RequestOptions = {}, addHeaders?: AddHeaders) {
    onlyOptions(options, ENQUEUE_OPTIONS);
    const { signal, idempotencyKey, ...rest } = options;
    const tasks = [{ ...rest, payload }];
    const key = requestKey({ idempotencyKey });
    const batch = await this.#batch(tasks, { key, at: () => "", addHeaders }, true, signal);
    return (await this.#answers(await this.store.add(batch), signal))[0] as Enqueued;
  }

  /**
   * Adds up to 1,000 tasks, of 9.5 MB in all, in one request. A refusal adds none of them; in a queue with
   * partitions, none of those that go to the same partition. After `redis_unreachable` or `aborted`, all of
   * them may have been added.
   * @param tasks payloads, each with its options
   * @returns for each task its id, and whether it was created
   * @throws {SluiceError} as {@link enqueue}; `path` names the task, such as `tasks[3].delay`
   * @example await emails.enqueueMany(users.map(({ email }) => ({ payload: { to: email } })))
   */
  enqueueMany(tasks: readonly NewTask<In>[], options?: RequestOptions): Promise<Enqueued[]>;
  async enqueueMany(tasks: readonly NewTask<In>[], options: RequestOptions = {}, addHeaders?: AddHeaders) {
    listOf(tasks, "tasks", MAX_BATCH);
    onlyOptions(options, REQUEST_OPTIONS);
    const at = (i: number) => `tasks[${i}].`;
    for (const [i, task] of tasks.entries()) onlyOptions(task, NEW_TASK_OPTIONS, at(i));
    if (tasks.length === 0) return [];
    const key = requestKey(options);
    const { signal } = options;
    const batch = await this.#batch(tasks, { key, at, addHeaders }, false, signal);
    return this.#answers(await this.store.add(batch), signal);
  }

  async #batch(
    tasks: readonly NewTask<In>[],
    options: NewTasksOptions,
    mayShare: boolean,
    signal: AbortSignal | undefined,
  ): Promise<AddBatch> {
    const { values } = this;
    const texts = await all(tasks, (task, i) =>
      checkAndEncode(this.schema, task, options.at(i), values.maxPayload),
    );
    const { drafts, encode } = newTasks(
      { name: this.name, values, defaults: this.defaults },
      tasks,
      texts,
      options,
    );
    return { drafts, encode, refuseEach: false, mayShare, signal };
  }

  /** @throws {SluiceError} if a task was refused */
  async #answers({ items, added, after }: AddReply, signal: AbortSignal | undefined): Promise<Enqueued[]> {
    if (after.length > 0) await waitFor(after, signal);
    const enqueued: Enqueued[] = [];
    for (const [i, item] of items.entries()) {
      const answer = added[i];
      if (!item || !answer || !("created" in answer)) {
        throw (await import("./enqueue/refusal.ts")).whyNotAdded(answer, this.name);
      }
      enqueued.push({ id: answer.id ?? item.id, created: answer.created });
    }
    return enqueued;
  }

  /**
   * Wakes another consumer, for more work than the consumers that are awake can do. Does nothing if one was
   * woken within the window. One request, of 3 or 4 Redis commands.
   * @returns whether a consumer was woken
   * @throws {SluiceError} `invalid_argument` if the queue has no `wake`
   */
  async wakeAnother(options: RequestOptions = {}): Promise<boolean> {
    const { wakeAnother } = await import("./enqueue/wake-another.ts");
    return wakeAnother(this.store, options);
  }
}
