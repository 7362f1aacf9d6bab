import type { StandardSchemaV1 } from "@standard-schema/spec";
import { SluiceError } from "../../errors.ts";
import { callOf } from "../redis/binding.ts";
import { type Coalesce, Coalescer, type Shareable } from "../redis/coalescer.ts";
import { byteLengths, encodeValue } from "../core/codec.ts";
import { QueueBase, type HandleOptions } from "./queue-base.ts";
import { derivedTaskIds, newTaskId, newToken } from "../core/ids.ts";
import { all, type MaybePromise } from "../core/maybe-promise.ts";
import { listOf, onlyOptions, REQUEST_OPTIONS, requestKey, taskId, wholeNumber } from "../core/validation.ts";
import { lastReply } from "../redis/replies.ts";
import { readTaskInfo, writeFixed } from "../core/record.ts";
import { registration } from "./registration.ts";
import { checkedSchema, fitting } from "./schema.ts";
import { openedTask, sealed } from "../values/encryption.ts";
import {
  cancelScript,
  enqueueScript,
  getScript,
  wakeScript,
  type EnqueueRefusal,
} from "../redis/task-scripts.ts";
import { callToken, contentOf, fixedOptions, uniqueness, whenReady } from "./task-options.ts";
import { CheckedWaker, type Waker } from "./waker.ts";
import type {
  Cancelled,
  Enqueued,
  EnqueueOptions,
  NewTask,
  RequestOptions,
  TaskDefaults,
  TaskInfo,
} from "../core/types.ts";

/** Most tasks of one enqueue. */
export const MAX_ENQUEUE = 1_000;

/** Most bytes of records in one enqueue: Upstash refuses a request over 10 MB. */
export const MAX_ENQUEUE_BYTES = 9_500_000;

/** Options of a queue that its tasks have where they say nothing else. */
const DEFAULTS = ["lease", "maxAttempts", "resultTtl", "deadTtl", "delay"] as const;

const TASK_OPTIONS = [
  ...DEFAULTS,
  ...(["id", "at", "group", "priority", "dedup", "again", "headers"] as const),
] as const satisfies readonly (keyof EnqueueOptions)[];

const ENQUEUE_OPTIONS = [...TASK_OPTIONS, ...REQUEST_OPTIONS];
const NEW_TASK_OPTIONS = ["payload", ...TASK_OPTIONS];

/** Options of a queue; a producer has no use for `maxBytes`. */
const QUEUE_OPTIONS = [
  "transport",
  "prefix",
  "now",
  "encryption",
  ...DEFAULTS,
  "maxBytes",
  "schema",
  "wake",
  "coalesce",
];

export interface ProducerOptions<In = unknown, Out = In> extends TaskDefaults, HandleOptions {
  /** What a payload must be, by any Standard Schema (zod, valibot, arktype, …): checked at enqueue and at dequeue. */
  readonly schema?: StandardSchemaV1<In, Out> | undefined;
  /** Wakes a consumer where none runs, when a task is ready. @default nobody is woken: cron starts consumers */
  readonly wake?: Waker | undefined;
  /**
   * Which single calls share a request: `enqueue`, and of a `Queue` also `dequeue` of one task and what settles one.
   * Each call has its own answer, error and signal.
   *
   * `"turn"`: calls of this instance that are made in the same turn of the event loop, as by `Promise.all`; in Workers,
   * which cannot tell the end of a turn, directly after each other. `"in-flight"`: for a server, calls of all instances
   * with this transport; a call that is made while a request of its kind is under way waits for its answer, at most
   * 250 ms, and goes with the next. Not in Workers, where requests may not share I/O. `false`: each call is a request of
   * its own.
   * @default "turn"
   */
  readonly coalesce?: Coalesce | undefined;
}

/** A task as the enqueue script takes it. */
interface Item {
  readonly id: string;
  readonly when: string;
  readonly unique: string;
  readonly record: string;
}

/** What a producer does with a queue. `Queue` adds what consumers do; a bundle with this alone is smaller. */
export class Producer<In = unknown, Out = In> extends QueueBase {
  readonly #defaults: TaskDefaults;
  protected readonly schema: StandardSchemaV1<In, Out> | undefined;
  readonly #waker: CheckedWaker | undefined;
  protected readonly coalescer: Coalescer;

  /**
   * @param name `^[A-Za-z0-9_-][A-Za-z0-9_.-]{0,127}$`
   * @throws {SluiceError} `invalid_argument`
   */
  constructor(name: string, options: ProducerOptions<In, Out>) {
    super(name, options);
    onlyOptions(options, QUEUE_OPTIONS);
    const { lease, maxAttempts, resultTtl, deadTtl, delay } = options;
    this.#defaults = { lease, maxAttempts, resultTtl, deadTtl, delay };
    this.schema = checkedSchema(options.schema);
    this.#waker = options.wake && new CheckedWaker(options.wake);
    this.coalescer = new Coalescer(options.coalesce, this.transport);
    // Faults in the defaults show here, not at the first task.
    fixedOptions(this.#defaults, {}, "");
    whenReady(this.#defaults, {}, "");
  }

  /**
   * Adds one task, in one request, which calls of the same turn share: see {@link ProducerOptions.coalesce}.
   * @param payload anything that JSON can express, or a `Uint8Array`; at most 1 MiB
   * @returns the task's id; `created` is false where the id was known already
   * @throws {SluiceError} `invalid_argument`, `too_large`, `queue_full`, `idempotency_key_reused` if the key belongs to
   *   other tasks, or a fault of the transport
   */
  async enqueue(payload: In, options: EnqueueOptions & RequestOptions = {}): Promise<Enqueued> {
    onlyOptions(options, ENQUEUE_OPTIONS);
    const { signal, idempotencyKey, ...rest } = options;
    const key = requestKey({ idempotencyKey });
    const task = { ...rest, payload };
    // A schema may take its time; the others of a turn do not wait for it.
    const encoded = await this.#encoded(task, "");
    const item = this.#items([task], [encoded], key, () => "").then(([one]) => one as Item);
    const lane = this.#waker ? `${this.#lane} ${this.#waker.window(this.name)}` : this.#lane;
    return this.coalescer.call(this.#singly, lane, item, signal);
  }

  /**
   * Adds up to 1,000 tasks, in one request: all of them, or none where it is refused. Where it throws `redis_unreachable`
   * or `aborted`, all of them may be there.
   * @throws {SluiceError} as {@link enqueue}; the path says which task is at fault
   */
  async enqueueMany(tasks: readonly NewTask<In>[], options: RequestOptions = {}): Promise<Enqueued[]> {
    listOf(tasks, "tasks", MAX_ENQUEUE);
    onlyOptions(options, REQUEST_OPTIONS);
    const at = (i: number) => `tasks[${i}].`;
    for (const [i, task] of tasks.entries()) onlyOptions(task, NEW_TASK_OPTIONS, at(i));
    if (tasks.length === 0) return [];
    const key = requestKey(options);
    const encoded = await all(tasks.map((task, i) => this.#encoded(task, at(i))));
    const items = await this.#items(tasks, encoded, key, at);
    const bytes = byteLengths(
      items.map(({ record }) => record),
      MAX_ENQUEUE_BYTES,
    );
    if (items.length > 1 && bytes > MAX_ENQUEUE_BYTES) {
      throw new SluiceError(
        "too_large",
        `tasks have ${bytes} bytes; one request takes ${MAX_ENQUEUE_BYTES}`,
        "tasks",
      );
    }
    const { told, wake } = await this.#add(items, "", options.signal);
    if (wake) await this.#waker?.wake(this.name);
    // Nothing is refused here: what is not apart is refused as a whole.
    return items.map(({ id }, i) => ({ id, created: false, ...told[i] }));
  }

  /** Single enqueues, as calls that can share a request. */
  readonly #singly: Shareable<Item, Enqueued> = {
    most: MAX_ENQUEUE,
    text: ({ record }) => record,
    send: async (calls, signal) => {
      const items = calls.map(({ item }) => item);
      const { told, wake } = await this.#add(items, calls.length > 1 ? "1" : "", signal);
      const answer = (i: number) => {
        const [call, one] = [calls[i], told[i]];
        if (!call || !one) return;
        if ("refused" in one) call.fail(new SluiceError(...REFUSALS[one.refused]));
        else call.answer({ id: call.item.id, ...one });
      };
      // One of them waits for the wake, where no platform takes care of it.
      for (let i = 1; i < calls.length; i++) answer(i);
      if (wake) await this.#waker?.wake(this.name);
      answer(0);
    },
  };

  /** Made once: a text that is made anew is looked up more slowly. */
  readonly #lane = `enqueue ${this.keys.tasks}`;

  /** The payload as the codec writes it, once it fits the schema. Without one it is no promise. */
  #encoded({ id, payload }: NewTask<In>, at: string): MaybePromise<string> {
    const path = `${at}payload`;
    if (id !== undefined) taskId(id, `${at}id`);
    const encode = () => encodeValue(payload, path);
    return this.schema ? fitting(this.schema, payload, path).then(encode) : encode();
  }

  async #items(
    tasks: readonly NewTask<In>[],
    encoded: readonly string[],
    key: string | undefined,
    at: (index: number) => string,
  ): Promise<Item[]> {
    const idAt = key === undefined ? () => newTaskId() : await derivedTaskIds(this.name, key);
    const ids = tasks.map(({ id }, i) => id ?? idAt(i));
    const payloads = await all(
      encoded.map((text, i) =>
        sealed(this.values, { kind: "payload", id: ids[i] as string }, text, `${at(i)}payload`),
      ),
    );
    // A generated id is known to its producer alone, so it needs no token beside it.
    const isKnown = (task: NewTask<In>) => task.id !== undefined || key !== undefined;
    let token: string | undefined;
    if (key !== undefined) {
      const contents = tasks.map((task, i) => [task.id ?? null, contentOf(task, payloads[i] ?? "", at(i))]);
      token = await callToken(this.name, key, contents);
    } else if (tasks.some(isKnown)) token = newToken();
    return tasks.map((task, i) => {
      const path = at(i);
      return {
        id: ids[i] as string,
        when: whenReady(this.#defaults, task, path),
        unique: uniqueness(task, path),
        record: writeFixed({
          token: isKnown(task) ? token : undefined,
          ...fixedOptions(this.#defaults, task, path),
          payload: payloads[i] ?? "",
        }),
      };
    });
  }

  /**
   * Adds tasks, in one request.
   * @param apart "1" if each is refused alone, "" if they are refused together
   */
  async #add(items: readonly Item[], apart: "1" | "", signal: AbortSignal | undefined) {
    const note = registration(this.transport, this.keys, this.name, this.testNow());
    const args = {
      testNow: this.testNow(),
      look: note.look ? "1" : "",
      wake: this.#waker?.window(this.name) ?? "",
      apart,
    };
    const call = callOf(enqueueScript, this.keys, args, items);
    const outcomes = await this.transport.send([...note.commands, call], { signal });
    const { refused, look, wake, tasks: told } = enqueueScript.decode(lastReply(outcomes));
    if (outcomes[0] && "reply" in outcomes[0]) note.done(look);
    if (refused) throw new SluiceError(...REFUSALS[refused]);
    return { told, wake };
  }

  /**
   * Wakes another consumer, for work that is more than those awake can do; not where one was woken within the window.
   * One request, of 3 or 4 Redis commands.
   * @returns whether one was woken
   * @throws {SluiceError} `invalid_argument` where the queue has no `wake`
   */
  async wakeAnother(options: RequestOptions = {}): Promise<boolean> {
    onlyOptions(options, REQUEST_OPTIONS);
    const window = this.#waker?.window(this.name) || undefined;
    if (!window) throw new SluiceError("invalid_argument", "the queue has nobody to wake: see wake", "wake");
    const wanted = await this.run(wakeScript, { testNow: this.testNow(), window }, [], options);
    if (wanted) await this.#waker?.wake(this.name);
    return wanted;
  }

  /**
   * What is known of a task, or null where nothing is (any more). One request.
   * @throws {SluiceError} `undecryptable`, or a fault of the transport
   */
  async get(id: string, options: RequestOptions = {}): Promise<TaskInfo | null> {
    const found = await this.run(getScript, { id: taskId(id) }, [], options);
    return found && openedTask(this.values, readTaskInfo(this.name, id, found), id);
  }

  /**
   * Cancels a task: at once where nobody works on it; otherwise its holder learns of it at the next
   * extend or settle. Cancelling again says the same.
   * @param options.lease the lease number the task must have (as `get` shows it), so that a late copy
   *   of the request cannot meet a later life of the same id
   * @throws {SluiceError}
   */
  async cancel(
    id: string,
    options: RequestOptions & { readonly lease?: number | undefined } = {},
  ): Promise<Cancelled> {
    onlyOptions(options, ["lease", ...REQUEST_OPTIONS]);
    const lease =
      options.lease === undefined ? "" : String(wholeNumber(options.lease, "lease", 0, 2 ** 53 - 1));
    const args = { testNow: this.testNow(), id: taskId(id), lease };
    const status = await this.run(cancelScript, args, [], options);
    return status === "rejected" || status === "working"
      ? { ok: true, state: status }
      : { ok: false, code: status };
  }
}

const REFUSALS: Readonly<Record<EnqueueRefusal, ConstructorParameters<typeof SluiceError>>> = {
  full: ["queue_full", "with these tasks more would be pending than the maxPending of the queue allows"],
  reused: [
    "idempotency_key_reused",
    "an earlier enqueue with this idempotencyKey had other tasks; use a new key for new tasks",
    "idempotencyKey",
  ],
  newer_schema: [
    "newer_schema",
    "the task with this id is of a newer release of Sluice; deploy that release here too",
  ],
};
