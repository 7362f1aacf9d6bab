import type { QueueCounts } from "./tasks/counts.ts";
import { derivedName } from "./names/derived-ids.ts";
import { newToken } from "./names/ids.ts";
import { MAX_BATCH, MAX_REQUEST_BYTES } from "./options/limits.ts";
import { byteLengths } from "./record/byte-length.ts";
import { all } from "./maybe-promise.ts";
import type { TaskInfo } from "./record/task-info.ts";
import type {
  DequeueOptions,
  Heartbeat,
  HeartbeatOptions,
  RequestOptions,
  Settled,
  Settlement,
  Worker,
} from "./options/types.ts";
import { listOf, onlyOptions, REQUEST_OPTIONS, requestKey, taskId } from "./options/validation.ts";
import type { QueueHooks } from "./hooks.ts";
import type { EventsOptions, PublishedEvent } from "./tasks/events.ts";
import type { Batch } from "./lease/leased-task.ts";
import { LeasingRequests } from "./lease/leasing-requests.ts";
import { sealedArguments } from "./lease/settlements.ts";
import type { ReadTask, TaskEvent } from "./tasks/watch.ts";
import { checkedWatch, type WaitOptions, type WatchOptions } from "./tasks/watch-options.ts";
import { SluiceError } from "../errors.ts";
import { waitFor } from "./unless-aborted.ts";
import { Delivery } from "./lease/delivery.ts";
import { Producer, type ProducerParts } from "./producer.ts";
import type { SettlementArguments, SettleBatch, Store } from "./store.ts";

/** What a queue is made of. */
export interface QueueParts<In, Out> extends ProducerParts<In, Out> {
  readonly store: Store;
  /** The lease of a task that has none of its own, ms. */
  readonly lease: number;
  /** Most bytes of payloads in one dequeue. */
  readonly maxBytes: number;
}

/** Adds tasks to a queue, delivers them and settles them. */
export class Queue<In = unknown, Out = In> extends Producer<In, Out> {
  /** What a layer around its calls does beside them. A drain uses it too. @default nothing */
  declare readonly hooks?: QueueHooks | undefined;
  declare protected readonly store: Store;
  readonly #lease: number;
  readonly #maxBytes: number;

  /** @throws {SluiceError} `invalid_argument` */
  constructor(parts: QueueParts<In, Out>) {
    super(parts);
    this.#lease = parts.lease;
    this.#maxBytes = parts.maxBytes;
  }

  /**
   * Leases the next tasks, at most `max`, in one request. If too few are pending, it first promotes due tasks
   * and reclaims expired leases. If it finds only entries that it cannot deliver, such as cancelled tasks, it
   * continues after them with further requests: at most 50, each for about 200 entries.
   *
   * With `wait`, if no task is there, it checks the queue until there is one: about two requests a second,
   * each of one Redis command (every two seconds one of them has two), and a full dequeue every ten seconds.
   * After an empty dequeue it waits at least a quarter of a second, to take several due tasks together.
   *
   * Calls of the same turn for one task each share a request if their options are equal, without `wait`,
   * `token` and `idempotencyKey`: see {@link ProducerOptions.coalesce}.
   *
   * If `signal` aborts, the call throws at once. A request that may lease tasks and was sent goes on, for at most
   * five seconds: what it has leased is handed back unstarted, without charging the attempts. If its reply is lost,
   * the leases expire. With a `token` or an `idempotencyKey` nothing is handed back: the same dequeue, sent again,
   * returns the tasks.
   * @param options by default one task, and no wait
   * @returns the tasks, which may be none, and when to dequeue again
   * @throws {SluiceError} `invalid_argument`, `aborted` if the signal aborts, or a fault of the transport
   * @example
   * for (const task of await emails.dequeue({ max: 10, wait: "20s" })) {
   *   await send(task.payload);
   *   await task.complete();
   * }
   */
  async dequeue(options: DequeueOptions = {}): Promise<Batch<Out>> {
    const requests = this.#leasingRequests(options);
    return requests.run(
      async () => (await this.#delivery(requests)).run(),
      (tasks) => tasks,
    );
  }

  /**
   * Settles up to 1,000 tasks in one request, in order. Each settlement has its own result: a receipt that is
   * no longer current changes nothing and returns `lease_lost`. Calls of the same turn with one settlement
   * each share a request: see {@link ProducerOptions.coalesce}.
   * @param settlements receipts, each with its outcome
   * @returns one result for each settlement, in order
   * @throws {SluiceError} `invalid_argument`, `too_large`, `newer_schema`, or a fault of the transport
   * @example
   * await emails.settle([
   *   { receipt: sent.receipt, outcome: "complete", result: { ok: true } },
   *   { receipt: failed.receipt, outcome: "requeue", delay: "30s" },
   * ]);
   */
  async settle(settlements: readonly Settlement[], options: RequestOptions = {}): Promise<Settled[]> {
    onlyOptions(options, REQUEST_OPTIONS);
    const key = requestKey(options);
    listOf(settlements, "settlements", MAX_BATCH);
    if (settlements.length === 0) return [];
    const mayShare = settlements.length === 1 && key === undefined;
    const batch = await this.#batch(settlements, key, options.signal, mayShare);
    const { settled, after } = await this.store.settle(batch);
    if (after.length > 0) await waitFor(after, options.signal);
    return settled;
  }

  /** @throws {SluiceError} `invalid_argument`, `too_large` */
  async #batch(
    settlements: readonly Settlement[],
    key: string | undefined,
    signal: AbortSignal | undefined,
    mayShare: boolean,
  ): Promise<SettleBatch> {
    const sealed = all(settlements, (settlement, i) =>
      sealedArguments(this.values, settlement, `settlements[${i}]`),
    );
    const items = mayShare ? sealed : refusedIfTooLarge(await sealed);
    const hasProgress = settlements.some((one) => (one as { progress?: unknown }).progress !== undefined);
    const token = !hasProgress
      ? ""
      : key === undefined
        ? newToken()
        : await derivedName("settle", this.name, key);
    return { settlements, items, token, mayShare, signal };
  }

  /**
   * Settles, then dequeues, in one atomic request, which no other call shares. More than 240
   * settlements, and those that pause the queue, have a request of their own. If no task is there and `wait` is set, it waits as {@link dequeue} does. Without
   * settlements it is a plain dequeue. If `signal` aborts, what was
   * leased is handed back as for {@link dequeue}, and the caller does not learn whether the tasks were settled: the
   * message says only whether a request was sent. Settling them again is safe: a copy gets the same results.
   * @returns the results of {@link settle}, and the tasks of {@link dequeue}
   * @throws {SluiceError} as {@link settle} and {@link dequeue}
   */
  async settleAndDequeue(
    settlements: readonly Settlement[],
    options: DequeueOptions = {},
  ): Promise<{ settled: Settled[]; tasks: Batch<Out> }> {
    listOf(settlements, "settlements", MAX_BATCH);
    if (settlements.length === 0) return { settled: [], tasks: await this.dequeue(options) };
    const requests = this.#leasingRequests(options);
    const run = async () => {
      const delivery = await this.#delivery(requests);
      const batch = await this.#batch(settlements, requestKey(options), options.signal, false);
      const { settled, after, taken } = await this.store.settleAndTake(batch, delivery.request);
      const [tasks] = await Promise.all([delivery.run(taken), ...after]);
      return { settled, tasks };
    };
    return requests.run(run, ({ tasks }) => tasks);
  }

  /**
   * Counts the tasks in each state. One request.
   * @throws {SluiceError}
   */
  async counts(options: RequestOptions = {}): Promise<QueueCounts> {
    const { countTasks } = await import("./tasks/count-tasks.ts");
    return countTasks(this.store, options);
  }

  /**
   * Waits for the end of a task. It reads the task repeatedly; each read is a request of 3 Redis commands.
   * @param id of the task
   * @returns the task when it has ended, or as it is when the time is over; null if its id is unknown
   * @throws {SluiceError} `aborted` if the signal aborts, or a fault of the transport
   * @example const task = await emails.wait(id, { for: "10s" })
   */
  async wait(id: string, options: WaitOptions = {}): Promise<TaskInfo | null> {
    const read = this.#reader(id);
    const { waitForEnd } = await import("./tasks/watch.ts");
    return waitForEnd(read, options);
  }

  /**
   * Watches a task: yields its current state, then each transition once and in order, and progress, until its
   * `end`. It reads the task repeatedly; each read is a request of 3 Redis commands.
   *
   * The record keeps the last 16 transitions. If more happen between two reads, the watch yields a `gap`.
   * Versions rise, except that progress and a promotion have the version before.
   * @param id of the task
   * @throws {SluiceError} `invalid_argument`, at once; a fault of the transport, from the iteration. Continue
   *   with `after`
   * @example for await (const { event } of emails.watch(id)) console.log(event)
   */
  watch(id: string, options: WatchOptions = {}): AsyncIterable<TaskEvent> {
    const [read, watch] = [this.#reader(id), checkedWatch(options)];
    return (async function* () {
      const { eventsOf } = await import("./tasks/watch.ts");
      yield* eventsOf(read, watch);
    })();
  }

  /**
   * Subscribes to the events of the queue's tasks: which tasks, and of each attempt its result, progress or error.
   * The queue's setting `events` must be on; otherwise none
   * arrive, and a line in the log says so. Best effort, as Redis's pub/sub: events before the subscription, or while its connection is down,
   * are lost. A lost connection, with `resp()` also one on which Redis is silent for 20 s, is opened again, for as long
   * as that takes; then the event `gap` says that events are missing. {@link watch} misses nothing of one task. Two
   * requests, of a command each; one without `warn`. While the setting is on, each call costs one more command for each kind of event that it
   * causes.
   * @returns once Redis has confirmed it: the events from then on, until the signal aborts, the iteration ends, or
   *   the transport closes
   * @throws {SluiceError} `unsupported` if the transport cannot subscribe; `redis_unreachable` if it cannot at first;
   *   from the iteration, if Redis refuses to subscribe again
   * @example for await (const { event, ids } of await emails.events()) console.log(event, ids)
   */
  async events(options: EventsOptions = {}): Promise<AsyncIterable<PublishedEvent>> {
    const { subscribeTo } = await import("./tasks/events.ts");
    return subscribeTo(this.store, this.values, options);
  }

  #reader(id: string): ReadTask {
    taskId(id);
    return (signal) => this.get(id, { signal });
  }

  /**
   * Reports that a worker is alive, and registers it with the queue. Moves the deadline of every task that
   * this incarnation has, or of the tasks with the given receipts, to `lease` from now, never to an earlier
   * time. One request for up to 1,000 tasks, or in a queue with partitions for up to 1,000 of each. Besides a
   * heartbeat, only a dequeue shows that a worker is alive.
   * @param worker as in {@link dequeue}; replaces what the worker reported before
   * @returns how many leases were extended, and which tasks to stop; or `worker_lost`
   * @throws {SluiceError}
   */
  async heartbeat(worker: Worker, options: HeartbeatOptions = {}): Promise<Heartbeat> {
    const { sendHeartbeat } = await import("./lease/heartbeat.ts");
    return sendHeartbeat(this.store, worker, options);
  }

  /** @throws {SluiceError} `invalid_argument` */
  #leasingRequests(options: DequeueOptions): LeasingRequests {
    return new LeasingRequests(options, (settlements, own) => this.settle(settlements, own));
  }

  #delivery(requests: LeasingRequests): Promise<Delivery<Out>> {
    const { store, values, schema, hooks } = this;
    return Delivery.of(
      {
        store,
        values,
        schema,
        lease: this.#lease,
        maxBytes: this.#maxBytes,
        onSettle: hooks?.onSettle,
        settle: (settlements) => this.settle(settlements),
      },
      requests,
    );
  }
}

function refusedIfTooLarge(items: readonly SettlementArguments[]): readonly SettlementArguments[] {
  const bytes = byteLengths(
    items.map(({ text }) => text),
    MAX_REQUEST_BYTES,
  );
  if (items.length === 1 || bytes <= MAX_REQUEST_BYTES) return items;
  throw new SluiceError(
    "too_large",
    `settlements have ${bytes} bytes; at most ${MAX_REQUEST_BYTES} are allowed`,
    "settlements",
  );
}
