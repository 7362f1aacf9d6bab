import { encodeValue } from "../queue/codec.ts";
import { milliseconds } from "../queue/duration.ts";
import { derivedName, newTaskId, newToken } from "../queue/identity.ts";
import { LeasedTask } from "../queue/leased-task.ts";
import { listOf, onlyOptions, queueName, requestKey, taskId } from "../queue/names.ts";
import type { Batch, Queue, QueueOptions } from "../queue/queue.ts";
import { checkedSchema, fit, fitting, misfitError } from "../queue/schema.ts";
import type {
  Cancelled,
  DequeueOptions,
  Duration,
  Enqueued,
  EnqueueOptions,
  Heartbeat,
  NewTask,
  QueueCounts,
  RequestOptions,
  Settled,
  Settlement,
  TaskDefaults,
  TaskInfo,
  Worker,
} from "../queue/types.ts";
import {
  waitForEnd,
  watchTask,
  type Look,
  type TaskEvent,
  type WaitOptions,
  type WatchOptions,
} from "../queue/watch.ts";
import { jsonOf, jsonWith, settlementJson, valueOf } from "./body.ts";
import type { Connection } from "./connection.ts";

export interface ClientQueueOptions<In = unknown, Out = In>
  extends TaskDefaults, Pick<QueueOptions<In, Out>, "maxBytes" | "schema"> {}

const OPTIONS = ["lease", "maxAttempts", "resultTtl", "deadTtl", "delay", "maxBytes", "schema"];

/** Most tasks of one enqueue, and most settlements of one settle. */
const MOST = 1_000;

/** How often one dequeue begins anew because all that it got did not fit the schema. */
const MOST_ROUNDS = 10;

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

interface Pulled {
  readonly tasks: readonly (Omit<ConstructorParameters<typeof LeasedTask>[1], "payload"> & {
    readonly payload?: unknown;
    readonly encoding?: string;
  })[];
  readonly nextDueAt: number | null;
  readonly paused: boolean;
}

/** A pull, of which several copies may be sent. */
interface Pull {
  readonly options: DequeueOptions & { readonly token: string };
  /** ms */
  readonly wait: number;
  readonly body: (left: number) => string;
}

/** A queue behind the HTTP interface. An instance holds no state and may be made per request. */
export class ClientQueue<In = unknown, Out = In> implements Pick<Queue<In, Out>, Shared> {
  readonly name: string;
  readonly #connection: Connection;
  readonly #path: string;
  readonly #options: ClientQueueOptions<In, Out>;

  /** @throws {SluiceError} `invalid_argument` */
  constructor(connection: Connection, name: string, options: ClientQueueOptions<In, Out>) {
    onlyOptions(options, OPTIONS);
    checkedSchema(options.schema);
    this.name = queueName(name);
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
    const body = await this.#task({ ...fields, payload }, request, "");
    return this.#post("/tasks", request, { body: () => body, has: "id" });
  }

  /**
   * Adds up to 1,000 tasks, of 10 MB of JSON in all: all of them, or none where it throws.
   * @throws {SluiceError} the path says which task is at fault
   */
  async enqueueMany(tasks: readonly NewTask<In>[], options: RequestOptions = {}): Promise<Enqueued[]> {
    listOf(tasks, "tasks", MOST);
    const { request, fields } = split(options);
    if (tasks.length === 0) return [];
    const items = await Promise.all(tasks.map((task, i) => this.#task(task, request, `tasks[${i}]`)));
    const body = () => jsonWith(fields, "options", "tasks", `j[${items.join()}]`);
    const reply = await this.#post<{ tasks: Enqueued[] }>("/tasks", request, { body, has: "tasks" });
    return reply.tasks;
  }

  /**
   * Leases the tasks that are next, at most `max`, 1 to 100. With `wait`, and no task there, the server waits for one.
   * @throws {SluiceError}
   */
  async dequeue(options: DequeueOptions = {}): Promise<Batch<Out>> {
    return this.#dequeue(await this.#pull(options), 0);
  }

  /**
   * Settles up to 1,000 tasks, in order. Each gets an answer of its own; a receipt that is no longer current changes
   * nothing and says `lease_lost`.
   * @throws {SluiceError}
   */
  async settle(settlements: readonly Settlement[], options: RequestOptions = {}): Promise<Settled[]> {
    const { request, fields } = split(options);
    const items = settlementsJson(settlements);
    if (settlements.length === 0) return [];
    const body = () => jsonWith(fields, "options", "settlements", items);
    return (await this.#settle(request, body)).results;
  }

  /**
   * Settles, then dequeues, in one request. The two are not atomic together; each is safe to resend.
   * @throws {SluiceError}
   */
  async settleAndDequeue(
    settlements: readonly Settlement[],
    options: DequeueOptions = {},
  ): Promise<{ settled: Settled[]; tasks: Batch<Out> }> {
    const items = settlementsJson(settlements);
    if (settlements.length === 0) return { settled: [], tasks: await this.dequeue(options) };
    const pull = await this.#pull(options);
    const body = (left: number) => `{"settlements":${items.slice(1)},"pull":${pull.body(left)}}`;
    const { results, pull: pulled } = await this.#settle(pull.options, body, pull.wait);
    return { settled: results, tasks: await this.#batch(pulled, pull, 0) };
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
    return {
      ...task,
      ...(encoding !== undefined && { result: valueOf(task.result, encoding) }),
      ...(errorEncoding !== undefined && { error: valueOf(task.error, errorEncoding) }),
    };
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
   * incarnation has to `lease` from now, never to an earlier one.
   * @param options.lease by default what each task's lease was at its dequeue
   * @throws {SluiceError}
   */
  async heartbeat(
    worker: Worker,
    options: RequestOptions & { readonly lease?: Duration | undefined } = {},
  ): Promise<Heartbeat> {
    const { request, fields } = split(options);
    const body = () => jsonOf({ ...fields, worker }, "options");
    const path = `${this.#path}/workers/heartbeat`;
    const told = await this.#connection.request<Omit<Heartbeat & { ok: true }, "ok">, "worker_lost">(
      { method: "POST", path, body, has: "leases", options: request },
      ["worker_lost"],
    );
    return told === "worker_lost" ? { ok: false, code: told } : { ok: true, ...told };
  }

  /** One task as a body has it, with what this queue fixes for all of them. */
  async #task(task: NewTask<In>, options: RequestOptions, at: string): Promise<string> {
    onlyOptions(task, Object.keys(task ?? {}), at);
    const { payload, ...given } = task;
    const path = at === "" ? "payload" : `${at}.payload`;
    const { schema, lease, maxAttempts, resultTtl, deadTtl, delay } = this.#options;
    const fields = {
      ...given,
      // One made here rises with time; from a key the server derives it, for whoever calls again with that key.
      id: given.id ?? (given.again || options.idempotencyKey !== undefined ? undefined : newTaskId()),
      lease: given.lease ?? lease,
      maxAttempts: given.maxAttempts ?? maxAttempts,
      resultTtl: given.resultTtl ?? resultTtl,
      deadTtl: given.deadTtl ?? deadTtl,
      delay: given.delay ?? (given.at === undefined ? delay : undefined),
    };
    return jsonWith(
      fields,
      at || "options",
      "payload",
      encodeValue(await fitting(schema, payload, path), path),
    );
  }

  async #pull(options: DequeueOptions): Promise<Pull> {
    const { request, fields } = split(options);
    const { wait: _, ...pull } = fields;
    const wait = milliseconds(options.wait ?? 0, "wait");
    const key = requestKey(request);
    // Made here, so that every copy has it whatever stands between; by the key as the server would.
    const token =
      pull.token ?? (key === undefined ? newToken() : await derivedName("dequeue", this.name, key));
    const whole = {
      ...pull,
      token,
      lease: pull.lease ?? this.#options.lease,
      maxBytes: pull.maxBytes ?? this.#options.maxBytes,
    };
    const body = (left: number) => jsonOf(left > 0 ? { ...whole, wait: left } : whole, "options");
    return { options: { ...options, token }, wait, body };
  }

  async #dequeue(pull: Pull, round: number): Promise<Batch<Out>> {
    const { options, body, wait } = pull;
    const pulled = await this.#post<Pulled>("/tasks/pull", options, { body, wait, has: "tasks" });
    return this.#batch(pulled, pull, round);
  }

  /** The tasks, without those that do not fit the schema: they become dead letters. */
  async #batch(pulled: Pulled, { options }: Pull, round: number): Promise<Batch<Out>> {
    const leased: LeasedTask<Out>[] = [];
    const misfits: Settlement[] = [];
    for (const { encoding, ...task } of pulled.tasks) {
      const { id, receipt, attempt, enqueuedAt, deadlineAt, headers, group } = task;
      const fitted = await fit(this.#options.schema, valueOf(task.payload, encoding));
      if ("misfits" in fitted) {
        misfits.push({ receipt, outcome: "reject", error: misfitError(fitted.misfits) });
      } else {
        const { payload } = fitted;
        const parts = { id, receipt, payload, attempt, enqueuedAt, deadlineAt, headers, group };
        leased.push(new LeasedTask<Out>(this, parts));
      }
    }
    // Where this fails their leases expire, and they are met again.
    if (misfits.length > 0) await this.settle(misfits).catch(() => {});
    if (leased.length === 0 && misfits.length > 0 && round < MOST_ROUNDS) {
      const token = await derivedName("again", this.name, options.token);
      return this.#dequeue(await this.#pull({ ...options, token }), round + 1);
    }
    return Object.assign(leased, { nextDueAt: pulled.nextDueAt, paused: pulled.paused });
  }

  async #settle(options: RequestOptions, body: (left: number) => string, wait = 0) {
    type Reply = { readonly results: Settled[]; readonly pull: Pulled };
    return this.#post<Reply>("/tasks/settle", options, { body, wait, has: "results" });
  }

  async #post<Reply extends object>(
    path: string,
    options: RequestOptions,
    call: { readonly body: (left: number) => string; readonly has: string; readonly wait?: number },
  ): Promise<Reply> {
    return this.#connection.request<Reply>({ method: "POST", path: this.#path + path, options, ...call });
  }

  #pathOf(id: string): string {
    return `${this.#path}/tasks/${encodeURIComponent(taskId(id))}`;
  }

  #lookAt(id: string): Look {
    taskId(id);
    return (signal) => this.get(id, { signal });
  }
}

type CancelRefusal = Exclude<Cancelled, { ok: true }>["code"];

/** The options of the request, and those that go into its body. */
function split<Options extends RequestOptions>(options: Options) {
  onlyOptions(options, Object.keys(options ?? {}));
  const { signal, idempotencyKey, ...fields } = options;
  return { request: { signal, idempotencyKey }, fields };
}

function settlementsJson(settlements: readonly Settlement[]): string {
  listOf(settlements, "settlements", MOST);
  return `j[${settlements.map((settlement, i) => settlementJson(settlement, `settlements[${i}]`)).join()}]`;
}
