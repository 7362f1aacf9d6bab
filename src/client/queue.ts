import { pick } from "../pick.ts";
import { reportSettled } from "../queue/core/dead-letter.ts";
import { MAX_BATCH } from "../queue/core/limits.ts";
import {
  listOf,
  onlyOptions,
  optionalFunction,
  queueName,
  REQUEST_OPTIONS,
  taskId,
  trueOrFalse,
} from "../queue/core/validation.ts";
import { nameAndOptions, type QueueOrName } from "../queue/tasks/definition.ts";
import type { Queue } from "../queue/tasks/queue.ts";
import { LeasingRequests } from "../queue/tasks/leasing-requests.ts";
import { DEFAULT_OPTIONS } from "../queue/tasks/task-options.ts";
import type { Batch } from "../queue/tasks/leased-task.ts";
import { checkedSchema } from "../queue/tasks/schema.ts";
import { checkedEncryption, decryptTask, type ValuesQueue } from "../queue/values/encryption.ts";
import type { QueueCounts } from "../queue/core/counts.ts";
import type { Tracing } from "../queue/core/tracing.ts";
import type { TaskInfo } from "../queue/core/task-info.ts";
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
} from "../queue/core/types.ts";
import {
  waitForEnd,
  watchTask,
  type ReadTask,
  type TaskEvent,
  type WaitOptions,
  type WatchOptions,
} from "../queue/tasks/watch.ts";
import { jsonOf, jsonWith, settlementJson, splitOptions } from "./body.ts";
import { readTask, type TaskReply } from "./read-task.ts";
import type { Connection, ServerRequest } from "./connection.ts";
import { MAX_PAYLOAD, taskJson, type ClientQueueOptions } from "./new-task.ts";
import { DequeueRequest, type DequeueReply } from "./dequeue.ts";
import { traceDequeue, traceEnqueue, traceSettle } from "./traced.ts";

/** A declared queue may have others, which only the server uses. */
const OPTIONS = [...DEFAULT_OPTIONS, "maxBytes", "schema", "encryption", "onDeadLetter"] as const;

/** The methods that work as those of a {@link Queue}: with the same arguments and results. */
type SharedMethods =
  | "name"
  | "enqueue"
  | "enqueueMany"
  | "dequeue"
  | "settle"
  | "settleAndDequeue"
  | "get"
  | "wait"
  | "watch"
  | "cancel"
  | "counts"
  | "heartbeat";

/** A queue behind the HTTP interface. An instance holds no state, and may be made for each request. */
export class ClientQueue<In = unknown, Out = In> implements Pick<Queue<In, Out>, SharedMethods> {
  readonly name: string;
  /** The option `tracing` of the client. A drain of the queue uses it too. */
  readonly tracing: Tracing | undefined;
  readonly #connection: Connection;
  readonly #path: string;
  readonly #options: ClientQueueOptions<In, Out>;
  readonly #values: ValuesQueue;

  /** @throws {SluiceError} `invalid_argument` */
  constructor(connection: Connection, queue: QueueOrName<In, Out>, given: ClientQueueOptions<In, Out>) {
    const { name, options } = nameAndOptions(queue, given);
    onlyOptions(given, OPTIONS);
    checkedSchema(options.schema);
    optionalFunction(options.onDeadLetter, "onDeadLetter");
    this.name = queueName(name);
    this.tracing = connection.tracing;
    this.#values = { name, encryption: checkedEncryption(options.encryption), maxPayload: MAX_PAYLOAD };
    this.#connection = connection;
    this.#path = `/v1/queues/${name}`;
    this.#options = options;
  }

  /**
   * The same queue, which calls `onSend` before each copy of a request that it sends, and does not send it if that
   * throws. A drain with `requests` counts so.
   */
  counted(onSend: () => void): ClientQueue<In, Out> {
    return new ClientQueue(this.#connection.counted(onSend), this.name, pick(this.#options, OPTIONS));
  }

  /**
   * Adds one task.
   * @param payload anything that JSON can express, at most 1,000 levels deep, or a `Uint8Array`; at most 1
   *   MiB
   * @param options as for `Queue.enqueue`; durations in ms or as "30s"
   * @returns the task's id; `created` is false if the id was known before
   * @throws {SluiceError}
   */
  async enqueue(payload: In, options: EnqueueOptions & RequestOptions = {}): Promise<Enqueued> {
    return traceEnqueue(this, { tasks: [options], many: false }, async (addTraceHeaders) => {
      const { request, fields } = splitOptions(options);
      const body = await taskJson(this.#values, this.#options, { ...fields, payload }, request);
      return this.#post("/tasks", request, { body: () => body, replyField: "id", addTraceHeaders });
    });
  }

  /**
   * Adds up to 1,000 tasks, of 9.5 MB in all. If it throws, it has added none of them, except that after
   * `unreachable` or `aborted` all of them may have been added.
   * @returns an id for each task, in their order
   * @throws {SluiceError} its `path` names the invalid task
   */
  async enqueueMany(tasks: readonly NewTask<In>[], options: RequestOptions = {}): Promise<Enqueued[]> {
    listOf(tasks, "tasks", MAX_BATCH);
    const { request, fields } = splitOptions(options);
    if (tasks.length === 0) return [];
    const items = await Promise.all(
      tasks.map((task, i) => taskJson(this.#values, this.#options, task, request, i)),
    );
    const body = () => jsonWith(fields, "options", "tasks", `j[${items.join()}]`);
    return traceEnqueue(this, { tasks, many: true }, async (addTraceHeaders) => {
      const call = { body, replyField: "tasks", addTraceHeaders };
      return (await this.#post<{ tasks: Enqueued[] }>("/tasks", request, call)).tasks;
    });
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
    return traceDequeue(this, () => this.#dequeue(options));
  }

  async #dequeue(options: DequeueOptions): Promise<Batch<Out>> {
    const requests = this.#leasingRequests(options);
    const run = async () => {
      const request = await this.#dequeueRequest(requests);
      return request.decode(await request.send(() => this.#pull(request)));
    };
    return requests.run(run, (tasks) => tasks);
  }

  /**
   * Settles up to 1,000 tasks, in order. A receipt that is no longer current changes nothing and gets
   * `lease_lost`.
   * @returns a result for each settlement, in their order
   * @throws {SluiceError}
   */
  async settle(settlements: readonly Settlement[], options: RequestOptions = {}): Promise<Settled[]> {
    const { request, fields } = splitOptions(options);
    const items = await this.#settlements(settlements);
    if (settlements.length === 0) return [];
    const body = () => jsonWith(fields, "options", "settlements", items);
    return traceSettle(this, settlements, async () => {
      return this.#reported(settlements, (await this.#settle(request, body)).results);
    });
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
    const items = await this.#settlements(settlements);
    if (settlements.length === 0) return { settled: [], tasks: await this.dequeue(options) };
    const requests = this.#leasingRequests(options);
    const request = await this.#dequeueRequest(requests);
    const body = () => `{"settlements":${items.slice(1)},"pull":${request.body()}}`;
    const send = () => this.#settle(request.options, body, request.wait);
    const exchange = async () => {
      const { results, pull } = await request.send(send);
      return { settled: this.#reported(settlements, results), tasks: await request.decode(pull) };
    };
    const run = () => requests.run(exchange, ({ tasks }) => tasks);
    return this.tracing ? this.tracing.exchange(this.name, settlements, run) : run();
  }

  /**
   * Reads a task.
   * @param options.payload whether to return the payload; the token then needs the scope `admin`. Default: false
   * @returns the task; null if the id is unknown, or its record has expired
   * @throws {SluiceError}
   */
  async get(id: string, options: GetOptions = {}): Promise<TaskInfo | null> {
    onlyOptions(options, ["payload", ...REQUEST_OPTIONS]);
    const { payload = false, ...request } = options;
    const path = `${this.#pathOf(id)}${trueOrFalse(payload, "payload") ? "?payload=true" : ""}`;
    const found = await this.#connection.request<TaskReply, "not_found">(
      { method: "GET", path, replyField: "state", options: request },
      ["not_found"],
    );
    if (found === "not_found") return null;
    return decryptTask(this.#values, readTask(found), id);
  }

  /**
   * Waits for the end of a task. It reads the task repeatedly, with one request each time.
   * @returns the task when it has ended, or its current state when the time is over; null if the id is
   *   unknown
   * @throws {SluiceError}
   */
  async wait(id: string, options: WaitOptions = {}): Promise<TaskInfo | null> {
    return waitForEnd(this.#readerOf(id), options);
  }

  /**
   * Reports the changes of a task, as `Queue.watch` does. It reads the task repeatedly, with one request each
   * time.
   * @throws {SluiceError} `invalid_argument`, at once; others from the iteration. Then watch again with
   *   `after`
   */
  watch(id: string, options: WatchOptions = {}): AsyncIterable<TaskEvent> {
    return watchTask(this.#readerOf(id), options);
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
    const path = `${this.#pathOf(id)}/cancel`;
    const reply = await this.#connection.request<{ state: "rejected" | "working" }, CancelRefusal>(
      { method: "POST", path, body: () => jsonOf(fields, "options"), replyField: "state", options: request },
      ["not_found", "already_ended", "lease_lost"],
    );
    return typeof reply === "string" ? { ok: false, code: reply } : { ok: true, state: reply.state };
  }

  /**
   * Counts the tasks of each state. The token needs the scope `admin`.
   * @throws {SluiceError}
   */
  async counts(options: RequestOptions = {}): Promise<QueueCounts> {
    return this.#connection.request<QueueCounts>({
      method: "GET",
      path: this.#path,
      replyField: "pending",
      options,
    });
  }

  /**
   * Sends a worker's heartbeat. It registers the worker with the queue, and extends the leases of this
   * incarnation's tasks to `lease` from now. With `receipts` it extends only these leases. No deadline moves
   * to an earlier time.
   * @throws {SluiceError}
   */
  async heartbeat(worker: Worker, options: HeartbeatOptions = {}): Promise<Heartbeat> {
    const { request, fields } = splitOptions(options);
    const body = () => jsonOf({ ...fields, worker }, "options");
    const path = `${this.#path}/workers/heartbeat`;
    const reply = await this.#connection.request<Omit<Heartbeat & { ok: true }, "ok">, "worker_lost">(
      { method: "POST", path, body, replyField: "leases", options: request },
      ["worker_lost"],
    );
    return reply === "worker_lost" ? { ok: false, code: reply } : { ok: true, ...reply };
  }

  /** Reports the dead letters among settlements. */
  #reported(settlements: readonly Settlement[], settled: Settled[]): Settled[] {
    reportSettled(this.#options.onDeadLetter, this.name, settlements, settled);
    return settled;
  }

  async #settlements(settlements: readonly Settlement[]): Promise<string> {
    listOf(settlements, "settlements", MAX_BATCH);
    const items = settlements.map((one, i) => settlementJson(this.#values, one, `settlements[${i}]`));
    return `j[${(await Promise.all(items)).join()}]`;
  }

  /** @throws {SluiceError} `invalid_argument` */
  #leasingRequests(options: DequeueOptions): LeasingRequests {
    return new LeasingRequests(options, (settlements, own) => this.settle(settlements, own));
  }

  async #dequeueRequest(requests: LeasingRequests): Promise<DequeueRequest<Out>> {
    return DequeueRequest.of(
      {
        name: this.name,
        values: this.#values,
        defaults: this.#options,
        pull: (request) => this.#pull(request),
        settle: (settlements) => this.settle(settlements),
        tracing: this.tracing,
      },
      requests,
    );
  }

  async #pull(request: DequeueRequest<Out>): Promise<DequeueReply> {
    const body = () => request.body();
    return this.#post("/tasks/pull", request.options, { body, wait: request.wait, replyField: "tasks" });
  }

  async #settle(options: RequestOptions, body: () => string, wait = 0) {
    type Reply = { readonly results: Settled[]; readonly pull: DequeueReply };
    return this.#post<Reply>("/tasks/settle", options, { body, wait, replyField: "results" });
  }

  async #post<Reply extends object>(
    path: string,
    options: RequestOptions,
    call: Pick<ServerRequest, "body" | "replyField" | "wait" | "addTraceHeaders">,
  ): Promise<Reply> {
    return this.#connection.request<Reply>({ method: "POST", path: this.#path + path, options, ...call });
  }

  #pathOf(id: string): string {
    return `${this.#path}/tasks/${encodeURIComponent(taskId(id))}`;
  }

  #readerOf(id: string): ReadTask {
    taskId(id);
    return (signal) => this.get(id, { signal });
  }
}

type CancelRefusal = Exclude<Cancelled, { ok: true }>["code"];
