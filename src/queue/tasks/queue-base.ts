import { callOf, type Binding } from "../redis/binding.ts";
import { queueKeys, type Keys } from "../core/keys.ts";
import { derivedName, newToken } from "../core/ids.ts";
import { queueName, requestKey } from "../core/validation.ts";
import { lastReply } from "../redis/replies.ts";
import { checkedEncryption, type MaybeEncryption, type ValuesQueue } from "../values/encryption.ts";
import { checkedTransport, type SendOptions, type Transport } from "../redis/transport.ts";
import type { RequestOptions } from "../core/types.ts";

export interface HandleOptions {
  readonly transport: Transport;
  /** Front part of every key. @default "sluice" */
  readonly prefix?: string | undefined;
  /**
   * What encrypts payloads, results, errors and progress here, and decrypts them: `encryption()` of
   * `sluice-queue/encryption`. Null gives what is encrypted as it is, as bytes.
   * @default nothing is encrypted, and what is cannot be read
   */
  readonly encryption?: MaybeEncryption;
  /** For tests only: the clock (epoch ms) instead of Redis's. */
  readonly now?: (() => number) | undefined;
}

/** One queue, and the way to its Redis: what everything that works on a queue builds on. */
export class QueueBase {
  readonly name: string;
  protected readonly transport: Transport;
  protected readonly keys: Keys;
  /** Who this is to what encrypts and decrypts. */
  protected readonly values: ValuesQueue;
  readonly #now: (() => number) | undefined;

  /**
   * @param name `^[A-Za-z0-9_-][A-Za-z0-9_.-]{0,127}$`
   * @throws {SluiceError} `invalid_argument`
   */
  constructor(name: string, options: HandleOptions) {
    this.name = queueName(name);
    this.transport = checkedTransport(options?.transport);
    this.keys = queueKeys(name, options.prefix);
    this.values = { name, encryption: checkedEncryption(options.encryption) };
    this.#now = options.now;
  }

  protected testNow(): string {
    return this.#now ? String(this.#now()) : "";
  }

  /** The token of one call: by the caller's idempotency key where there is one. */
  protected async token(operation: string, options: RequestOptions): Promise<string> {
    const key = requestKey(options);
    return key === undefined ? newToken() : derivedName(operation, this.name, key);
  }

  /** Runs one script, in one request, and reads its reply. */
  protected async run<const B extends Binding>(
    binding: B,
    args: Parameters<typeof callOf<B>>[2],
    items: Parameters<typeof callOf<B>>[3] = [],
    options: SendOptions = {},
  ): Promise<ReturnType<B["decode"]>> {
    const call = callOf(binding, this.keys, args, items);
    return binding.decode(lastReply(await this.transport.send([call], options))) as ReturnType<B["decode"]>;
  }
}
