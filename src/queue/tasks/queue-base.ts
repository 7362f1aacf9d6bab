import { callOf, type QueueBinding } from "../redis/binding.ts";
import { queueKeys, type Keys } from "../core/keys.ts";
import type { OnDeadLetter } from "../core/dead-letter.ts";
import { derivedName } from "../core/derived-ids.ts";
import { newToken } from "../core/ids.ts";
import { nameAndOptions, type QueueOrName } from "./definition.ts";
import { optionalFunction, queueName, requestKey } from "../core/validation.ts";
import { lastReply, replyAt } from "../redis/replies.ts";
import { redisTime } from "../redis/clock.ts";
import { checkedEncryption } from "../values/checked-encryption.ts";
import type { MaybeEncryption, ValuesQueue } from "../values/encryption.ts";
import { checkedOffload, type Offload } from "../values/offload.ts";
import {
  checkedTransport,
  type Command,
  type CommandOutcome,
  type SendOptions,
  type Transport,
} from "../redis/transport.ts";
import type { RequestOptions } from "../core/types.ts";
import { Partitions } from "../partitions/partitions.ts";
import type { PartitionedQueue } from "../partitions/partitioned-queue.ts";
import { isKnownSplit, placeOfMap } from "../partitions/map-memory.ts";
import { isWrongType } from "../partitions/marker.ts";
import { partitionsOf, readMap } from "../partitions/map.ts";
import { partitionCount } from "../partitions/resize.ts";
import { registrations, sendNoted } from "./registration.ts";
import { CheckedWaker, type Waker } from "./waker.ts";

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
   * Over how many partitions the tasks of a queue that has none are to be spread, 1 to 62: each has keys of its own,
   * and may be on another node of a cluster. A queue that has partitions keeps them. `"stored"` reads which it has
   * before the first call, in place of a call that fails because it has some.
   * @default the queue gets none; those that it has are found out
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

/** A queue and its transport: the base of all classes that work on a queue. */
export class QueueBase {
  readonly name: string;
  protected readonly transport: Transport;
  protected readonly keys: Keys;
  /** The name and encryption of the queue, to encrypt and decrypt values. */
  protected readonly values: ValuesQueue;
  protected readonly waker: CheckedWaker | undefined;
  protected readonly onDeadLetter: OnDeadLetter | undefined;
  /** Undefined for a queue that is not known to have partitions, nor to get some. */
  protected partitions: Partitions | undefined;
  /** As they were given, with those of a declared queue. */
  protected readonly options: QueueBaseOptions;

  /**
   * @param queue its name, `^[A-Za-z0-9_-][A-Za-z0-9_.-]{0,127}$`, or a queue that `defineQueue` made
   * @throws {SluiceError} `invalid_argument`
   */
  constructor(queue: QueueOrName<unknown, unknown>, given: QueueBaseOptions) {
    const { name, options } = nameAndOptions(queue, given);
    this.name = queueName(name);
    this.transport = checkedTransport(options?.transport);
    const { prefix = this.transport.prefix } = options;
    this.keys = queueKeys(name, prefix);
    this.options = options;
    const encryption = checkedEncryption(options.encryption);
    const offload = checkedOffload(options.offload);
    const { transport, now, partitions = 1 } = options;
    this.values = { name, prefix, encryption, transport, offload, now, maxPayload: offload?.maxBytes };
    const wanted = partitions === "stored" ? undefined : partitionCount(partitions);
    if (wanted !== 1) this.partitions = this.#newPartitions(wanted);
    else if (isKnownSplit(this.transport, placeOfMap(name, prefix))) this.partitions = this.#newPartitions();
    this.waker = options.wake && new CheckedWaker(options.wake);
    this.onDeadLetter = optionalFunction(options.onDeadLetter, "onDeadLetter");
  }

  /** The test clock as the scripts take it; empty for Redis's own time. */
  protected testNow(): string {
    return String(this.options.now?.() ?? "");
  }

  /** The time of the scripts, epoch ms, as nearly as this instance knows it. */
  protected scriptTime(): number {
    return this.options.now?.() ?? redisTime(this.transport);
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
    partition = 0,
  ): Promise<ReturnType<B["decode"]>> {
    const call = callOf(binding, this.keysOf(partition), args, items);
    return binding.decode(lastReply(await this.transport.send([call], options))) as ReturnType<B["decode"]>;
  }

  /**
   * Runs a call. If it turns out that the queue has partitions, which this object did not know, the call has changed
   * nothing: the queue's own keys hold markers, on which each script fails at its first command. It then runs again.
   * @param run uses the partitions as they are known when it begins
   */
  protected async overPartitions<T>(run: () => Promise<T>, options: SendOptions = {}): Promise<T> {
    const wasSplit = this.partitions?.isSplit === true;
    try {
      return await run();
    } catch (error) {
      if (wasSplit || !isWrongType(error) || !(await this.findPartitions(options.signal))) throw error;
    }
    return run();
  }

  /** The partitions of the queue, if its own keys hold markers. */
  protected async findPartitions(signal: AbortSignal | undefined): Promise<Partitions | undefined> {
    const partitions = this.partitions ?? this.#newPartitions();
    if (!(await partitions.find(signal))) return undefined;
    return (this.partitions = partitions);
  }

  /** The partitions of the queue; undefined if it has none, as far as this instance has read within a minute. */
  protected async split(signal: AbortSignal | undefined): Promise<Partitions | undefined> {
    const { partitions } = this;
    return partitions && (await partitions.map(signal)).version > 0 ? partitions : undefined;
  }

  /** All partitions that may have tasks; 0 alone without partitions. */
  protected async allPartitions({ signal }: SendOptions): Promise<readonly number[]> {
    return this.partitions ? this.partitions.all(signal) : [0];
  }

  /** As {@link allPartitions}, but read from Redis now: a call that changes what all have must not miss one. */
  protected async storedPartitions({ signal }: SendOptions): Promise<readonly number[]> {
    return this.partitions ? partitionsOf(await this.partitions.storedMap(signal)) : [0];
  }

  /**
   * Changes all partitions, those too that another caller adds meanwhile: they may have got the settings from before
   * the change. Of a queue with partitions it reads the map before and after.
   * @param change changes these partitions. Called again for those that were added
   * @returns the partitions in the order of their changes, and what `change` has returned for each of them
   */
  protected async changeAll<Changed>(
    change: (partitions: readonly number[]) => Promise<readonly Changed[]>,
    options: SendOptions,
  ): Promise<{ partitions: readonly number[]; replies: readonly Changed[] }> {
    const partitions: number[] = [];
    const replies: Changed[] = [];
    let missing = await this.storedPartitions(options);
    while (missing.length > 0) {
      replies.push(...(await change(missing)));
      partitions.push(...missing);
      const all = this.partitions ? await this.storedPartitions(options) : partitions;
      missing = all.filter((partition) => !partitions.includes(partition));
    }
    return { partitions, replies };
  }

  /**
   * Runs a script on all partitions, in one request. The request also reads whether these are still all: if not,
   * another one runs it on the others.
   * @returns its reply for each partition
   */
  protected async runOnAll<const B extends QueueBinding>(
    binding: B,
    args: Parameters<typeof callOf<B>>[2],
    items: Parameters<typeof callOf<B>>[3] = [],
    options: SendOptions = {},
  ): Promise<Map<number, ReturnType<B["decode"]>>> {
    const replies = new Map<number, ReturnType<B["decode"]>>();
    let missing = await this.allPartitions(options);
    while (missing.length > 0) {
      const calls = missing.map((partition) => callOf(binding, this.keysOf(partition), args, items));
      const outcomes = await this.sendAndReadMap(calls, options);
      for (const [i, partition] of missing.entries()) {
        replies.set(partition, binding.decode(replyAt(outcomes, i)) as ReturnType<B["decode"]>);
      }
      missing = (await this.allPartitions(options)).filter((partition) => !replies.has(partition));
    }
    return replies;
  }

  /** Sends calls, and in the same request reads which partitions the queue has, if it has any. */
  protected async sendAndReadMap(calls: readonly Command[], options: SendOptions): Promise<CommandOutcome[]> {
    const { partitions } = this;
    if (!partitions?.isSplit) return this.transport.send(calls, options);
    const outcomes = await this.transport.send([...calls, partitions.readCommand()], options);
    const read = outcomes[calls.length];
    // Without the first database, what is known of the partitions still counts.
    if (read && "reply" in read) partitions.remember(readMap(read.reply as string | null));
    return outcomes;
  }

  /**
   * Runs a script on partitions, in one request.
   * @param readies whether it may make tasks ready. The registry then notes the partitions before, so that
   *   consumers look there
   * @returns its reply for each call
   */
  protected async runIn<const B extends QueueBinding>(
    binding: B,
    on: readonly {
      readonly partition: number;
      readonly args: Parameters<typeof callOf<B>>[2];
      readonly items?: Parameters<typeof callOf<B>>[3];
    }[],
    options: SendOptions,
    readies = false,
  ): Promise<ReturnType<B["decode"]>[]> {
    const calls = on.map(({ partition, args, items }) =>
      callOf(binding, this.keysOf(partition), args, items ?? []),
    );
    const note = readies
      ? await this.notes(
          on.map(({ partition }) => partition),
          options,
        )
      : undefined;
    const { noted, outcomes } = await sendNoted(this.transport, [note?.command], calls, options);
    if (noted[0]) note?.done();
    return calls.map((_, i) => binding.decode(replyAt(outcomes, i)) as ReturnType<B["decode"]>);
  }

  /** The note of some partitions in the registry; none for a queue that is not partitioned. */
  protected async notes(partitions: readonly number[], options: SendOptions) {
    if (!(await this.split(options.signal))) return undefined;
    return registrations(
      this.transport,
      [...new Set(partitions)].map((partition) => ({
        keys: this.keysOf(partition),
        name: this.nameOf(partition),
      })),
      this.testNow(),
    );
  }

  /** The queue, for what works on its partitions as a whole. */
  protected partitionedQueue({ signal }: SendOptions): PartitionedQueue {
    const { name, prefix, now } = this.values;
    return { name, prefix, transport: this.transport, signal, now };
  }

  /** The keys of a partition; of a queue without partitions, for 0, its own. */
  protected keysOf(partition: number): Keys {
    if (partition === 0 && !this.partitions) return this.keys;
    return this.storedOrDeclared().keysOf(partition);
  }

  /** As the registry has a partition; of a queue without partitions its own name. */
  protected nameOf(partition: number): string {
    return this.partitions?.nameOf(partition) ?? this.name;
  }

  /** The partitions of a queue that may have some. */
  protected storedOrDeclared(): Partitions {
    return (this.partitions ??= this.#newPartitions());
  }

  #newPartitions(wanted?: number): Partitions {
    return new Partitions({ ...this.partitionedQueue({}), wanted });
  }

  /**
   * Runs a script on one task, where the task is. With partitions it first asks the likeliest one, and if that does not
   * know the task, in a second request all others that may have it. That request also reads whether the map is still
   * the newest.
   * @param isUnknown whether a reply says that the partition does not know the task
   */
  protected async runOn<const B extends QueueBinding>(
    id: string,
    binding: B,
    args: Parameters<typeof callOf<B>>[2],
    isUnknown: (reply: ReturnType<B["decode"]>) => boolean,
    options: SendOptions,
  ): Promise<ReturnType<B["decode"]>> {
    return this.overPartitions(async () => {
      const partitions = await this.split(options.signal);
      if (!partitions) return this.run(binding, args, [], options);
      const [first = 0, ...rest] = await partitions.having(id, options.signal);
      let reply: ReturnType<B["decode"]> = await this.run(binding, args, [], options, first);
      const asked = [first];
      for (let others = rest; isUnknown(reply);) {
        const calls = others.map((partition) => callOf(binding, this.keysOf(partition), args));
        asked.push(...others);
        const outcomes = (await this.sendAndReadMap(calls, options)).slice(0, others.length);
        // A partition that cannot be reached matters only if no other one knows the task.
        for (const outcome of outcomes.toSorted((one, other) => +("error" in one) - +("error" in other))) {
          if (!isUnknown(reply)) break;
          reply = binding.decode(replyAt([outcome], 0)) as ReturnType<B["decode"]>;
        }
        others = (await partitions.having(id, options.signal)).filter((one) => !asked.includes(one));
        if (others.length === 0) break;
      }
      return reply;
    }, options);
  }
}
