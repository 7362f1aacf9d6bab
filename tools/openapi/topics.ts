import type { OperationText } from "./operation-text.ts";

const path = "/v1/topics/{topic}";
const subscriptionPath = "/v1/topics/{pattern}/subscriptions/{queue}";
const filter = [{ header: "region", in: ["eu"] }];
const subscription = { topic: "orders.#", queue: "billing", by: "operator", filter };

const published = {
  id: "order-17",
  copies: [
    { queue: "billing", created: true },
    { queue: "search", created: true },
  ],
  reread: false,
};

const ofTopic = "The token needs the scope for a queue with the name of the topic.";

export const topics: readonly OperationText[] = [
  {
    method: "post",
    path: `${path}/publish`,
    operationId: "publish",
    tag: "topics",
    summary: "Publish one message, or up to 1,000",
    description: `Each queue that has subscribed to the topic gets a copy: a task of its own, with the id and the options of the message; what these leave out is as the queue declares it. With an \`id\`, or an \`Idempotency-Key\` from which the ids derive, a request can be resent safely: a queue that has its copy gets no other. If a queue gets none, the problem lists in \`published\` which have theirs. ${ofTopic} Queues whose declaration encrypts payloads get them encrypted, if the server has that declaration.`,
    scopes: ["enqueue"],
    header: "traceparent",
    body: {
      schemas: ["NewTaskOfMany", "NewMessages"],
      required: true,
      examples: {
        one: { payload: { order: 17 }, id: "order-17", headers: { region: "eu" } },
        several: { messages: [{ payload: { order: 17 } }, { payload: { order: 18 }, delay: "5m" }] },
      },
    },
    responses: {
      200: {
        description: "No queue got a new copy: none takes the messages, or all had theirs.",
        schemas: ["Published", "PublishedMany"],
        examples: { "no subscriber": { id: "order-17", copies: [], reread: false } },
      },
      201: {
        description: "At least one queue got a copy.",
        schemas: ["Published", "PublishedMany"],
        examples: { one: published, several: { messages: [published] } },
      },
    },
    problems: ["queue_full", "idempotency_key_reused", "offload_failed", "unsupported"],
  },
  {
    method: "post",
    path: `${path}/preview`,
    operationId: "previewPublish",
    tag: "topics",
    summary: "See who would get a message",
    description: `Publishes nothing. ${ofTopic}`,
    scopes: ["enqueue"],
    body: {
      schemas: ["PreviewPublish"],
      required: false,
      examples: { "of one region": { headers: { region: "us" } } },
    },
    responses: {
      200: {
        description: "The queues.",
        schemas: ["Preview"],
        examples: { two: { queues: ["search"], filtered: ["billing"] } },
      },
    },
  },
  {
    method: "get",
    path: "/v1/topics",
    operationId: "listTopics",
    tag: "topics",
    summary: "List the subscriptions to all topics",
    description: "Lists those of the queues for which the token has the scope.",
    scopes: ["view"],
    responses: {
      200: {
        description: "The subscriptions.",
        schemas: ["Topics"],
        examples: { one: { subscriptions: [subscription] } },
      },
    },
  },
  {
    method: "get",
    path,
    operationId: "getTopic",
    tag: "topics",
    summary: "Get the subscriptions to a topic",
    description:
      "Lists those of the queues for which the token has the scope, also by patterns that match the topic, and for how long the topic keeps its messages.",
    scopes: ["view"],
    responses: {
      200: {
        description: "The subscriptions.",
        schemas: ["Topic"],
        examples: {
          kept: {
            topic: "orders",
            subscriptions: [subscription],
            retain: { for: 86_400_000, bytes: 10_000_000 },
          },
        },
      },
    },
  },
  {
    method: "put",
    path: subscriptionPath,
    operationId: "subscribe",
    tag: "topics",
    summary: "Subscribe a queue to a topic, or to a pattern",
    description:
      "Publishers know of it with their next request. Deployments do not change or remove it. A subscription that is there gets this filter; `since` is for a new one. The token also needs the scope for a queue with the name of the topic, and for a pattern, in which `*` is one word between dots and `#` any number of words, the scope for all queues.",
    scopes: ["admin"],
    body: {
      schemas: ["Subscription"],
      required: false,
      examples: { "one region, and the last two hours": { filter: filter[0], since: "2h" } },
    },
    responses: {
      200: {
        description: "The subscription was there. It has this filter now.",
        schemas: ["Subscribed"],
        examples: { replaced: { topic: "orders", queue: "billing", created: false } },
      },
      201: {
        description: "The queue has subscribed.",
        schemas: ["Subscribed"],
        examples: {
          subscribed: {
            topic: "orders",
            queue: "billing",
            created: true,
            replayed: { messages: 120, more: false },
          },
        },
      },
    },
    problems: ["queue_full", "unsupported"],
  },
  {
    method: "delete",
    path: subscriptionPath,
    operationId: "unsubscribe",
    tag: "topics",
    summary: "End a subscription",
    description:
      "Publishers know of it within a minute. Tasks of the queue stay. A declared subscription comes back when its declaration changes.",
    scopes: ["admin"],
    responses: {
      200: {
        description: "The subscription has ended.",
        schemas: ["Unsubscribed"],
        examples: { removed: { topic: "orders", queue: "billing", removed: true } },
      },
    },
  },
  {
    method: "post",
    path: `${path}/subscriptions/{queue}/replay`,
    operationId: "replayTopic",
    tag: "topics",
    summary: "Give a queue what the topic has kept",
    description:
      "Adds the messages that the topic has kept and that pass the filters of the queue, with their ids: what the queue still knows, it does not get again. If `more`, the next sweeps continue; do not send it again. The token also needs the scope for a queue with the name of the topic.",
    scopes: ["admin"],
    body: { schemas: ["ReplayTopic"], required: true, examples: { "the last two hours": { since: "2h" } } },
    responses: {
      200: {
        description: "The queue has got them.",
        schemas: ["TopicReplayed"],
        examples: { done: { topic: "orders", queue: "billing", messages: 120, more: false } },
      },
    },
    problems: ["not_found", "queue_full", "unsupported"],
  },
];
