import { DEFAULT_OPTIONS } from "../kernel/options/default-options.ts";
import { MAX_BATCH } from "../kernel/options/limits.ts";
import { listOf, onlyOptions, optionalFunction, queueName, taskId } from "../kernel/options/validation.ts";
import { checkedSchema } from "../kernel/enqueue/checked-schema.ts";
import { nameAndOptions, type QueueOrName } from "../open/definition.ts";
import { checkedWatch, type WaitOptions, type WatchOptions } from "../kernel/tasks/watch-options.ts";
import { plainValues } from "../kernel/values/values.ts";
import { checkedEncryption, encrypted } from "../features/encryption/index.ts";
import type { QueueCounts } from "../kernel/tasks/counts.ts";
import type { TaskInfo } from "../kernel/record/task-info.ts";
import type { AddHeaders, QueueHooks } from "../kernel/hooks.ts";
import type {
  Cancelled,
  DequeueOptions,
  Enqueued,
  EnqueueOptions,
  GetOptions,
  Heartbeat,
  HeartbeatOptions,
  NewTask,
  RequestOptions,
  Settled,
  Settlement,
  Worker,
} from "../kernel/options/types.ts";
import type { Batch } from "../kernel/lease/leased-task.ts";
import type { EventsOptions, PublishedEvent } from "../kernel/tasks/events.ts";
import type { ReadTask, TaskEvent } from "../kernel/tasks/watch.ts";
import type { Connection, ServerRequest } from "./connection.ts";
import { decoded, type DequeueRequest, lease } from "./dequeue-request.ts";
import { withFields } from "./fields.ts";
import { fieldsJson, splitOptions } from "./json.ts";
import { onDemand } from "./load.ts";
import { type ClientQueueOptions, MAX_PAYLOAD, taskJson } from "./new-task.ts";
import { readTask } from "./read-task.ts";
import { settlementsJson } from "./settlement-json.ts";
import type { DequeueReply, DequeuingQueue, Pull, QueueOverHttp, Refusal, TaskReply } from "./types.ts";

/** A declared queue may have others, which only the server uses. */
const OPTIONS = [...DEFAULT_OPTIONS, "maxBytes", "schema", "encryption", "onDeadLetter"] as const;

/** A queue behind the HTTP interface. An instance holds no state, and may be made for each request. */
export class ClientQueue<In = unknown, Out = In> implements QueueOverHttp<In, Out> {
  readonly name: string;
  /** As those of a `Queue`. */
  declare readonly hooks?: QueueHooks | undefined;
  readonly #connection: Connection;
  readonly #options: ClientQueueOptions<In, Out>;
  readonly #dequeuing: DequeuingQueue<Out>;

  /** @throws {SluiceError} `invalid_argument` */
  constructor(connection: Connection, queue: QueueOrName<In, Out>, given: ClientQueueOptions<In, Out>) {
    const { name, options } = nameAndOptions(queue, given);
    onlyOptions(given, OPTIONS);
    checkedSchema(options.schema);
    optionalFunction(options.onDeadLetter, "onDeadLetter");
    this.name = queueName(name);
    connection.hooks?.traceCalls(this, true);
    this.#connection = connection;
    this.#options = options;
    this.#dequeuing = {
      name,
      values: encrypted(plainValues(MAX_PAYLOAD), name, checkedEncryption(options.encryption)),
      defaults: options,
      onSettle: this.hooks?.onSettle,
      pull: (request) => this.#pull(request),
      settle: (settlements, own) => this.settle(settlements, own),
    };
  }

  /**
   * The same queue, which calls `onSend` before each copy of a request that it sends, and does not send it if that
   * throws. A drain with `requests` counts so.
   */
  counted(onSend: () => void): ClientQueue<In, Out> {
    return new ClientQueue(this.#connection.counted(onSend), { name: this.name, options: this.#options }, {});
  }

  /**
   * Adds one task.
   * @param payload anything that JSON can express, at most 1,000 levels deep, or a `Uint8Array`; at most 1
   *   MiB
   * @param options as for `Queue.enqueue`; durations in ms or as "30s"
   * @returns the task's id; `created` is false if the id was known before
   * @throws {SluiceError}
   */
  enqueue(payload: In, options?: EnqueueOptions & RequestOptions): Promise<Enqueued>;
  async enqueue(payload: In, options: EnqueueOptions & RequestOptions = {}, addHeaders?: AddHeaders) {
    const { request, fields } = splitOptions(options);
    const body = await taskJson(this.#dequeuing, this.#options, { ...fields, payload }, request);
    return this.request<Enqueued>("/tasks", request, { body, replyField: "id", addHeaders });
  }

  /**
   * Adds up to 1,000 tasks, of 9.5 MB in all. If it throws, it has added none of them, except that after
   * `unreachable` or `aborted` all of them may have been added.
   * @returns an id for each task, in their order
   * @throws {SluiceError} its `path` names the invalid task
   */
  enqueueMany(tasks: readonly NewTask<In>[], options?: RequestOptions): Promise<Enqueued[]>;
  async enqueueMany(tasks: readonly NewTask<In>[], options: RequestOptions = {}, addHeaders?: AddHeaders) {
    listOf(tasks, "tasks", MAX_BATCH);
    const { request, fields } = splitOptions(options);
    if (tasks.length === 0) return [];
    const items = await Promise.all(
      tasks.map((task, i) => taskJson(this.#dequeuing, this.#options, task, request, i)),
    );
    const body = withFields({ tasks: `[${items.join()}]` }, await fieldsJson(fields));
    const call = { body, replyField: "tasks", addHeaders };
    return (await this.request<{ tasks: Enqueued[] }>("/tasks", request, call)).tasks;
  }

  /**
   * Leases the next tasks. If the queue is empty, the server waits up to `wait` for tasks.
   *
   * If `signal` aborts, the call throws at once. Unless it has a `token` or an `idempotencyKey`, the client then asks
   * for what was leased, and hands it back unstarted: two more requests, within five seconds each.
   * @param options.max most tasks, 1 to 100. Default: 1
   * @returns the tasks, and when to dequeue again
   * @throws {SluiceError}
   */
  async dequeue(options: DequeueOptions = {}): Promise<Batch<Out>> {
    const exchange = async (request: DequeueRequest) => ({
      tasks: await decoded(this.#dequeuing, request, await this.#pull(request)),
    });
    return (await lease(this.#dequeuing, options, exchange)).tasks;
  }

  /**
   * Settles up to 1,000 tasks, in order. A receipt that is no longer current changes nothing and gets
   * `lease_lost`.
   * @returns a result for each settlement, in their order
   * @throws {SluiceError}
   */
  async settle(settlements: readonly Settlement[], options: RequestOptions = {}): Promise<Settled[]> {
    const { request, fields } = splitOptions(options);
    const items = await settlementsJson(this.#dequeuing.values, settlements);
    if (settlements.length === 0) return [];
    const body = withFields({ settlements: items }, await fieldsJson(fields));
    return (await this.#settle(settlements, request, body)).settled;
  }

  /**
   * Settles, then dequeues, in one atomic request. If `signal` aborts, what was leased is handed back as for
   * {@link dequeue}, and the caller does not learn whether the tasks were settled.
   * @returns a result for each settlement, and the tasks
   * @throws {SluiceError}
   */
  async settleAndDequeue(
    settlements: readonly Settlement[],
    options: DequeueOptions = {},
  ): Promise<{ settled: Settled[]; tasks: Batch<Out> }> {
    const items = await settlementsJson(this.#dequeuing.values, settlements);
    if (settlements.length === 0) return { settled: [], tasks: await this.dequeue(options) };
    const exchange = async (request: DequeueRequest) => {
      const body = () => withFields({ settlements: items, pull: request.body() }, "{}");
      const { settled, pull } = await this.#settle(settlements, request.options, body, request.wait);
      return { settled, tasks: await decoded(this.#dequeuing, request, pull) };
    };
    return lease(this.#dequeuing, options, exchange);
  }

  /**
   * Reads a task.
   * @param options.payload whether to return the payload; the token then needs the scope `admin`. Default: false
   * @returns the task; null if the id is unknown, or its record has expired
   * @throws {SluiceError}
   */
  async get(id: string, options: GetOptions = {}): Promise<TaskInfo | null> {
    const { request, fields } = splitOptions(options);
    const call = { query: fields, replyField: "state" };
    const found = await this.request<TaskReply, "not_found">(this.#task(id), request, call, ["not_found"]);
    return found === "not_found" ? null : readTask(this.#dequeuing.values, found, id);
  }

  /**
   * Waits for the end of a task. It reads the task repeatedly, with one request each time.
   * @returns the task when it has ended, or its current state when the time is over; null if the id is
   *   unknown
   * @throws {SluiceError}
   */
  async wait(id: string, options: WaitOptions = {}): Promise<TaskInfo | null> {
    const read = this.#readerOf(id);
    const { waitForEnd } = await onDemand();
    return waitForEnd(read, options);
  }

  /**
   * Reports the changes of a task, as `Queue.watch` does. It reads the task repeatedly, with one request each
   * time.
   * @throws {SluiceError} `invalid_argument`, at once; others from the iteration. Then watch again with
   *   `after`
   */
  watch(id: string, options: WatchOptions = {}): AsyncIterable<TaskEvent> {
    const [read, watch] = [this.#readerOf(id), checkedWatch(options)];
    return (async function* () {
      const { eventsOf } = await onDemand();
      yield* eventsOf(read, watch);
    })();
  }

  /**
   * Subscribes to the events of the queue's tasks, as `Queue.events` does. The token needs the scope `view`. When a
   * stream ends, as the server's do after five minutes, the client opens another one, for as long as that takes; then
   * the event `gap` says that events are missing.
   * @returns once the server has subscribed: the events until the signal aborts or the iteration ends
   * @throws {SluiceError} `unreachable` if the first stream cannot be opened; from the iteration, if the server refuses
   *   another one
   */
  async events(options: EventsOptions = {}): Promise<AsyncIterable<PublishedEvent>> {
    const { followEvents } = await onDemand();
    return followEvents(this.#connection, this.name, this.#dequeuing.values, options);
  }

  /**
   * Cancels a task. If a consumer works on it, that consumer learns of it at its next extend or settle.
   * @param options.lease the lease number that the task must have, as in the result of `get`
   * @throws {SluiceError}
   */
  async cancel(
    id: string,
    options: RequestOptions & { readonly lease?: number | undefined } = {},
  ): Promise<Cancelled> {
    const { request, fields } = splitOptions(options);
    const reply = await this.request<{ state: "rejected" | "working" }, Refusal<Cancelled>>(
      `${this.#task(id)}/cancel`,
      request,
      { body: await fieldsJson(fields), replyField: "state" },
      ["not_found", "already_ended", "lease_lost"],
    );
    return typeof reply === "string" ? { ok: false, code: reply } : { ok: true, state: reply.state };
  }

  /**
   * Counts the tasks of each state. The token needs the scope `admin`.
   * @throws {SluiceError}
   */
  async counts(options: RequestOptions = {}): Promise<QueueCounts> {
    return this.request<QueueCounts>("", options, { replyField: "pending" });
  }

  /**
   * Sends a worker's heartbeat. It registers the worker with the queue, and extends the leases of this
   * incarnation's tasks to `lease` from now. With `receipts` it extends only these leases. No deadline moves
   * to an earlier time.
   * @throws {SluiceError}
   */
  async heartbeat(worker: Worker, options: HeartbeatOptions = {}): Promise<Heartbeat> {
    const { request, fields } = splitOptions(options);
    const reply = await this.request<Omit<Heartbeat & { ok: true }, "ok">, Refusal<Heartbeat>>(
      "/workers/heartbeat",
      request,
      { body: await fieldsJson({ ...fields, worker }), replyField: "leases" },
      ["worker_lost"],
    );
    return reply === "worker_lost" ? { ok: false, code: reply } : { ok: true, ...reply };
  }

  async #pull(request: Pull): Promise<DequeueReply> {
    const call = { body: () => request.body(), wait: request.wait, replyField: "tasks" };
    return this.request<DequeueReply>("/tasks/pull", request.options, call);
  }

  /** Settles, and reports the dead letters. */
  async #settle(
    settlements: readonly Settlement[],
    options: RequestOptions,
    body: ServerRequest["body"],
    wait = 0,
  ) {
    type Reply = { readonly results: Settled[]; readonly pull: DequeueReply };
    const call = { body, wait, replyField: "results" };
    const { results: settled, pull } = await this.request<Reply>("/tasks/settle", options, call);
    const { onDeadLetter } = this.#options;
    if (onDeadLetter) {
      const { reportSettled } = await onDemand();
      reportSettled(onDeadLetter, this.name, settlements, settled);
    }
    return { settled, pull };
  }

  /** Sends a request on the queue, also for features. */
  protected request<Reply extends object, Refusal extends string = never>(
    path: string,
    options: RequestOptions,
    call: Omit<ServerRequest, "method" | "path" | "options"> & Partial<Pick<ServerRequest, "method">>,
    refusals?: readonly Refusal[],
  ): Promise<Reply | Refusal> {
    const method = call.body === undefined ? "GET" : "POST";
    const request = { method, ...call, path: `/v1/queues/${this.name}${path}`, options } as const;
    return this.#connection.request<Reply, Refusal>(request, refusals);
  }

  /** The path of a task, in that of its queue. */
  #task(id: string): string {
    return `/tasks/${encodeURIComponent(taskId(id))}`;
  }

  #readerOf(id: string): ReadTask {
    taskId(id);
    return (signal) => this.get(id, { signal });
  }
}
