import { milliseconds } from "../queue/core/duration.ts";
import { type LeasingRequests, MOST_AFTER_ABORT } from "../queue/tasks/leasing-requests.ts";
import { decodeBatch, nextToken, type RawBatch, type RawTask } from "../queue/tasks/decode-tasks.ts";
import { derivedName, newToken } from "../queue/core/ids.ts";
import { requestKey } from "../queue/core/validation.ts";
import type { QueueOptions } from "../queue/tasks/queue.ts";
import type { Batch } from "../queue/tasks/leased-task.ts";
import type { ValuesQueue } from "../queue/values/encryption.ts";
import type { Tracing } from "../queue/core/tracing.ts";
import type { DequeueOptions, RequestOptions, Settled, Settlement } from "../queue/core/types.ts";
import { jsonOf, splitOptions, valueOf } from "./body.ts";

/** The server's reply to a dequeue. */
export interface DequeueReply {
  readonly tasks: readonly (Omit<RawTask, "payload"> & {
    readonly payload?: unknown;
    readonly encoding?: string;
  })[];
  readonly nextDueAt: number | null;
  readonly paused: boolean;
}

/** What a dequeue needs of its queue. */
export interface DequeuingQueue<Out> {
  readonly name: string;
  readonly values: ValuesQueue;
  readonly defaults: Pick<QueueOptions<unknown, Out>, "lease" | "maxBytes" | "schema">;
  readonly pull: (request: DequeueRequest<Out>) => Promise<DequeueReply>;
  readonly settle: (settlements: readonly Settlement[]) => Promise<Settled[]>;
  readonly tracing: Tracing | undefined;
}

/** One dequeue. The client may send several copies of its requests. */
export class DequeueRequest<Out> {
  /** The signal and the idempotency key. */
  readonly options: RequestOptions;
  readonly #queue: DequeuingQueue<Out>;
  readonly #requests: LeasingRequests;
  readonly #fields: Omit<DequeueOptions, keyof RequestOptions | "wait">;
  /** When the server must stop waiting for tasks, on the clock of `performance.now()`. */
  readonly #end: number;
  #token: string;

  /**
   * @param requests with the options of the dequeue
   * @throws {SluiceError} `invalid_argument`
   */
  static async of<Out>(queue: DequeuingQueue<Out>, requests: LeasingRequests): Promise<DequeueRequest<Out>> {
    const { request, fields } = splitOptions(requests.options);
    const key = requestKey(request);
    // One token for all copies. From an idempotency key, it is derived in the same way as on the server.
    const made = key === undefined ? newToken() : await derivedName("dequeue", queue.name, key);
    return new DequeueRequest(queue, requests, request, fields, fields.token ?? made);
  }

  private constructor(
    queue: DequeuingQueue<Out>,
    requests: LeasingRequests,
    request: RequestOptions,
    { wait, ...fields }: Omit<DequeueOptions, keyof RequestOptions>,
    token: string,
  ) {
    this.options = request;
    this.#queue = queue;
    this.#requests = requests;
    this.#fields = fields;
    this.#end = performance.now() + milliseconds(wait ?? 0, "wait");
    this.#token = token;
  }

  /** How much longer the server may wait for tasks, ms. */
  get wait(): number {
    return Math.max(0, Math.ceil(this.#end - performance.now()));
  }

  /** The JSON of the copy that is sent now. */
  body(): string {
    const { defaults } = this.#queue;
    this.#requests.isSent = true;
    const fields = {
      ...this.#fields,
      lease: this.#fields.lease ?? defaults.lease,
      maxBytes: this.#fields.maxBytes ?? defaults.maxBytes,
      wait: this.wait || undefined,
      token: this.#token,
    };
    return jsonOf(fields, "options");
  }

  /**
   * Sends a request that dequeues. If the caller aborts it, the server's reply is lost: the same dequeue, sent again
   * without a wait, returns what it has leased, and prevents that a late copy leases tasks.
   */
  async send<Reply>(request: () => Promise<Reply>): Promise<Reply> {
    try {
      return await request();
    } catch (error) {
      if (this.#requests.isAbandoned && this.#requests.isSent) this.#handBack().catch(() => {});
      throw error;
    }
  }

  async #handBack(): Promise<void> {
    const options = { signal: AbortSignal.timeout(MOST_AFTER_ABORT) };
    const again = new DequeueRequest(this.#queue, this.#requests, options, this.#fields, this.#token);
    this.#requests.handBack((await this.#queue.pull(again)).tasks);
  }

  /**
   * Decodes the tasks of the first reply. Tasks that cannot be decrypted, or do not match the schema, become
   * dead letters. If no other task is left, it dequeues again.
   */
  async decode(first: DequeueReply): Promise<Batch<Out>> {
    const { name, defaults, pull } = this.#queue;
    return decodeBatch(this.#queue, defaults.schema, rawBatch(first), async () => {
      this.#token = await nextToken(name, this.#token);
      return rawBatch(await this.send(() => pull(this)));
    });
  }
}

function rawBatch({ tasks, nextDueAt, paused }: DequeueReply): RawBatch {
  const readers = tasks.map(({ encoding, ...task }) => () => ({
    ...task,
    payload: valueOf(task.payload, encoding),
  }));
  return { readers, nextDueAt, paused };
}
