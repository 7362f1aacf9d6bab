import { milliseconds } from "../queue/core/duration.ts";
import { decodeTasks, type RawTask, nextToken } from "../queue/tasks/decode-tasks.ts";
import { derivedName, newToken } from "../queue/core/ids.ts";
import { requestKey } from "../queue/core/validation.ts";
import type { QueueOptions } from "../queue/tasks/queue.ts";
import type { Batch } from "../queue/tasks/leased-task.ts";
import type { ValuesQueue } from "../queue/values/encryption.ts";
import type { DequeueOptions, RequestOptions, Settled, Settlement } from "../queue/core/types.ts";
import { jsonOf, split, valueOf } from "./body.ts";

/** What a pull is answered with. */
export interface Pulled {
  readonly tasks: readonly (Omit<RawTask, "payload"> & {
    readonly payload?: unknown;
    readonly encoding?: string;
  })[];
  readonly nextDueAt: number | null;
  readonly paused: boolean;
}

/** What a pull needs of its queue. */
export interface PullQueue<Out> {
  readonly name: string;
  readonly values: ValuesQueue;
  readonly fixed: Pick<QueueOptions<unknown, Out>, "lease" | "maxBytes" | "schema">;
  readonly pull: (pull: Pull<Out>) => Promise<Pulled>;
  readonly settle: (settlements: readonly Settlement[]) => Promise<Settled[]>;
}

/** One dequeue, of which several copies may be sent. */
export class Pull<Out> {
  /** Of its request. */
  readonly options: RequestOptions;
  readonly #queue: PullQueue<Out>;
  readonly #fields: Omit<DequeueOptions, keyof RequestOptions | "wait">;
  /** Until when it may wait, on the clock of `performance.now()`. */
  readonly #end: number;
  #token: string;
  /** What all its calls together made dead letters of. */
  #invalid = 0;

  /** @throws {SluiceError} `invalid_argument` */
  static async of<Out>(queue: PullQueue<Out>, options: DequeueOptions): Promise<Pull<Out>> {
    const { request, fields } = split(options);
    const key = requestKey(request);
    // Made here, so that every copy has it whatever stands between; of a key, as the server would.
    const made = key === undefined ? newToken() : await derivedName("dequeue", queue.name, key);
    return new Pull(queue, request, fields, fields.token ?? made);
  }

  private constructor(
    queue: PullQueue<Out>,
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

  /** How much longer it may wait, ms. */
  get wait(): number {
    return Math.max(0, Math.ceil(this.#end - performance.now()));
  }

  /** JSON of the copy that is sent now. */
  body(): string {
    const { fixed } = this.#queue;
    const fields = {
      ...this.#fields,
      lease: this.#fields.lease ?? fixed.lease,
      maxBytes: this.#fields.maxBytes ?? fixed.maxBytes,
      wait: this.wait || undefined,
      token: this.#token,
    };
    return jsonOf(fields, "options");
  }

  /** The tasks, without those that do not fit the schema: they become dead letters. */
  async answer({ tasks, nextDueAt, paused }: Pulled, round = 0): Promise<Batch<Out>> {
    const { name, fixed, pull } = this.#queue;
    const readers = tasks.map(({ encoding, ...task }) => () => ({
      ...task,
      payload: valueOf(task.payload, encoding),
    }));
    const fitting = await decodeTasks(this.#queue, fixed.schema, readers);
    const { tasks: leased, allInvalid, unreadable } = fitting;
    this.#invalid += fitting.invalid;
    if (unreadable !== undefined && leased.length === 0) throw unreadable;
    const next = allInvalid ? await nextToken(name, this.#token, round) : undefined;
    if (next !== undefined) {
      this.#token = next;
      return this.answer(await pull(this), round + 1);
    }
    return Object.assign(leased, { nextDueAt, paused, invalid: this.#invalid });
  }
}
