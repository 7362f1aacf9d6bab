import { callOf, type QueueBinding } from "../redis/binding.ts";
import { queueKeys, type Keys } from "../core/keys.ts";
import type { OnDeadLetter } from "../core/dead-letter.ts";
import { derivedName, newToken } from "../core/ids.ts";
import { nameAndOptions, type QueueOrName } from "./definition.ts";
import { optionalFunction, queueName, requestKey } from "../core/validation.ts";
import { lastReply } from "../redis/replies.ts";
import { redisTime } from "../redis/clock.ts";
import { checkedEncryption, type MaybeEncryption, type ValuesQueue } from "../values/encryption.ts";
import { checkedTransport, type SendOptions, type Transport } from "../redis/transport.ts";
import type { RequestOptions } from "../core/types.ts";
import { CheckedWaker, type Waker } from "./waker.ts";

export interface QueueBaseOptions {
  /** How to reach Redis, such as `upstash(env)`. */
  readonly transport: Transport;
  /** First part of every key. @default "sluice" */
  readonly prefix?: string | undefined;
  /**
   * Encrypts and decrypts payloads, results, errors and progress: `encryption()` of
   * `sluice-queue/encryption`. Null returns encrypted values as bytes.
   * @default values are not encrypted, and encrypted ones cannot be read
   */
  readonly encryption?: MaybeEncryption;
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

/** A queue and its transport: the base of all classes that work on a queue. */
export class QueueBase {
  readonly name: string;
  protected readonly transport: Transport;
  protected readonly keys: Keys;
  /** The name and encryption of the queue, to encrypt and decrypt values. */
  protected readonly values: ValuesQueue;
  protected readonly waker: CheckedWaker | undefined;
  protected readonly onDeadLetter: OnDeadLetter | undefined;
  readonly #now: (() => number) | undefined;

  /**
   * @param queue its name, `^[A-Za-z0-9_-][A-Za-z0-9_.-]{0,127}$`, or a queue that `defineQueue` made
   * @throws {SluiceError} `invalid_argument`
   */
  constructor(queue: QueueOrName<unknown, unknown>, given: QueueBaseOptions) {
    const { name, options } = nameAndOptions(queue, given);
    this.name = queueName(name);
    this.transport = checkedTransport(options?.transport);
    this.keys = queueKeys(name, options.prefix);
    this.values = { name, encryption: checkedEncryption(options.encryption) };
    this.waker = options.wake && new CheckedWaker(options.wake);
    this.onDeadLetter = optionalFunction(options.onDeadLetter, "onDeadLetter");
    this.#now = options.now;
  }

  /** The test clock as the scripts take it; empty for Redis's own time. */
  protected testNow(): string {
    return this.#now ? String(this.#now()) : "";
  }

  /** The time of the scripts, epoch ms, as nearly as this instance knows it. */
  protected scriptTime(): number {
    return this.#now ? this.#now() : redisTime(this.transport);
  }

  /** How long a wake of the queue's consumer counts, ms, as the scripts take it; empty if none is to be woken. */
  protected get wakeWindow(): string {
    return this.waker?.window(this.name) ?? "";
  }

  /** The token of one call. It derives from the idempotency key, if there is one. */
  protected async token(operation: string, options: RequestOptions): Promise<string> {
    const key = requestKey(options);
    return key === undefined ? newToken() : derivedName(operation, this.name, key);
  }

  /** Runs one script, in one request, and reads its reply. */
  protected async run<const B extends QueueBinding>(
    binding: B,
    args: Parameters<typeof callOf<B>>[2],
    items: Parameters<typeof callOf<B>>[3] = [],
    options: SendOptions = {},
  ): Promise<ReturnType<B["decode"]>> {
    const call = callOf(binding, this.keys, args, items);
    return binding.decode(lastReply(await this.transport.send([call], options))) as ReturnType<B["decode"]>;
  }
}
