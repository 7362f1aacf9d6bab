import {
  fetchTopics,
  type Replayed,
  type Subscription,
  type TopicsRef,
} from "../../features/topics/index.ts";
import { onlyOptions, REQUEST_OPTIONS } from "../../kernel/options/validation.ts";
import type { RequestOptions } from "../../kernel/options/types.ts";
import { withPrefix } from "../../kernel/transport.ts";
import type { QueueOrName } from "../definition.ts";
import { type Open, opening, type OpeningOptions } from "../opening.ts";
import { patternOf, type SubscribeOptions, topicOf, type TopicOrName } from "./definition.ts";
import type { TopicMeans } from "./publish.ts";
import type { ReplayOptions } from "./replay.ts";
import { type Subscribed, subscribeQueue, unsubscribeQueue } from "./subscribe.ts";
import { Topic } from "./topic.ts";

/** Options of {@link Topics}: what all queues have in common that get copies. */
export type TopicsOptions = OpeningOptions;

/**
 * Publishes to topics, and operates subscriptions.
 * @example
 * const topics = new Topics({ transport: upstash(env) });
 * await topics.subscribe("billing", "orders.*", { filter: { header: "region", in: ["eu"] } });
 */
export class Topics {
  readonly #means: TopicMeans;

  /**
   * @param given options, or what opens the queues of a service
   * @throws {SluiceError} `invalid_argument`
   */
  constructor(given: TopicsOptions | { readonly open: Open }) {
    const open = "open" in given ? given.open : opening(withPrefix(given.transport, given));
    this.#means = { open, ref: refOf(open) };
  }

  /** A topic, by its declaration or its name. @throws {SluiceError} `invalid_argument` */
  topic<In = unknown>(topic: TopicOrName<In>): Topic<In> {
    return new Topic(topicOf(topic), this.#means);
  }

  /** All subscriptions, by queue and topic. One request. @throws {SluiceError} */
  async subscriptions(options: RequestOptions = {}): Promise<readonly Subscription[]> {
    onlyOptions(options, REQUEST_OPTIONS);
    return (await fetchTopics(this.#means.ref, { signal: options.signal })).topics.subscriptions;
  }

  /**
   * Subscribes a queue, as `Topic.subscribe`.
   * @param topic a topic, or a pattern: `*` is one word between dots, `#` any number of words
   * @throws {SluiceError}
   */
  async subscribe(
    queue: QueueOrName<unknown, unknown>,
    topic: TopicOrName,
    options: SubscribeOptions & RequestOptions = {},
  ): Promise<Subscribed> {
    return subscribeQueue(this.#means, queue, patternOf(topic), options, () => encryptionOf(topic));
  }

  /**
   * Ends the subscription of a queue, as `Topic.unsubscribe`.
   * @param topic a topic, or a pattern as it was subscribed
   * @returns whether there was one
   * @throws {SluiceError}
   */
  async unsubscribe(
    queue: QueueOrName<unknown, unknown>,
    topic: TopicOrName,
    options: RequestOptions = {},
  ): Promise<boolean> {
    return unsubscribeQueue(this.#means, queue, patternOf(topic), options);
  }

  /** Replays what a topic has retained, as `Topic.replay`. @throws {SluiceError} */
  async replay(
    queue: QueueOrName<unknown, unknown>,
    topic: TopicOrName,
    options: ReplayOptions & RequestOptions,
  ): Promise<Replayed> {
    return this.topic(topic).replay(queue, options);
  }
}

const encryptionOf = (topic: TopicOrName) =>
  typeof topic === "string" ? undefined : topic.options.encryption;

/** Where the topics of a service are: where its queues are. */
export function refOf(open: Open): TopicsRef {
  // Any queue is opened with the options of the service.
  const { transport, prefix = transport.prefix, now } = open("topics").options;
  return { transport, prefix, now };
}
