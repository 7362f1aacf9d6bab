import { listOf, onlyOptions, queueName, taskId } from "../queue/core/validation.ts";
import type { Queue } from "../queue/tasks/queue.ts";
import type { Batch } from "../queue/tasks/leased-task.ts";
import { checkedSchema } from "../queue/tasks/schema.ts";
import { checkedEncryption, decryptTask, type ValuesQueue } from "../queue/values/encryption.ts";
import type { QueueCounts } from "../queue/core/counts.ts";
import type {
  Cancelled,
  DequeueOptions,
  Enqueued,
  EnqueueOptions,
  Heartbeat,
  HeartbeatOptions,
  NewTask,
  RequestOptions,
  Settled,
  Settlement,
  TaskInfo,
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
import { jsonOf, jsonWith, settlementJson, split, valueOf } from "./body.ts";
import type { Connection } from "./connection.ts";
import { taskJson, type ClientQueueOptions } from "./new-task.ts";
import { Pull, type Pulled } from "./dequeue.ts";

const DEFAULTS = ["lease", "maxAttempts", "resultTtl", "deadTtl", "delay"];
const OPTIONS = [...DEFAULTS, "maxBytes", "schema", "encryption"];

/** Most tasks of one enqueue, and most settlements of one settle. */
const MOST = 1_000;

/** What a client's queue does as a {@link Queue} does it: the same arguments, the same answers. */
type Shared =
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

/** A queue behind the HTTP interface. An instance holds no state and may be made per request. */
export class ClientQueue<In = unknown, Out = In> implements Pick<Queue<In, Out>, Shared> {
  readonly name: string;
  readonly #connection: Connection;
  readonly #path: string;
  readonly #options: ClientQueueOptions<In, Out>;
  readonly #values: ValuesQueue;

  /** @throws {SluiceError} `invalid_argument` */
  constructor(connection: Connection, name: string, options: ClientQueueOptions<In, Out>) {
    onlyOptions(options, OPTIONS);
    checkedSchema(options.schema);
    this.name = queueName(name);
    this.#values = { name, encryption: checkedEncryption(options.encryption) };
    this.#connection = connection;
    this.#path = `/v1/queues/${name}`;
    this.#options = options;
  }

  /**
   * Adds one task.
   * @param payload anything that JSON can express, at most 1,000 levels deep, or a `Uint8Array`; at most 1 MiB
   * @returns the task's id; `created` is false where the id was known already
   * @throws {SluiceError}
   */
  async enqueue(payload: In, options: EnqueueOptions & RequestOptions = {}): Promise<Enqueued> {
    const { request, fields } = split(options);
    const body = await taskJson(this.#values, this.#options, { ...fields, payload }, request);
    return this.#post("/tasks", request, { body: () => body, has: "id" });
  }

  /**
   * Adds up to 1,000 tasks, of 9.5 MB in all: all of them, or none where it is refused. Where it throws
   * `unreachable` or `aborted`, all of them may be there.
   * @throws {SluiceError} the path says which task is at fault
   */
  async enqueueMany(tasks: readonly NewTask<In>[], options: RequestOptions = {}): Promise<Enqueued[]> {
    listOf(tasks, "tasks", MOST);
    const { request, fields } = split(options);
    if (tasks.length === 0) return [];
    const items = await Promise.all(
      tasks.map((task, i) => taskJson(this.#values, this.#options, task, request, i)),
    );
    const body = () => jsonWith(fields, "options", "tasks", `j[${items.join()}]`);
    const reply = await this.#post<{ tasks: Enqueued[] }>("/tasks", request, { body, has: "tasks" });
    return reply.tasks;
  }

  /**
   * Leases the tasks that are next, at most `max`, 1 to 100. With `wait`, and no task there, the server waits for one.
   * @throws {SluiceError}
   */
  async dequeue(options: DequeueOptions = {}): Promise<Batch<Out>> {
    const pull = await this.#pull(options);
    return pull.answer(await this.#pulled(pull));
  }

  /**
   * Settles up to 1,000 tasks, in order. Each gets an answer of its own; a receipt that is no longer current changes
   * nothing and says `lease_lost`.
   * @throws {SluiceError}
   */
  async settle(settlements: readonly Settlement[], options: RequestOptions = {}): Promise<Settled[]> {
    const { request, fields } = split(options);
    const items = await this.#settlements(settlements);
    if (settlements.length === 0) return [];
    const body = () => jsonWith(fields, "options", "settlements", items);
    return (await this.#settle(request, body)).results;
  }

  /**
   * Settles, then dequeues, in one request, which is atomic and safe to resend.
   * @throws {SluiceError}
   */
  async settleAndDequeue(
    settlements: readonly Settlement[],
    options: DequeueOptions = {},
  ): Promise<{ settled: Settled[]; tasks: Batch<Out> }> {
    const items = await this.#settlements(settlements);
    if (settlements.length === 0) return { settled: [], tasks: await this.dequeue(options) };
    const pull = await this.#pull(options);
    const body = () => `{"settlements":${items.slice(1)},"pull":${pull.body()}}`;
    const { results, pull: pulled } = await this.#settle(pull.options, body, pull.wait);
    return { settled: results, tasks: await pull.answer(pulled) };
  }

  /**
   * What is known of a task, or null where nothing is (any more).
   * @throws {SluiceError}
   */
  async get(id: string, options: RequestOptions = {}): Promise<TaskInfo | null> {
    const found = await this.#connection.request<
      TaskInfo & { encoding?: string; errorEncoding?: string },
      "not_found"
    >({ method: "GET", path: this.#pathOf(id), has: "state", options }, ["not_found"]);
    if (found === "not_found") return null;
    const { encoding, errorEncoding, ...task } = found;
    const told = {
      ...task,
      ...(encoding !== undefined && { result: valueOf(task.result, encoding) }),
      ...(errorEncoding !== undefined && { error: valueOf(task.error, errorEncoding) }),
    };
    return decryptTask(this.#values, told, id);
  }

  /**
   * Waits for the end of a task by looking at it again and again, each look a request.
   * @returns the task when it has ended, or as it stands when the time is over; null where none is known
   * @throws {SluiceError}
   */
  async wait(id: string, options: WaitOptions = {}): Promise<TaskInfo | null> {
    return waitForEnd(this.#lookAt(id), options);
  }

  /**
   * Tells what becomes of a task, as `Queue.watch` does, by looking at it again and again, each look a request.
   * @throws {SluiceError} `invalid_argument`, at once; others from the iteration: begin again with `after`
   */
  watch(id: string, options: WatchOptions = {}): AsyncIterable<TaskEvent> {
    return watchTask(this.#lookAt(id), options);
  }

  /**
   * Cancels a task: at once where nobody works on it; otherwise its holder learns of it at the next extend or settle.
   * @param options.lease the lease number the task must have, as `get` shows it
   * @throws {SluiceError}
   */
  async cancel(
    id: string,
    options: RequestOptions & { readonly lease?: number | undefined } = {},
  ): Promise<Cancelled> {
    const { request, fields } = split(options);
    const path = `${this.#pathOf(id)}/cancel`;
    const told = await this.#connection.request<{ state: "rejected" | "working" }, CancelRefusal>(
      { method: "POST", path, body: () => jsonOf(fields, "options"), has: "state", options: request },
      ["not_found", "already_ended", "lease_lost"],
    );
    return typeof told === "string" ? { ok: false, code: told } : { ok: true, state: told.state };
  }

  /**
   * How many tasks are where. The token needs the scope `admin`.
   * @throws {SluiceError}
   */
  async counts(options: RequestOptions = {}): Promise<QueueCounts> {
    return this.#connection.request<QueueCounts>({
      method: "GET",
      path: this.#path,
      has: "pending",
      options,
    });
  }

  /**
   * A worker's sign of life: makes it a listener of the queue, and moves the deadline of every task that this
   * incarnation has, or of those whose receipts it tells, to `lease` from now, never to an earlier one.
   * @throws {SluiceError}
   */
  async heartbeat(worker: Worker, options: HeartbeatOptions = {}): Promise<Heartbeat> {
    const { request, fields } = split(options);
    const body = () => jsonOf({ ...fields, worker }, "options");
    const path = `${this.#path}/workers/heartbeat`;
    const told = await this.#connection.request<Omit<Heartbeat & { ok: true }, "ok">, "worker_lost">(
      { method: "POST", path, body, has: "leases", options: request },
      ["worker_lost"],
    );
    return told === "worker_lost" ? { ok: false, code: told } : { ok: true, ...told };
  }

  async #settlements(settlements: readonly Settlement[]): Promise<string> {
    listOf(settlements, "settlements", MOST);
    const items = settlements.map((one, i) => settlementJson(this.#values, one, `settlements[${i}]`));
    return `j[${(await Promise.all(items)).join()}]`;
  }

  async #pull(options: DequeueOptions): Promise<Pull<Out>> {
    return Pull.of(
      {
        name: this.name,
        values: this.#values,
        fixed: this.#options,
        pull: (pull) => this.#pulled(pull),
        settle: (settlements) => this.settle(settlements),
      },
      options,
    );
  }

  async #pulled(pull: Pull<Out>): Promise<Pulled> {
    const body = () => pull.body();
    return this.#post("/tasks/pull", pull.options, { body, wait: pull.wait, has: "tasks" });
  }

  async #settle(options: RequestOptions, body: () => string, wait = 0) {
    type Reply = { readonly results: Settled[]; readonly pull: Pulled };
    return this.#post<Reply>("/tasks/settle", options, { body, wait, has: "results" });
  }

  async #post<Reply extends object>(
    path: string,
    options: RequestOptions,
    call: { readonly body: () => string; readonly has: string; readonly wait?: number },
  ): Promise<Reply> {
    return this.#connection.request<Reply>({ method: "POST", path: this.#path + path, options, ...call });
  }

  #pathOf(id: string): string {
    return `${this.#path}/tasks/${encodeURIComponent(taskId(id))}`;
  }

  #lookAt(id: string): ReadTask {
    taskId(id);
    return (signal) => this.get(id, { signal });
  }
}

type CancelRefusal = Exclude<Cancelled, { ok: true }>["code"];
