import type { StandardSchemaV1 } from "@standard-schema/spec";
import { abortedBySignal } from "../../errors.ts";
import { milliseconds } from "../options/duration.ts";
import { derivedName } from "../names/derived-ids.ts";
import { newToken } from "../names/ids.ts";
import { MAX_BATCH } from "../options/limits.ts";
import { writeReceipt } from "../names/receipt.ts";
import { readFixed } from "../record/read-record.ts";
import {
  leaseToken,
  onlyOptions,
  replyBytes,
  REQUEST_OPTIONS,
  requestKey,
  wholeNumber,
} from "../options/validation.ts";
import { decodeBatch, nextToken, type RawBatch } from "./decode-tasks.ts";
import type { Batch, TaskSettler } from "./leased-task.ts";
import type { LeasingRequests } from "./leasing-requests.ts";
import { waitMilliseconds } from "./long-poll.ts";
import { workerArguments } from "./worker-info.ts";
import type { Values } from "../values/values.ts";
import type { Store, Taken, TakeRequest } from "../store.ts";

const OPTIONS = ["max", "lease", "maxBytes", "worker", "token", "wait", ...REQUEST_OPTIONS];

/** What a dequeue needs of its queue. */
export interface DeliveringQueue<Out> extends TaskSettler {
  readonly store: Store;
  readonly values: Values;
  readonly schema: StandardSchemaV1<unknown, Out> | undefined;
  /** The lease of a task that has none of its own, ms. */
  readonly lease: number;
  /** Most bytes of payloads in one dequeue. */
  readonly maxBytes: number;
}

/** One dequeue: takes tasks, and decodes them for its caller. If no task is there, it may wait for one. */
export class Delivery<Out> {
  readonly #queue: DeliveringQueue<Out>;
  /** What its first request asks. */
  readonly request: TakeRequest;
  /** How long to wait for a task, ms. */
  readonly #wait: number;
  /** How many invalid tasks became dead letters. */
  #invalid = 0;

  /**
   * @param requests of the dequeue, with its options
   * @throws {SluiceError} `invalid_argument`
   */
  static async of<Out>(queue: DeliveringQueue<Out>, requests: LeasingRequests): Promise<Delivery<Out>> {
    const { options } = requests;
    onlyOptions(options, OPTIONS);
    const key = requestKey(options);
    if (options.token !== undefined) return new Delivery(queue, requests, leaseToken(options.token));
    const { name } = queue.store.queue;
    const token = key === undefined ? undefined : await derivedName("dequeue", name, key);
    return new Delivery(queue, requests, token);
  }

  /** @param token the caller's, or that of its idempotency key: then any request may be a resend */
  private constructor(queue: DeliveringQueue<Out>, requests: LeasingRequests, token: string | undefined) {
    const { max = 1, lease, maxBytes, worker, wait } = requests.options;
    this.#queue = queue;
    this.#wait = waitMilliseconds(wait);
    const most = wholeNumber(max, "max", 1, MAX_BATCH);
    this.request = {
      max: most,
      lease: lease === undefined ? queue.lease : milliseconds(lease, "lease", { min: 1 }),
      maxBytes: replyBytes(maxBytes ?? queue.maxBytes),
      ...(worker === undefined ? { worker: "", info: "" } : workerArguments(worker)),
      token: token ?? newToken(),
      mayBeCopy: token !== undefined,
      last: this.#wait === 0,
      mayShare: most === 1 && token === undefined && this.#wait === 0,
      requests,
    };
  }

  /**
   * Delivers what the first request has taken, or what comes within the wait.
   * @param first finishes the first request, if it was sent already. @default sends it
   * @throws {SluiceError} `aborted` if the caller has aborted the dequeue. What it has leased is then handed back
   */
  async run(first?: () => Promise<Taken>): Promise<Batch<Out>> {
    const { store } = this.#queue;
    const batch = await this.#batch(await (first ? first() : store.take(this.request)));
    if (batch.length > 0 || this.#wait === 0) return batch;
    const { signal } = this.request.requests.options;
    const steps = {
      dequeue: async (last: boolean) => {
        const { mayBeCopy, token } = this.request;
        return this.#take(mayBeCopy ? token : newToken(), last);
      },
      check: (ask: { readonly due: boolean; readonly time: boolean }) => store.peek({ ...ask, signal }),
    };
    const { pollForTasks } = await import("./poll-for-tasks.ts");
    return pollForTasks(batch, this.#wait, steps, signal);
  }

  async #take(token: string, last: boolean): Promise<Batch<Out>> {
    return this.#batch(await this.#queue.store.take({ ...this.request, token, last, mayShare: false }));
  }

  /** The tasks as the caller gets them. If all of them are invalid, it dequeues again. */
  async #batch(taken: Taken): Promise<Batch<Out>> {
    let { token } = taken;
    const dequeueAgain = async () => {
      token = await nextToken(this.#queue.store.queue.name, token);
      const last = this.#wait === 0;
      return this.#raw(await this.#queue.store.take({ ...this.request, token, last, mayShare: false }));
    };
    const { schema } = this.#queue;
    const batch = await decodeBatch(this.#queue, schema, this.#raw(taken), dequeueAgain);
    return Object.assign(batch, { invalid: (this.#invalid += batch.invalid) });
  }

  #raw({ tasks, token, place, nextDueAt, paused }: Taken): RawBatch {
    const { lease: leasedFor, maxBytes, requests } = this.request;
    const receiptOf = ({ id, delivery, lease }: Taken["tasks"][number]) =>
      writeReceipt({ id, delivery, lease, token, place });
    if (requests.isAbandoned) {
      requests.handBack(tasks.map((task) => ({ receipt: receiptOf(task) })));
      throw abortedBySignal(true);
    }
    const readers = tasks.map((task) => () => {
      const { id, delivery, deadlineAt, record } = task;
      const { enqueuedAt, lease: fixed, headers, group, payload } = readFixed(record);
      return {
        id,
        receipt: receiptOf(task),
        payload,
        attempt: typeof delivery === "number" ? delivery : Number.parseInt(delivery, 10),
        enqueuedAt,
        deadlineAt,
        leasedFor: fixed ?? leasedFor,
        headers,
        group,
        bytes: record.length,
      };
    });
    return { readers, nextDueAt, paused, maxBytes };
  }
}
