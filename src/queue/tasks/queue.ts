import { SluiceError } from "../../errors.ts";
import { byteLengths } from "../core/codec.ts";
import { milliseconds } from "../core/duration.ts";
import { subscribeTo, type PublishedEvent } from "./events.ts";
import type { Batch } from "./leased-task.ts";
import { all } from "../core/maybe-promise.ts";
import { listOf, onlyOptions, replyBytes, REQUEST_OPTIONS, requestKey, taskId } from "../core/validation.ts";
import { lastReply } from "../redis/replies.ts";
import { MAX_ENQUEUE_BYTES, Producer, type ProducerOptions } from "./producer.ts";
import { MAX_DEQUEUE, Pull, singlePulls } from "./dequeue.ts";
import { leasesTold } from "../core/receipt.ts";
import { DEFAULT_LEASE } from "../core/record.ts";
import { callOf } from "../redis/binding.ts";
import {
  dequeueScript,
  settleAndDequeueCall,
  settleAndDequeueScript,
  settleScript,
  heartbeatScript,
} from "../redis/task-scripts.ts";
import { countScript } from "../redis/operate-scripts.ts";
import { readSettled, sealedArguments, type SettlementArguments } from "./settle.ts";
import type { Shareable } from "../redis/coalescer.ts";
import type { ScriptCall, SendOptions } from "../redis/transport.ts";
import {
  waitForEnd,
  watchTask,
  type Look,
  type TaskEvent,
  type WaitOptions,
  type WatchOptions,
} from "./watch.ts";
import { prolongAll, signOfLife } from "./heartbeat.ts";
import type {
  DequeueOptions,
  Heartbeat,
  HeartbeatOptions,
  QueueCounts,
  RequestOptions,
  Settled,
  Settlement,
  TaskInfo,
  Worker,
} from "../core/types.ts";

/** A settlement that can share a request. */
type Single = SettlementArguments & Pick<Settlement, "receipt">;

export interface QueueOptions<In = unknown, Out = In> extends ProducerOptions<In, Out> {
  /** Bound on the payload bytes of one dequeue; at least one task is always given. @default 8 MB */
  readonly maxBytes?: number | undefined;
}

/** A named stream of tasks. All its state is in Redis; an instance holds none and may be made per request. */
export class Queue<In = unknown, Out = In> extends Producer<In, Out> {
  readonly #lease: number;
  readonly #maxBytes: number;

  /** @throws {SluiceError} `invalid_argument` */
  constructor(name: string, options: QueueOptions<In, Out>) {
    super(name, options);
    this.#lease = milliseconds(options.lease ?? DEFAULT_LEASE, "lease", { min: 1 });
    this.#maxBytes = replyBytes(options.maxBytes);
  }

  /**
   * Leases the tasks that are next, at most `max`, in one request. If too few are pending it first promotes what is
   * due and reclaims what has expired. If it meets only entries that it cannot deliver, such as cancelled tasks, it
   * continues behind them with further requests, each for about 200 entries, at most 50. With `wait`, and no task there, it
   * looks again until there is one: about two requests a second, each of one Redis command (every two seconds one of them has
   * a second command), and a full pull every ten seconds. What falls due within a quarter of a second after a pull that found
   * nothing is pulled together. Calls of the same turn for one task each share a request if their options are equal, without
   * `wait`, `token` and `idempotencyKey`: see {@link ProducerOptions.coalesce}.
   * @throws {SluiceError} `aborted` when the signal does
   */
  async dequeue(options: DequeueOptions = {}): Promise<Batch<Out>> {
    const pull = await this.#pull(options);
    const { lane } = pull;
    if (lane !== undefined) {
      return pull.take(await this.coalescer.call(singlePulls, lane, Promise.resolve(pull), options.signal));
    }
    return pull.answer(dequeueScript.decode(lastReply(await this.transport.send([pull.call], options))));
  }

  /**
   * Settles up to 1,000 tasks in one request, in order. Each gets an answer of its own; a receipt that
   * is no longer current changes nothing and says `lease_lost`. Calls of the same turn with one settlement each share a
   * request: see {@link ProducerOptions.coalesce}.
   * @throws {SluiceError}
   */
  async settle(settlements: readonly Settlement[], options: RequestOptions = {}): Promise<Settled[]> {
    onlyOptions(options, REQUEST_OPTIONS);
    requestKey(options);
    listOf(settlements, "settlements", MAX_DEQUEUE);
    if (settlements.length === 0) return [];
    const [only] = settlements;
    if (only && settlements.length === 1 && options.idempotencyKey === undefined) {
      return [await this.coalescer.call(this.#singly, this.#lane, this.#single(only), options.signal)];
    }
    const call = await this.#settleCall(settlements, options);
    return readSettled(
      settlements,
      settleScript.decode(lastReply(await this.transport.send([call], options))),
    );
  }

  /**
   * Settles, then dequeues, in one atomic request, which is never shared with other calls. If that finds no task and `wait`
   * is set, it waits as {@link dequeue} does. With no settlements it is a plain dequeue, which may share a request.
   * @throws {SluiceError}
   */
  async settleAndDequeue(
    settlements: readonly Settlement[],
    options: DequeueOptions = {},
  ): Promise<{ settled: Settled[]; tasks: Batch<Out> }> {
    listOf(settlements, "settlements", MAX_DEQUEUE);
    if (settlements.length === 0) return { settled: [], tasks: await this.dequeue(options) };
    const pull = await this.#pull(options);
    const settle = await this.#settleCall(settlements, options);
    const outcomes = await this.transport.send([settleAndDequeueCall(settle, pull.call)], options);
    const { settled, dequeued } = settleAndDequeueScript.decode(lastReply(outcomes));
    return { settled: readSettled(settlements, settled), tasks: await pull.answer(dequeued) };
  }

  /**
   * How many tasks are where. One request.
   * @throws {SluiceError}
   */
  async counts(options: RequestOptions = {}): Promise<QueueCounts> {
    const counts = await this.run(countScript, { testNow: this.testNow() }, [], options);
    return {
      queue: this.name,
      ...counts,
      oldestAge: counts.oldestAge < 0 ? null : counts.oldestAge,
      nextDueAt: counts.nextDueAt || null,
    };
  }

  /**
   * Waits for the end of a task by looking at it again and again; 3 Redis commands a look, each a request.
   * @returns the task when it has ended, or as it stands when the time is over; null where none is known
   * @throws {SluiceError} `aborted` when the signal does; or a fault of the transport
   */
  async wait(id: string, options: WaitOptions = {}): Promise<TaskInfo | null> {
    return waitForEnd(this.#lookAt(id), options);
  }

  /**
   * Tells what becomes of a task: how it stands, then each transition once and in order, and progress, until its
   * `end`. It looks at the task again and again; 3 Redis commands a look, each a request. What came between two
   * looks is told from the record, which keeps the last 16 transitions: whoever missed more is told of the `gap`.
   * Versions rise; only progress and a promotion, told where a look sees it, come with the version told last.
   * @throws {SluiceError} `invalid_argument`, at once; a fault of the transport, from the iteration: begin again
   *   with `after`
   */
  watch(id: string, options: WatchOptions = {}): AsyncIterable<TaskEvent> {
    return watchTask(this.#lookAt(id), options);
  }

  /**
   * What happens to the queue's tasks, as it happens: where the queue's setting `events` is on, otherwise nothing
   * comes. Best effort, as Redis's pub/sub is: what happens while nobody listens is told to nobody. Of one task
   * {@link watch} misses nothing. One request and command; while the setting is on, each call pays one command more
   * for each kind of event that it makes.
   * @returns once Redis has confirmed it: the events from then on, until the signal aborts or the iteration is left
   * @throws {SluiceError} `unsupported` where the transport cannot subscribe; from the iteration `redis_unreachable`
   *   when the connection ends: what happens until the next `events` is lost
   */
  async events(options: SendOptions = {}): Promise<AsyncIterable<PublishedEvent>> {
    return subscribeTo(this.keys, this.transport, options);
  }

  #lookAt(id: string): Look {
    taskId(id);
    return (signal) => this.get(id, { signal });
  }

  /**
   * A worker's sign of life, which besides only a dequeue is: makes it a listener of the queue, and moves the deadline of every task that this
   * incarnation has, or of those whose receipts it tells, to `lease` from now, never to an earlier one. One request for up to 1,000 tasks.
   * @param worker as in dequeue; what it tells of itself replaces what it told before
   * @throws {SluiceError}
   */
  async heartbeat(worker: Worker, options: HeartbeatOptions = {}): Promise<Heartbeat> {
    onlyOptions(options, ["lease", "receipts", ...REQUEST_OPTIONS]);
    const { lease, receipts } = options;
    const held = receipts && leasesTold(receipts);
    const args = {
      testNow: this.testNow(),
      ...signOfLife(worker),
      lease: lease === undefined ? "" : String(milliseconds(lease, "lease", { min: 1 })),
      limit: String(MAX_DEQUEUE),
      named: held ? "1" : "",
    };
    const page = (from: number) => this.run(heartbeatScript, { ...args, from: String(from) }, held, options);
    return prolongAll(page, held !== undefined);
  }

  async #pull(options: DequeueOptions): Promise<Pull<Out>> {
    const { name, keys, transport, values } = this;
    const [lease, maxBytes, schema] = [this.#lease, this.#maxBytes, this.schema];
    const settle: Queue["settle"] = (settlements) => this.settle(settlements);
    return Pull.of(
      { name, keys, transport, values, testNow: this.testNow(), schema, lease, maxBytes, settle },
      options,
    );
  }

  readonly #lane = `settle ${this.keys.tasks}`;

  /** Settlements of one task, as calls that can share a request. */
  readonly #singly: Shareable<Single, Settled> = {
    most: MAX_DEQUEUE,
    text: ({ text }) => text,
    send: async (calls, signal) => {
      const items = calls.map(({ item }) => item);
      const reply = lastReply(await this.transport.send([await this.#callOf(items, {})], { signal }));
      const settled = readSettled(items, settleScript.decode(reply));
      for (const [i, one] of settled.entries()) calls[i]?.answer(one);
    },
  };

  async #single(settlement: Settlement): Promise<Single> {
    return { ...(await this.#settleItem(settlement, 0)), receipt: settlement.receipt };
  }

  #settleItem(settlement: Settlement, i: number) {
    return sealedArguments(this.values, settlement, `settlements[${i}]`);
  }

  async #settleCall(settlements: readonly Settlement[], options: RequestOptions): Promise<ScriptCall> {
    const items = await all(settlements.map((settlement, i) => this.#settleItem(settlement, i)));
    const bytes = byteLengths(
      items.map(({ text }) => text),
      MAX_ENQUEUE_BYTES,
    );
    if (items.length > 1 && bytes > MAX_ENQUEUE_BYTES) {
      throw new SluiceError(
        "too_large",
        `settlements have ${bytes} bytes; one request takes ${MAX_ENQUEUE_BYTES}`,
        "settlements",
      );
    }
    return this.#callOf(items, options);
  }

  async #callOf(items: readonly SettlementArguments[], options: RequestOptions): Promise<ScriptCall> {
    const tellsProgress = items.some(({ terms, text }) => terms.startsWith("extend") && text !== "");
    const call = tellsProgress ? await this.token("settle", options) : "";
    return callOf(settleScript, this.keys, { testNow: this.testNow(), call }, items);
  }
}
