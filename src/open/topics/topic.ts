import {
  fetchTopics,
  type Message,
  passes,
  type Replayed,
  type Subscription,
} from "../../features/topics/index.ts";
import { checkAndEncode } from "../../kernel/enqueue/new-tasks.ts";
import { fixedOptions, TASK_OPTIONS, uniqueness, whenReady } from "../../kernel/enqueue/task-options.ts";
import { derivedTaskIds } from "../../kernel/names/derived-ids.ts";
import { matchesWords } from "../../kernel/names/word-pattern.ts";
import { newTaskId } from "../../kernel/names/ids.ts";
import { MAX_BATCH } from "../../kernel/options/limits.ts";
import type { EnqueueOptions, RequestOptions } from "../../kernel/options/types.ts";
import { listOf, onlyOptions, REQUEST_OPTIONS, requestKey, taskId } from "../../kernel/options/validation.ts";
import type { QueueOrName } from "../definition.ts";
import { publishMessages, type Retain } from "./batches.ts";
import { type SubscribeOptions, type TopicDefinition } from "./definition.ts";
import type { Published, TopicMeans } from "./publish.ts";
import { type ReplayOptions, replayTopic } from "./replay.ts";
import { retainingOf } from "./retaining.ts";
import { type Subscribed, subscribeQueue, unsubscribeQueue } from "./subscribe.ts";

/** Options of a message: those of the copy in each queue. */
export type PublishOptions = EnqueueOptions;

/** A message to publish. */
export interface NewMessage<In> extends PublishOptions {
  readonly payload: In;
}

/** Who would get a message. */
export interface Preview {
  /** The queues that would get a copy. */
  readonly queues: readonly string[];
  /** The queues that have subscribed, but would get none, because of their filters. */
  readonly filtered: readonly string[];
}

/**
 * A topic: each queue that has subscribed to it gets a copy of each message, as a task of its own.
 * @example
 * await topic(orders).publish({ order: 17 }, { id: "order-17", headers: { region: "eu" } });
 */
export class Topic<In = unknown> {
  readonly name: string;
  readonly #definition: TopicDefinition<In>;
  readonly #means: TopicMeans;

  /** @param means how it reaches Redis and its queues */
  constructor(definition: TopicDefinition<In>, means: TopicMeans) {
    this.name = definition.name;
    this.#definition = definition;
    this.#means = means;
  }

  /**
   * Adds a copy of a message to each queue that has subscribed, in one request. The copies have the id of the message: a
   * queue that has it already gets none. So a call that has failed can be repeated with its `id` or `idempotencyKey`.
   * With the key, copies that the call before has added count as created.
   * @param payload as that of a task
   * @param options of each copy, such as `id`, `headers` or `delay`; the options of each queue are the defaults
   * @returns which queues have a copy. A message that no queue takes is gone, unless the topic retains it
   * @throws {PublishError} if a queue has no copy, although it should; the others have theirs
   * @throws {SluiceError} `invalid_argument`, `too_large`
   */
  async publish(payload: In, options: PublishOptions & RequestOptions = {}): Promise<Published> {
    onlyOptions(options, [...TASK_OPTIONS, ...REQUEST_OPTIONS]);
    const { signal, idempotencyKey, ...rest } = options;
    const [published] = await this.#publish([{ ...rest, payload }], () => "", { signal, idempotencyKey });
    return published as Published;
  }

  /**
   * Publishes up to 1,000 messages, as {@link publish}, in one request, or in several if they are large.
   * @throws {PublishError} if a queue lacks copies
   * @throws {SluiceError} as {@link publish}; `path` names the message, such as `messages[3].delay`
   */
  async publishMany(
    messages: readonly NewMessage<In>[],
    options: RequestOptions = {},
  ): Promise<readonly Published[]> {
    listOf(messages, "messages", MAX_BATCH);
    onlyOptions(options, REQUEST_OPTIONS);
    const at = (i: number) => `messages[${i}].`;
    for (const [i, message] of messages.entries()) onlyOptions(message, ["payload", ...TASK_OPTIONS], at(i));
    return messages.length === 0 ? [] : this.#publish(messages, at, options);
  }

  async #publish(
    given: readonly NewMessage<In>[],
    at: (i: number) => string,
    options: RequestOptions,
  ): Promise<readonly Published[]> {
    const key = requestKey(options);
    const derived = key === undefined ? () => newTaskId() : await derivedTaskIds(`topic ${this.name}`, key);
    const { schema } = this.#definition.options;
    const texts: string[] = [];
    const messages: Message[] = [];
    for (const [i, { payload, id, ...own }] of given.entries()) {
      // What all queues would refuse is refused before any of them has a copy.
      if (id !== undefined) taskId(id, `${at(i)}id`);
      fixedOptions({}, own, at(i));
      whenReady({}, own, at(i));
      uniqueness({ ...own, id: "id" }, at(i));
      // A queue may keep larger payloads elsewhere.
      const text = checkAndEncode(schema, { payload }, at(i), Infinity);
      texts.push(typeof text === "string" ? text : await text);
      messages.push({ id: id ?? derived(i), payload, options: own });
    }
    const retain: Retain = (part, stored) => retainingOf(this.#means.ref, this.#definition, part, stored);
    const batch = { messages, texts, at };
    return publishMessages(this.#means, this.name, batch, retain, options);
  }

  /**
   * Says who would get a message with these headers, by the subscriptions as they are now. One request.
   * @throws {SluiceError}
   */
  async preview(options: Pick<PublishOptions, "headers"> & RequestOptions = {}): Promise<Preview> {
    onlyOptions(options, ["headers", ...REQUEST_OPTIONS]);
    const { headers } = fixedOptions({}, { headers: options.headers }, "");
    const all = await this.subscriptions({ signal: options.signal });
    const queuesOf = (subscriptions: readonly Subscription[]) => [
      ...new Set(subscriptions.map(({ queue }) => queue)),
    ];
    const queues = queuesOf(all.filter(({ filter }) => passes(filter, headers)));
    return { queues, filtered: queuesOf(all).filter((queue) => !queues.includes(queue)) };
  }

  /**
   * The subscriptions of queues to this topic, also those by patterns. One request.
   * @throws {SluiceError}
   */
  async subscriptions(options: RequestOptions = {}): Promise<readonly Subscription[]> {
    onlyOptions(options, REQUEST_OPTIONS);
    const { topics } = await fetchTopics(this.#means.ref, { signal: options.signal });
    return topics.subscriptions.filter(({ topic }) => matchesWords(topic, this.name));
  }

  /**
   * Subscribes a queue to this topic, or replaces its filter. Publishers know of it with their next call. Deployments do
   * not change what is subscribed so.
   * @param queue that is to get the messages
   * @throws {SluiceError}
   */
  subscribe(
    queue: QueueOrName<unknown, unknown>,
    options: SubscribeOptions & RequestOptions = {},
  ): Promise<Subscribed> {
    return subscribeQueue(this.#means, queue, this.name, options, () => this.#definition.options.encryption);
  }

  /**
   * Ends the subscription of a queue to this topic, also one that is declared. Publishers know of it within a minute.
   * @returns whether there was one; subscriptions by patterns stay
   * @throws {SluiceError}
   */
  unsubscribe(queue: QueueOrName<unknown, unknown>, options: RequestOptions = {}): Promise<boolean> {
    return unsubscribeQueue(this.#means, queue, this.name, options);
  }

  /**
   * Adds what the topic has retained to a queue that has subscribed. What the queue still knows, it does not get again.
   * If it fails on the way, sweeps continue it.
   * @param options from when on, and for how long the call may take
   * @throws {SluiceError} `invalid_argument` if the queue has not subscribed
   */
  replay(queue: QueueOrName<unknown, unknown>, options: ReplayOptions & RequestOptions): Promise<Replayed> {
    return replayTopic(this.#means, queue, this.name, options, () => this.#definition.options.encryption);
  }
}
