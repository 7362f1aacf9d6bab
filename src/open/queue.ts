import { Queue as KernelQueue } from "../kernel/queue.ts";
import { checkedTracing } from "../features/tracing/types.ts";
import { milliseconds } from "../kernel/options/duration.ts";
import { DEFAULT_LEASE } from "../kernel/record/record.ts";
import { replyBytes } from "../kernel/options/validation.ts";
import type { Transport } from "../kernel/transport.ts";
import type { QueueOrName } from "./definition.ts";
import { opened, type QueueOptions } from "./options.ts";
import { producerParts } from "./producer.ts";
import { storeOf } from "./store.ts";

/**
 * A queue: adds tasks, delivers them and settles them. All state is in Redis, so an instance may be made for
 * each request.
 * @example
 * const emails = new Queue<Email>("emails", { transport: upstash(env), lease: "1m", unique: "24h" });
 */
export class Queue<In = unknown, Out = In> extends KernelQueue<In, Out> {
  /** Including those of a declared queue. A drain makes the same queue with a transport that counts requests. */
  protected readonly options: QueueOptions<In, Out>;
  protected readonly transport: Transport;

  /**
   * @param queue its name, `^[A-Za-z0-9_-][A-Za-z0-9_.-]{0,127}$`, or a queue that `defineQueue` made
   * @param given options; those of a declared queue are the defaults
   * @throws {SluiceError} `invalid_argument`
   */
  constructor(queue: QueueOrName<In, Out>, given: QueueOptions<In, Out>) {
    const own = opened(queue, given);
    const { options } = own;
    super({
      ...producerParts(own),
      store: storeOf(own),
      lease: milliseconds(options.lease ?? DEFAULT_LEASE, "lease", { min: 1 }),
      maxBytes: replyBytes(options.maxBytes),
    });
    this.options = options;
    this.transport = own.queue.transport;
    checkedTracing(options.tracing)?.traceCalls(this, false);
  }
}
