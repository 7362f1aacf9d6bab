import { milliseconds } from "../queue/core/duration.ts";
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
  readonly send: (request: DequeueRequest<Out>) => Promise<DequeueReply>;
  readonly settle: (settlements: readonly Settlement[]) => Promise<Settled[]>;
  readonly tracing: Tracing | undefined;
}

/** One dequeue. The client may send several copies of its requests. */
export class DequeueRequest<Out> {
  /** The signal and the idempotency key. */
  readonly options: RequestOptions;
  readonly #queue: DequeuingQueue<Out>;
  readonly #fields: Omit<DequeueOptions, keyof RequestOptions | "wait">;
  /** When the server must stop waiting for tasks, on the clock of `performance.now()`. */
  readonly #end: number;
  #token: string;

  /** @throws {SluiceError} `invalid_argument` */
  static async of<Out>(queue: DequeuingQueue<Out>, options: DequeueOptions): Promise<DequeueRequest<Out>> {
    const { request, fields } = splitOptions(options);
    const key = requestKey(request);
    // One token for all copies. From an idempotency key, it is derived in the same way as on the server.
    const made = key === undefined ? newToken() : await derivedName("dequeue", queue.name, key);
    return new DequeueRequest(queue, request, fields, fields.token ?? made);
  }

  private constructor(
    queue: DequeuingQueue<Out>,
    request: RequestOptions,
    { wait, ...fields }: Omit<DequeueOptions, keyof RequestOptions>,
    token: string,
  ) {
    this.options = request;
    this.#queue = queue;
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
   * Decodes the tasks of the first reply. Tasks that cannot be decrypted, or do not match the schema, become
   * dead letters. If no other task is left, it dequeues again.
   */
  async decode(first: DequeueReply): Promise<Batch<Out>> {
    const { name, defaults, send } = this.#queue;
    return decodeBatch(this.#queue, defaults.schema, rawBatch(first), async () => {
      this.#token = await nextToken(name, this.#token);
      return rawBatch(await send(this));
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
