import { milliseconds } from "../core/duration.ts";
import { nameAndOptions, type QueueOrName } from "./definition.ts";
import { subscribeTo, type PublishedEvent } from "./events.ts";
import type { Batch } from "./leased-task.ts";
import { listOf, onlyOptions, replyBytes, REQUEST_OPTIONS, requestKey, taskId } from "../core/validation.ts";
import { lastReply } from "../redis/replies.ts";
import { MAX_BATCH } from "../core/limits.ts";
import { Producer, type ProducerOptions } from "./producer.ts";
import { DequeueCall, singleDequeues } from "./dequeue.ts";
import { namesPartition, readReceipts } from "../core/receipt.ts";
import { DEFAULT_LEASE } from "../core/record.ts";
import {
  dequeueScript,
  settleAndDequeueCall,
  settleAndDequeueScript,
  heartbeatScript,
} from "../redis/task-scripts.ts";
import { countScript } from "../redis/operate-scripts.ts";
import { type Partitions } from "../partitions/partitions.ts";
import { PartitionTurns } from "../partitions/turns.ts";
import { PartitionedDequeue } from "./dequeue-partitions.ts";
import { LeasingRequests } from "./leasing-requests.ts";
import { SettleCalls, settledReplies, type SettleParts } from "./settle-calls.ts";
import type { CommandOutcome, SendOptions } from "../redis/transport.ts";
import { waitForEnd, watchTask, type ReadTask, type TaskEvent } from "./watch.ts";
import type { WaitOptions, WatchOptions } from "./watch-options.ts";
import { extendLeases, type LeasePage } from "./heartbeat.ts";
import { workerArguments } from "./worker-info.ts";
import { type QueueCounts, sumOfCounts } from "../core/counts.ts";
import type { TaskInfo } from "../core/task-info.ts";
import type {
  DequeueOptions,
  Heartbeat,
  HeartbeatOptions,
  RequestOptions,
  Settled,
  Settlement,
  Worker,
} from "../core/types.ts";

export interface QueueOptions<In = unknown, Out = In> extends ProducerOptions<In, Out> {
  /** Most bytes of payloads in one dequeue; it returns at least one task anyway. @default 8 MB */
  readonly maxBytes?: number | undefined;
}

/**
 * A queue: adds tasks, delivers them and settles them. All state is in Redis, so an instance may be made for
 * each request.
 * @example
 * const emails = new Queue<Email>("emails", { transport: upstash(env), lease: "1m", unique: "24h" });
 */
export class Queue<In = unknown, Out = In> extends Producer<In, Out> {
  readonly #lease: number;
  readonly #maxBytes: number;
  readonly #settles: SettleCalls;
  #turns: PartitionTurns | undefined;

  /**
   * @param queue its name, `^[A-Za-z0-9_-][A-Za-z0-9_.-]{0,127}$`, or a queue that `defineQueue` made
   * @param given options; those of a declared queue are the defaults
   * @throws {SluiceError} `invalid_argument`
   */
  constructor(queue: QueueOrName<In, Out>, given: QueueOptions<In, Out>) {
    super(queue, given);
    const { options } = nameAndOptions(queue, given);
    this.#lease = milliseconds(options.lease ?? DEFAULT_LEASE, "lease", { min: 1 });
    this.#maxBytes = replyBytes(options.maxBytes);
    const { name, transport, values, waker, onDeadLetter } = this;
    const testNow = () => this.testNow();
    const token = (request: RequestOptions) => this.token("settle", request);
    this.#settles = new SettleCalls({
      name,
      keysOf: (partition) => this.keysOf(partition),
      nameOf: (partition) => this.nameOf(partition),
      transport,
      values,
      waker,
      onDeadLetter,
      testNow,
      token,
    });
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
  dequeue(options: DequeueOptions = {}): Promise<Batch<Out>> {
    if (!this.tracing) return this.#dequeue(options);
    const traced = this.tracing.exchange(this.name, [], async () => ({
      tasks: await this.#dequeue(options),
    }));
    return traced.then(({ tasks }) => tasks);
  }

  async #dequeue(options: DequeueOptions): Promise<Batch<Out>> {
    const requests = this.#leasingRequests(options);
    const run = () => this.overPartitions(() => this.#dequeueOnce(requests), options);
    return requests.run(run, (tasks) => tasks);
  }

  async #dequeueOnce(requests: LeasingRequests): Promise<Batch<Out>> {
    const { signal } = requests.options;
    const partitions = await this.split(signal);
    if (partitions) return (await this.#partitionedDequeue(partitions, requests)).run();
    const call = await this.#dequeueCall(0, requests);
    const { pool } = call;
    if (pool !== undefined) {
      const item = Promise.resolve(call);
      return call.toBatch(await this.coalescer.call(singleDequeues, pool, item, signal));
    }
    const outcomes = await requests.over(this.transport).send([call.firstCall]);
    return call.finish(dequeueScript.decode(lastReply(outcomes)));
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
  settle(settlements: readonly Settlement[], options: RequestOptions = {}): Promise<Settled[]> {
    if (!this.tracing) return this.#settle(settlements, options);
    const run = async () => ({ settled: await this.#settle(settlements, options) });
    return this.tracing.exchange(this.name, settlements, run).then(({ settled }) => settled);
  }

  #settle(settlements: readonly Settlement[], options: RequestOptions): Promise<Settled[]> {
    return this.overPartitions(() => this.#settleOnce(settlements, options), options);
  }

  async #settleOnce(settlements: readonly Settlement[], options: RequestOptions): Promise<Settled[]> {
    onlyOptions(options, REQUEST_OPTIONS);
    requestKey(options);
    listOf(settlements, "settlements", MAX_BATCH);
    if (settlements.length === 0) return [];
    const [only] = settlements;
    if (only && settlements.length === 1 && options.idempotencyKey === undefined) {
      const { singleSettles, pool } = this.#settles;
      const item = this.#settles.single(only);
      const settled = await this.coalescer.call(singleSettles, pool, item, options.signal);
      await this.#settles.removeObjects(settlements, [settled]);
      return this.#settles.reported(settlements, [settled]);
    }
    const parts = await this.#settles.callsFor(settlements, options);
    return this.#settles.finish(settlements, await this.#settles.send(parts, options));
  }

  /**
   * Settles, then dequeues, in one atomic request, which no other call shares. If no task is there and `wait`
   * is set, it waits as {@link dequeue} does. Without settlements it is a plain dequeue. If `signal` aborts, what was
   * leased is handed back as for {@link dequeue}, and the caller does not learn whether the tasks were settled: the
   * message says only whether a request was sent. Settling them again is safe: a copy gets the same results.
   * @returns the results of {@link settle}, and the tasks of {@link dequeue}
   * @throws {SluiceError} as {@link settle} and {@link dequeue}
   */
  settleAndDequeue(
    settlements: readonly Settlement[],
    options: DequeueOptions = {},
  ): Promise<{ settled: Settled[]; tasks: Batch<Out> }> {
    if (!this.tracing) return this.#settleAndDequeue(settlements, options);
    const run = () => this.#settleAndDequeue(settlements, options);
    return this.tracing.exchange(this.name, settlements, run);
  }

  async #settleAndDequeue(settlements: readonly Settlement[], options: DequeueOptions) {
    listOf(settlements, "settlements", MAX_BATCH);
    if (settlements.length === 0) return { settled: [], tasks: await this.#dequeue(options) };
    const requests = this.#leasingRequests(options);
    const run = () => this.overPartitions(() => this.#settleAndDequeueOnce(settlements, requests), options);
    return requests.run(run, ({ tasks }) => tasks);
  }

  async #settleAndDequeueOnce(settlements: readonly Settlement[], requests: LeasingRequests) {
    const { options } = requests;
    const isOfPartitions = settlements.some((settlement) => namesPartition(settlement?.receipt));
    const partitions = isOfPartitions ? this.storedOrDeclared() : await this.split(options.signal);
    await partitions?.map(options.signal);
    const parts = await this.#settles.callsFor(settlements, options);
    const [only] = parts;
    if (partitions || !only) {
      return this.#settleAndDequeueFromPartitions(
        partitions ?? this.storedOrDeclared(),
        settlements,
        parts,
        requests,
      );
    }
    const dequeue = await this.#dequeueCall(0, requests);
    const call = settleAndDequeueCall(only.call, dequeue.firstCall);
    const outcomes = await requests.over(this.transport).send([call]);
    const { settled: replies, dequeued } = settleAndDequeueScript.decode(lastReply(outcomes));
    const settled = await this.#settles.finish(settlements, replies);
    return { settled, tasks: await dequeue.finish(dequeued) };
  }

  /**
   * Counts the tasks in each state. One request.
   * @throws {SluiceError}
   */
  async counts(options: RequestOptions = {}): Promise<QueueCounts> {
    const args = { testNow: this.testNow(), overview: "" };
    const all = await this.overPartitions(() => this.runOnAll(countScript, args, [], options), options);
    return { queue: this.name, ...sumOfCounts(Array.from(all.values(), ({ counts }) => counts)) };
  }

  /**
   * Waits for the end of a task. It reads the task repeatedly; each read is a request of 3 Redis commands.
   * @param id of the task
   * @returns the task when it has ended, or as it is when the time is over; null if its id is unknown
   * @throws {SluiceError} `aborted` if the signal aborts, or a fault of the transport
   * @example const task = await emails.wait(id, { for: "10s" })
   */
  async wait(id: string, options: WaitOptions = {}): Promise<TaskInfo | null> {
    return waitForEnd(this.#reader(id), options);
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
    return watchTask(this.#reader(id), options);
  }

  /**
   * Subscribes to the events of the queue's tasks. The queue's setting `events` must be on; otherwise none
   * arrive. Best effort, as Redis's pub/sub: events before the subscription, or while its connection is down,
   * are lost. {@link watch} misses nothing of one task. One request and command. While the setting is on,
   * each call costs one more command for each kind of event that it causes.
   * @returns once Redis has confirmed it: the events from then on, until the signal aborts or the iteration
   *   ends
   * @throws {SluiceError} `unsupported` if the transport cannot subscribe; from the iteration
   *   `redis_unreachable` if the connection ends; with `resp()` also if Redis is silent for 20 s
   */
  async events(options: SendOptions = {}): Promise<AsyncIterable<PublishedEvent>> {
    return subscribeTo(this.keys, this.transport, options);
  }

  #reader(id: string): ReadTask {
    taskId(id);
    return (signal) => this.get(id, { signal });
  }

  /**
   * Reports that a worker is alive, and registers it with the queue. Moves the deadline of every task that
   * this incarnation has, or of the tasks with the given receipts, to `lease` from now, never to an earlier
   * time. One request for up to 1,000 tasks; in a queue with partitions, of each. Besides a heartbeat, only a dequeue shows that a worker is
   * alive.
   * @param worker as in {@link dequeue}; replaces what the worker reported before
   * @returns how many leases were extended, and which tasks to stop; or `worker_lost`
   * @throws {SluiceError}
   */
  async heartbeat(worker: Worker, options: HeartbeatOptions = {}): Promise<Heartbeat> {
    onlyOptions(options, ["lease", "receipts", ...REQUEST_OPTIONS]);
    const { lease, receipts } = options;
    const leases = receipts && readReceipts(receipts);
    const args = {
      testNow: this.testNow(),
      ...workerArguments(worker),
      lease: lease === undefined ? "" : String(milliseconds(lease, "lease", { min: 1 })),
      limit: String(MAX_BATCH),
      named: leases ? "1" : "",
    };
    const extendPages = (pages: readonly LeasePage[]) => {
      const calls = pages.map(({ partition, from }) => ({
        partition,
        args: { ...args, from: String(from) },
        items: leases?.get(partition) ?? [],
      }));
      return this.runIn(heartbeatScript, calls, options);
    };
    return this.overPartitions(async () => {
      // A worker that works for one partition is alive for all of them. Receipts name their partitions.
      const partitions = [...new Set([...(await this.allPartitions(options)), ...(leases?.keys() ?? [])])];
      return extendLeases(partitions, extendPages, leases !== undefined);
    }, options);
  }

  async #settleAndDequeueFromPartitions(
    partitions: Partitions,
    settlements: readonly Settlement[],
    settle: SettleParts,
    requests: LeasingRequests,
  ) {
    const dequeue = await this.#partitionedDequeue(partitions, requests);
    let settled: Promise<Settled[]> | undefined;
    const onSettled = (outcomes: readonly CommandOutcome[]) => {
      settled = this.#settles.finish(settlements, settledReplies(settle, outcomes));
    };
    const tasks = await dequeue.run({ settle, notes: this.#settles.notesFor(settle), onSettled });
    return { settled: (await settled) ?? [], tasks };
  }

  /** @throws {SluiceError} `invalid_argument` */
  #leasingRequests(options: DequeueOptions): LeasingRequests {
    return new LeasingRequests(options, (settlements, own) => this.settle(settlements, own));
  }

  #partitionedDequeue(partitions: Partitions, requests: LeasingRequests): Promise<PartitionedDequeue<Out>> {
    const { name, transport } = this;
    this.#turns ??= new PartitionTurns(name, this.keys, () => this.scriptTime());
    const source = {
      name,
      partitions,
      turns: this.#turns,
      transport,
      testNow: () => this.testNow(),
      scriptTime: () => this.scriptTime(),
      keysOf: (partition: number) => this.keysOf(partition),
      requests,
      callFor: (partition: number) => this.#dequeueCall(partition, requests),
    };
    return PartitionedDequeue.of(source);
  }

  async #dequeueCall(partition: number, requests: LeasingRequests): Promise<DequeueCall<Out>> {
    const { name, transport, values, onDeadLetter } = this;
    const keys = this.keysOf(partition);
    const [lease, maxBytes, schema] = [this.#lease, this.#maxBytes, this.schema];
    const settle: Queue["settle"] = (settlements) => this.settle(settlements);
    return DequeueCall.of(
      {
        name,
        keys,
        partition,
        transport,
        values,
        testNow: this.testNow(),
        schema,
        lease,
        maxBytes,
        settle,
        onDeadLetter,
        tracing: this.tracing,
      },
      requests,
    );
  }
}
