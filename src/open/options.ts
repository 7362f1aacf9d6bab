import type { StandardSchemaV1 } from "@standard-schema/spec";
import type { Coalesce } from "../features/coalescing/index.ts";
import type { Waker } from "../features/waking/index.ts";
import { checkedEncryption, encrypted, type MaybeEncryption } from "../features/encryption/index.ts";
import { checkedOffload, type Offload } from "../features/offload/types.ts";
import { plainValues, type Values } from "../kernel/values/values.ts";
import type { QueueRef } from "../kernel/queue-ref.ts";
import { nameAndOptions, type QueueOrName } from "./definition.ts";
import { DEFAULT_OPTIONS } from "../kernel/options/default-options.ts";
import type { OnDeadLetter } from "../kernel/record/dead-letter.ts";
import type { Tracing } from "../features/tracing/types.ts";
import type { TaskDefaults } from "../kernel/options/types.ts";
import { queueName } from "../kernel/options/validation.ts";
import type { Store } from "../kernel/store.ts";
import { checkedTransport, type Transport } from "../kernel/transport.ts";

/** Options of all that works on a queue. */
export interface QueueBaseOptions {
  /** How to reach Redis, such as `upstash(env)`. */
  readonly transport: Transport;
  /** First part of every key. @default that of the transport, or "sluice" */
  readonly prefix?: string | undefined;
  /**
   * Encrypts and decrypts payloads, results, errors and progress: `encryption()` of
   * `sluice-queue/encryption`. Null returns encrypted values as bytes.
   * @default values are not encrypted, and encrypted ones cannot be read
   */
  readonly encryption?: MaybeEncryption;
  /**
   * How many partitions the queue gets if it has none, 2 to 62; with 1 it stays without. Each has keys of its own, and
   * may be on another node of a cluster. A queue that has partitions keeps them. `"stored"` reads which it has before the first call.
   * @default the queue gets none. If it has some, the first call finds out, and is then sent again to them
   */
  readonly partitions?: number | "stored" | undefined;
  /**
   * Keeps large payloads in an object store: `offload()` of `sluice-queue/offload`.
   * @default payloads are in Redis, and have at most 1 MiB
   */
  readonly offload?: Offload | undefined;
  /** Wakes a consumer when tasks become ready and no consumer runs. @default cron starts consumers */
  readonly wake?: Waker | undefined;
  /**
   * Called once with each task that a call of this object makes a dead letter or finds as one: a settle, a
   * dequeue (invalid payloads, and tasks whose last lease had expired) or `failWorker`. The call does not
   * wait for it. If it fails, one line is written to the console. If Redis's reply is lost, it is not called.
   * @default none
   */
  readonly onDeadLetter?: OnDeadLetter | undefined;
  /** For tests only: the clock (epoch ms) instead of Redis's. */
  readonly now?: (() => number) | undefined;
}

export interface ProducerOptions<In = unknown, Out = In> extends TaskDefaults, QueueBaseOptions {
  /**
   * Checks payloads at enqueue and at dequeue: any Standard Schema (zod, valibot, arktype, …).
   * @default no check
   */
  readonly schema?: StandardSchemaV1<In, Out> | undefined;
  /**
   * Which single calls share a request: `enqueue`, and with a `Queue` also `dequeue` of one task and settles
   * of one task. Each call has its own result, error and signal.
   *
   * - `"turn"`: calls of this instance in the same turn of the event loop, as by `Promise.all`. Workers
   *   cannot see the end of a turn; there, calls directly after each other.
   * - `"in-flight"`: for servers, calls of all instances with this transport. A call waits for the request of
   *   its kind that is under way, at most 250 ms, and goes with the next. Not for Workers, where requests may
   *   not share I/O.
   * - `false`: each call is a request.
   * @default "turn"
   */
  readonly coalesce?: Coalesce | undefined;
  /**
   * Traces enqueues, and with a `Queue` also dequeues, settles and the handlers of its drains:
   * `openTelemetry()` of `sluice-queue/opentelemetry`.
   * @default no traces
   */
  readonly tracing?: Tracing | undefined;
}

export interface QueueOptions<In = unknown, Out = In> extends ProducerOptions<In, Out> {
  /** Most bytes of payloads in one dequeue; it returns at least one task anyway. @default 8 MB */
  readonly maxBytes?: number | undefined;
  /** For deployments: a layer right above the plain store, which a queue with partitions does not use. @default none */
  readonly layer?: ((store: Store) => Store) | undefined;
}

/** The names of {@link QueueOptions}. A producer accepts `maxBytes`, `layer` and `onDeadLetter`, but does not use them. */
export const QUEUE_OPTIONS = [
  "transport",
  "prefix",
  "partitions",
  "now",
  "encryption",
  "offload",
  "onDeadLetter",
  ...DEFAULT_OPTIONS,
  "maxBytes",
  "layer",
  "schema",
  "wake",
  "coalesce",
  "tracing",
] as const satisfies readonly (keyof QueueOptions)[];

/** A queue with its options, including those of its declaration. */
export interface Opened<Options> {
  readonly options: Options;
  readonly queue: QueueRef;
}

/**
 * Checks which queue is meant and how to reach it, and adds the options of its declaration.
 * @param given options; those of a declared queue are the defaults
 * @throws {SluiceError} `invalid_argument`
 */
export function opened<Options extends QueueBaseOptions>(
  definition: QueueOrName<unknown, unknown>,
  given: Options,
): Opened<Options> {
  const { name, options } = nameAndOptions(definition, given);
  queueName(name);
  const transport = checkedTransport(options?.transport);
  const { prefix = transport.prefix, now } = options;
  return { options, queue: { name, prefix, transport, now } };
}

/**
 * How a queue writes and reads its values: in an object store, and encrypted, if it has these options.
 * @throws {SluiceError} `invalid_argument`
 */
export function valuesOf({ options, queue }: Opened<QueueBaseOptions>): Values {
  const offload = checkedOffload(options.offload);
  const values = encrypted(plainValues(offload?.maxBytes), queue.name, checkedEncryption(options.encryption));
  return offload ? offload.values(values, queue) : values;
}
