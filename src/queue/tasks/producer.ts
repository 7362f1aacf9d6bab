import type { StandardSchemaV1 } from "@standard-schema/spec";
import { invalidArgument, SluiceError } from "../../errors.ts";
import { type Coalesce, Coalescer, type Shareable } from "../redis/coalescer.ts";
import { byteLengths } from "../core/codec.ts";
import { addToPartitions, type PartitionReply, type SendToPartitions } from "./add-to-partitions.ts";
import { checkAndEncode, enqueueItems, type EnqueueItem, type Placing } from "./encode-tasks.ts";
import { firstEnqueued } from "./first-due.ts";
import { nameAndOptions, type QueueOrName } from "./definition.ts";
import { ENQUEUE_ERRORS } from "./enqueue-errors.ts";
import type { QueueBaseOptions } from "./queue-base.ts";
import { TasksById } from "./tasks-by-id.ts";
import { tryPartitions } from "./try-partitions.ts";
import type { SendOptions } from "../redis/transport.ts";
import { MAX_BATCH, MAX_REQUEST_BYTES } from "../core/limits.ts";
import { isWrongType } from "../partitions/marker.ts";
import type { Partitions } from "../partitions/partitions.ts";
import { NewTaskPlacement } from "../partitions/placement.ts";
import { all } from "../core/maybe-promise.ts";
import { listOf, onlyOptions, REQUEST_OPTIONS, requestKey } from "../core/validation.ts";
import { type AddTraceHeaders, checkedTracing, type Tracing } from "../core/tracing.ts";
import { partitionSender } from "./partition-sender.ts";
import { checkedSchema } from "./checked-schema.ts";
import { type Added, wakeScript } from "../redis/task-scripts.ts";
import { fixedOptions, TASK_OPTIONS, whenReady } from "./task-options.ts";
import { DEFAULT_OPTIONS } from "../core/default-options.ts";
import type { Enqueued, EnqueueOptions, NewTask, RequestOptions, TaskDefaults } from "../core/types.ts";

const ENQUEUE_OPTIONS = [...TASK_OPTIONS, ...REQUEST_OPTIONS];
const NEW_TASK_OPTIONS = ["payload", ...TASK_OPTIONS];

/** Options of a queue. A producer accepts `maxBytes` and `onDeadLetter`, but does not use them. */
const QUEUE_OPTIONS = [
  "transport",
  "prefix",
  "partitions",
  "now",
  "encryption",
  "offload",
  "onDeadLetter",
  ...DEFAULT_OPTIONS,
  "maxBytes",
  "schema",
  "wake",
  "coalesce",
  "tracing",
];

export interface ProducerOptions<In = unknown, Out = In> extends TaskDefaults, QueueBaseOptions {
  /**
   * Checks payloads at enqueue and at dequeue: any Standard Schema (zod, valibot, arktype, …).
   * @default no check
   */
  readonly schema?: StandardSchemaV1<In, Out> | undefined;
  /**
   * Which single calls share a request: `enqueue`, and with a `Queue` also `dequeue` of one task and settles
   * of one task. Each call has its own result, error and signal.
   *
   * - `"turn"`: calls of this instance in the same turn of the event loop, as by `Promise.all`. Workers
   *   cannot see the end of a turn; there, calls directly after each other.
   * - `"in-flight"`: for servers, calls of all instances with this transport. A call waits for the request of
   *   its kind that is under way, at most 250 ms, and goes with the next. Not for Workers, where requests may
   *   not share I/O.
   * - `false`: each call is a request.
   * @default "turn"
   */
  readonly coalesce?: Coalesce | undefined;
  /**
   * Traces enqueues, and with a `Queue` also dequeues, settles and the handlers of its drains:
   * `openTelemetry()` of `sluice-queue/opentelemetry`.
   * @default no traces
   */
  readonly tracing?: Tracing | undefined;
}

/** Adds tasks to a queue. `Queue` also consumes them; a bundle with `Producer` alone is smaller. */
export class Producer<In = unknown, Out = In> extends TasksById {
  /** The option `tracing`. A drain of the queue uses it too. */
  readonly tracing: Tracing | undefined;
  readonly #defaults: TaskDefaults;
  protected readonly schema: StandardSchemaV1<In, Out> | undefined;
  protected readonly coalescer: Coalescer;
  #placement: NewTaskPlacement | undefined;

  /**
   * @param queue its name, `^[A-Za-z0-9_-][A-Za-z0-9_.-]{0,127}$`, or a queue that `defineQueue` made
   * @param given options; those of a declared queue are the defaults
   * @throws {SluiceError} `invalid_argument`
   */
  constructor(queue: QueueOrName<In, Out>, given: ProducerOptions<In, Out>) {
    super(queue, given);
    const { options } = nameAndOptions(queue, given);
    onlyOptions(options, QUEUE_OPTIONS);
    const { lease, maxAttempts, resultTtl, deadTtl, delay, unique } = options;
    this.#defaults = { lease, maxAttempts, resultTtl, deadTtl, delay, unique };
    this.schema = checkedSchema(options.schema);
    this.tracing = checkedTracing(options.tracing);
    this.coalescer = new Coalescer(options.coalesce, this.transport);
    // Invalid defaults throw here, not at the first task.
    fixedOptions({}, this.#defaults, "");
    whenReady(this.#defaults, {}, "");
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
  enqueue(payload: In, options: EnqueueOptions & RequestOptions = {}): Promise<Enqueued> {
    const run = (addTraceHeaders?: AddTraceHeaders) =>
      tryPartitions(this.#known, [options], options, () => this.#enqueue(payload, options, addTraceHeaders));
    if (!this.tracing) return run();
    const call = { queue: this.name, tasks: [options], many: false, overHttp: false };
    return this.tracing.enqueue(call, run);
  }

  async #enqueue(
    payload: In,
    options: EnqueueOptions & RequestOptions,
    addTraceHeaders?: AddTraceHeaders,
  ): Promise<Enqueued> {
    onlyOptions(options, ENQUEUE_OPTIONS);
    const { signal, idempotencyKey, ...rest } = options;
    const key = requestKey({ idempotencyKey });
    const task = { ...rest, payload };
    // A slow schema does not delay the other calls of the turn.
    const encoded = await checkAndEncode(this.schema, task, "", this.values.maxPayload);
    const none = () => "";
    const placing = this.partitions && (await this.#placing(1, signal));
    const items = enqueueItems(
      this.values,
      this.#defaults,
      [task],
      [encoded],
      key,
      none,
      addTraceHeaders,
      placing,
    );
    const item = items.then(([only]) => only as EnqueueItem);
    const pool = this.waker ? `${this.#pool} ${this.wakeWindow}` : this.#pool;
    return this.coalescer.call(this.#singleEnqueues, pool, item, signal);
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
  enqueueMany(tasks: readonly NewTask<In>[], options: RequestOptions = {}): Promise<Enqueued[]> {
    const run = (addTraceHeaders?: AddTraceHeaders) =>
      tryPartitions(this.#known, tasks, options, () => this.#enqueueMany(tasks, options, addTraceHeaders));
    if (!this.tracing) return run();
    const call = { queue: this.name, tasks, many: true, overHttp: false };
    return this.tracing.enqueue(call, run);
  }

  async #enqueueMany(
    tasks: readonly NewTask<In>[],
    options: RequestOptions,
    addTraceHeaders?: AddTraceHeaders,
  ): Promise<Enqueued[]> {
    listOf(tasks, "tasks", MAX_BATCH);
    onlyOptions(options, REQUEST_OPTIONS);
    const at = (i: number) => `tasks[${i}].`;
    for (const [i, task] of tasks.entries()) onlyOptions(task, NEW_TASK_OPTIONS, at(i));
    if (tasks.length === 0) return [];
    const key = requestKey(options);
    const { maxPayload } = this.values;
    const encoded = await all(tasks.map((task, i) => checkAndEncode(this.schema, task, at(i), maxPayload)));
    const placing = this.partitions && (await this.#placing(tasks.length, options.signal));
    const items = await enqueueItems(
      this.values,
      this.#defaults,
      tasks,
      encoded,
      key,
      at,
      addTraceHeaders,
      placing,
    );
    const bytes = byteLengths(
      items.map(({ record }) => record),
      MAX_REQUEST_BYTES,
    );
    if (items.length > 1 && bytes > MAX_REQUEST_BYTES) {
      // A trace must not make a call fail.
      if (addTraceHeaders) return this.#enqueueMany(tasks, options);
      throw new SluiceError(
        "too_large",
        `tasks have ${bytes} bytes; at most ${MAX_REQUEST_BYTES} are allowed`,
        "tasks",
      );
    }
    const { added, wake } = await this.#add(items, "", options.signal);
    if (this.waker) await this.#wakeFor(items, added, wake);
    // No single task is refused here: the call is refused as a whole.
    return items.map(({ id }, i) => ({ id, created: false, ...added[i] }));
  }

  readonly #known = () => this.partitions;

  /** Enqueues of one task, which can share a request. */
  readonly #singleEnqueues: Shareable<EnqueueItem, Enqueued> = {
    most: MAX_BATCH,
    text: ({ record }) => record,
    send: async (calls, signal) => {
      const items = calls.map(({ item }) => item);
      const { added, wake } = await this.#add(items, calls.length > 1 ? "1" : "", signal);
      const answer = (i: number) => {
        const [call, result] = [calls[i], added[i]];
        if (!call || !result) return;
        if ("refused" in result) call.fail(ENQUEUE_ERRORS[result.refused](this.name));
        else call.answer({ id: call.item.id, ...result });
      };
      // Only the first call waits for the wake, if the platform has no `waitUntil`.
      for (let i = 1; i < calls.length; i++) answer(i);
      if (this.waker) await this.#wakeFor(items, added, wake);
      answer(0);
    },
  };

  /** Made once, because a new string is slower to look up. */
  readonly #pool = `enqueue ${this.keys.tasks}`;

  /**
   * Adds tasks, in one request.
   * @param refuseEach "1" to refuse each task alone, "" to refuse all of them together
   * @returns for each task whether it was created, or why it was refused; and whether to wake a consumer
   */
  async #add(items: readonly EnqueueItem[], refuseEach: "1" | "", signal: AbortSignal | undefined) {
    const objects = this.values.offload?.enqueueing(items);
    const add = async (partitions: Partitions, isResent: boolean) => {
      const send = this.#sender(refuseEach, signal, objects?.onSend);
      // If a partition refuses its tasks, this throws, and those of others may have been added. The objects of
      // those that were not are left to the sweep.
      const refusesEach = refuseEach === "1";
      const done = await addToPartitions(items, { partitions, send, signal, isResent, refusesEach });
      await objects?.finish((i) => isNotAdded(done.added[i]));
      return done;
    };
    const known = await this.split(signal);
    if (known) return add(known, false);
    const send = this.#sender(refuseEach, signal, objects?.onSend);
    let replies: readonly PartitionReply[];
    try {
      replies = await send([{ partition: 0, items, slots: "" }]);
    } catch (error) {
      const found = isWrongType(error) && (await this.findPartitions(signal));
      if (found) return add(found, true);
      throw error;
    }
    const [{ refused, wake, tasks }] = replies as [PartitionReply];
    const added = tasks as readonly Added[];
    await objects?.finish((i) => refused !== undefined || isNotAdded(added[i]));
    if (refused && refused !== "moved") throw ENQUEUE_ERRORS[refused](this.name);
    return { added, wake };
  }

  #sender(
    refuseEach: "1" | "",
    signal: AbortSignal | undefined,
    onSend: SendOptions["onSend"],
  ): SendToPartitions {
    const { transport, wakeWindow } = this;
    return partitionSender({
      transport,
      keysOf: (partition) => this.keysOf(partition),
      nameOf: (partition) => this.nameOf(partition),
      testNow: this.testNow(),
      wake: wakeWindow,
      refuseEach,
      signal,
      onSend,
    });
  }

  async #placing(count: number, signal: AbortSignal | undefined): Promise<Placing | undefined> {
    const partitions = await this.split(signal);
    if (!partitions) return undefined;
    const map = await partitions.map(signal);
    const shuns = (partition: number) => partitions.shuns(partition, count);
    return (this.#placement ??= new NewTaskPlacement()).placing(count, map, shuns);
  }

  /** Wakes a consumer for tasks that are ready, and arranges a wake for those that are delayed. */
  async #wakeFor(items: readonly EnqueueItem[], added: readonly object[], wake: boolean): Promise<void> {
    const { name, waker } = this;
    if (wake) await waker?.wake(name);
    if (waker?.looksAhead(name)) await waker.wakeAt(name, firstEnqueued(items, added, this.scriptTime()));
  }

  /**
   * Wakes another consumer, for more work than the consumers that are awake can do. Does nothing if one was
   * woken within the window. One request, of 3 or 4 Redis commands.
   * @returns whether a consumer was woken
   * @throws {SluiceError} `invalid_argument` if the queue has no `wake`
   */
  async wakeAnother(options: RequestOptions = {}): Promise<boolean> {
    onlyOptions(options, REQUEST_OPTIONS);
    const window = this.wakeWindow;
    if (!window) throw invalidArgument("wake", "must be set to wake a consumer");
    const args = { testNow: this.testNow(), window };
    const wanted = await this.overPartitions(() => this.run(wakeScript, args, [], options), options);
    if (wanted) await this.waker?.wake(this.name);
    return wanted;
  }
}

function isNotAdded(answer: Added | undefined): boolean {
  return answer !== undefined && ("refused" in answer || !answer.created);
}
