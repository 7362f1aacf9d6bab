/** Topics over HTTP. */
import { invalidArgument } from "../../errors.ts";
import { type Duration, milliseconds } from "../../kernel/options/duration.ts";
import { MAX_BATCH } from "../../kernel/options/limits.ts";
import type { RequestOptions } from "../../kernel/options/types.ts";
import { listOf, onlyOptions, queueName, REQUEST_OPTIONS } from "../../kernel/options/validation.ts";
import { plainValues } from "../../kernel/values/values.ts";
import { type DefinedOptions, nameAndOptions, type QueueOrName } from "../../open/definition.ts";
import {
  patternOf,
  SUBSCRIBE_OPTIONS,
  type SubscribeOptions,
  topicOf,
  type TopicDefinition,
  type TopicOrName,
} from "../../open/topics/definition.ts";
import type { Published } from "../../open/topics/publish.ts";
import type { ReplayOptions } from "../../open/topics/replay.ts";
import type { Subscribed } from "../../open/topics/subscribe.ts";
import type { NewMessage, Preview, PublishOptions, Topic } from "../../open/topics/topic.ts";
import { given } from "../../pick.ts";
import { Connection, type ConnectionOptions } from "../connection.ts";
import { withFields } from "../fields.ts";
import { fieldsJson, splitOptions } from "../json.ts";
import { MAX_PAYLOAD } from "../new-task.ts";
import { taskJson } from "../values.ts";
import { publishing } from "./publishing.ts";

export { PublishError, type Published } from "../../open/topics/publish.ts";
export type { SubscribeOptions, TopicDefinition, TopicOrName } from "../../open/topics/definition.ts";
export type { ReplayOptions } from "../../open/topics/replay.ts";
export type { Subscribed } from "../../open/topics/subscribe.ts";
export type { NewMessage, Preview, PublishOptions } from "../../open/topics/topic.ts";

/** A `fetch` that adds a `traceparent` lets the copies continue a trace. */
export type TopicClientOptions = Pick<ConnectionOptions, "url" | "token" | "fetch" | "retry">;

/** A subscription, as the server shows it. */
export type ListedSubscription = Pick<
  Awaited<ReturnType<Topic["subscriptions"]>>[number],
  "queue" | "topic" | "by" | "filter"
>;

// Any payload: a queue that takes one type is not one that takes another.
// oxlint-disable-next-line typescript/no-explicit-any
type NamedQueue = QueueOrName<any, any>;

/** A topic over HTTP, with the calls of a `Topic`. */
export interface ClientTopic<In = unknown> {
  readonly name: string;
  /**
   * Adds a copy of a message to each queue that has subscribed. The token needs `enqueue` for a queue with the name of the
   * topic. The server encrypts the copies, as it declares their queues.
   * @throws {PublishError} if a queue has no copy, although it should; the others have theirs
   * @throws {SluiceError}
   */
  publish(payload: In, options?: PublishOptions & RequestOptions): Promise<Published>;
  /** Publishes up to 1,000 messages. @throws {PublishError} @throws {SluiceError} */
  publishMany(messages: readonly NewMessage<In>[], options?: RequestOptions): Promise<readonly Published[]>;
  /** Says who would get a message with these headers. @throws {SluiceError} */
  preview(options?: Pick<PublishOptions, "headers"> & RequestOptions): Promise<Preview>;
  /** The subscriptions to this topic, of queues for which the token has `view`. @throws {SluiceError} */
  subscriptions(options?: RequestOptions): Promise<readonly ListedSubscription[]>;
}

/** Topics over HTTP, as `Topics` of `sluice-queue/topics` has them. The server needs its part `topics`. */
export interface TopicClient {
  /** A topic, by its declaration, whose schema then checks payloads, or its name. @throws {SluiceError} `invalid_argument` */
  topic<In = unknown>(topic: TopicOrName<In>): ClientTopic<In>;
  /** All subscriptions of queues for which the token has `view`. @throws {SluiceError} */
  subscriptions(options?: RequestOptions): Promise<readonly ListedSubscription[]>;
  /**
   * Subscribes a queue. The token needs `admin` for the queue, and for one with the name of the topic; for a pattern, for
   * all queues.
   * @throws {SluiceError}
   */
  subscribe(
    queue: NamedQueue,
    topic: TopicOrName,
    options?: SubscribeOptions & RequestOptions,
  ): Promise<Subscribed>;
  /** Ends the subscription of a queue. @returns whether there was one @throws {SluiceError} */
  unsubscribe(queue: NamedQueue, topic: TopicOrName, options?: RequestOptions): Promise<boolean>;
  /** Gives a queue what the topic has retained. @throws {SluiceError} `invalid_argument` if it has not subscribed */
  replay(
    queue: NamedQueue,
    topic: TopicOrName,
    options: ReplayOptions & RequestOptions,
  ): ReturnType<Topic["replay"]>;
}

/** How long the server replays when a queue subscribes, ms. */
const REPLAY_TIME = 20_000;

/**
 * Makes a client of topics. It is beside `createClient`, whose programs do not pay for it.
 * @param options as those of `createClient`
 * @throws {SluiceError} `invalid_argument` if the URL or the token is missing or invalid
 * @example
 * const topics = createTopicClient({ url: env.SLUICE_URL, token: env.SLUICE_TOKEN });
 * await topics.topic("orders").publish({ order: 17 }, { id: "order-17" });
 */
export function createTopicClient(options: TopicClientOptions): TopicClient {
  const connection = new Connection(options);
  const subscriptionsAt = async (path: string, own: RequestOptions) => {
    onlyOptions(own, REQUEST_OPTIONS);
    type Reply = { readonly subscriptions: readonly ListedSubscription[] };
    const call = { method: "GET", path, replyField: "subscriptions", options: own } as const;
    return (await connection.request<Reply>(call)).subscriptions;
  };

  return {
    topic: <In>(named: TopicOrName<In>): ClientTopic<In> => {
      const topic = topicOf(named);
      const path = pathOf(topic.name);
      const publish = <Reply extends object>(body: string, replyField: string, own: RequestOptions) =>
        publishing<Reply>(options, topic.name, {
          method: "POST",
          path: `${path}/publish`,
          body,
          replyField,
          options: own,
        });
      return {
        name: topic.name,

        async publish(payload, own = {}) {
          const { request, fields } = splitOptions(own);
          const body = await messageJson(topic, { ...fields, payload }, "");
          return withoutFailed(await publish<PublishedReply>(body, "copies", request));
        },

        async publishMany(messages, own = {}) {
          listOf(messages, "messages", MAX_BATCH);
          onlyOptions(own, REQUEST_OPTIONS);
          if (messages.length === 0) return [];
          const all = messages.map((message, i) => messageJson(topic, message, `messages[${i}]`));
          const body = withFields({ messages: `[${(await Promise.all(all)).join()}]` }, "{}");
          type Reply = { readonly messages: readonly PublishedReply[] };
          return (await publish<Reply>(body, "messages", own)).messages.map(withoutFailed);
        },

        async preview(own = {}) {
          const { request, fields } = splitOptions(own);
          const body = await fieldsJson(fields);
          const call = { method: "POST", path: `${path}/preview`, body, replyField: "queues" } as const;
          const { queues, filtered } = await connection.request<Preview>({ ...call, options: request });
          return { queues, filtered };
        },

        subscriptions: (own = {}) => subscriptionsAt(path, own),
      };
    },

    subscriptions: (own = {}) => subscriptionsAt("/v1/topics", own),

    async subscribe(queue, topic, own = {}) {
      onlyOptions(own, [...SUBSCRIBE_OPTIONS, ...REQUEST_OPTIONS]);
      const { request, fields } = splitOptions(own);
      const { filter, since } = fields;
      const body = await fieldsJson({ filter, since: sinceJson(since) });
      const path = subscriptionPath(queue, patternOf(topic));
      const wait = since === undefined ? 0 : REPLAY_TIME;
      return connection.request<Subscribed>({
        method: "PUT",
        path,
        body,
        wait,
        replyField: "created",
        options: request,
      });
    },

    async unsubscribe(queue, topic, own = {}) {
      onlyOptions(own, REQUEST_OPTIONS);
      const path = subscriptionPath(queue, patternOf(topic));
      const call = { method: "DELETE", path, replyField: "removed", options: own } as const;
      return (await connection.request<{ readonly removed: boolean }>(call)).removed;
    },

    async replay(queue, topic, own) {
      onlyOptions(own, ["since", "budget", ...REQUEST_OPTIONS]);
      const { request, fields } = splitOptions(own);
      const { since, budget = REPLAY_TIME } = fields;
      const { name } = topicOf(topic);
      const body = await fieldsJson({ since: sinceJson(since), budget });
      const replied = await connection.request<Awaited<ReturnType<Topic["replay"]>>, "not_found">(
        {
          method: "POST",
          path: `${subscriptionPath(queue, name)}/replay`,
          body,
          wait: milliseconds(budget, "budget"),
          replyField: "messages",
          options: request,
        },
        ["not_found"],
      );
      if (replied === "not_found") throw invalidArgument("queue", `must be subscribed to ${name}: it is not`);
      return { messages: replied.messages, more: replied.more };
    },
  };
}

type PublishedReply = Omit<Published, "failed">;

const withoutFailed = ({ id, copies, reread }: PublishedReply): Published => ({
  id,
  copies,
  failed: [],
  reread,
});

const pathOf = (topic: string) => `/v1/topics/${encodeURIComponent(topic)}`;

function subscriptionPath(queue: NamedQueue, topic: string): string {
  const { name } = nameAndOptions<DefinedOptions<unknown, unknown>>(queue, {});
  return `${pathOf(topic)}/subscriptions/${queueName(name)}`;
}

/** In JSON a number is an instant. */
const sinceJson = (since: Duration | Date | undefined) =>
  typeof since === "number" ? `${since}ms` : since && (typeof since === "string" ? since : Number(since));

/** The JSON of a message. The server checks its options. */
function messageJson<In>(
  { options }: TopicDefinition<In>,
  message: NewMessage<In>,
  at: string,
): Promise<string> {
  const { payload, ...fields } = given(message) as NewMessage<In>;
  const { schema } = options;
  return taskJson({ values: plainValues(MAX_PAYLOAD), schema, fields, at }, payload);
}
