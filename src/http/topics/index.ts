/** The entry of topics: all that programs use, and the part that turns them on in a deployment or an app. */
import { checkedAt } from "../../errors.ts";
import { declarationApplied } from "../../log/lines.ts";
import { topicsOf } from "../../deploy/declared/topics-of.ts";
import { topicsPart } from "../../features/topics/index.ts";
import { applySubscriptions, type Subscriber } from "../../open/topics/apply.ts";
import { opening } from "../../open/opening.ts";
import { subscriptionsOf, type TopicOrName } from "../../open/topics/definition.ts";
import { addingTo } from "../../open/topics/replay.ts";
import { refOf, Topics } from "../../open/topics/topics.ts";
import type { TopicsPart } from "./part.ts";

export { defineTopic, type DefinedTopic, type TopicDeclaration } from "../../deploy/declared/define-topic.ts";
export type { HeaderFilter, Replayed, Subscription, TopicFilter } from "../../features/topics/index.ts";
export type {
  Retain,
  SubscribeOptions,
  Subscribes,
  TopicDefinition,
  TopicOptions,
  TopicOrName,
} from "../../open/topics/definition.ts";
export { type Published, PublishError } from "../../open/topics/publish.ts";
export type { ReplayOptions } from "../../open/topics/replay.ts";
export type { Subscribed } from "../../open/topics/subscribe.ts";
export { type NewMessage, type Preview, type PublishOptions, Topic } from "../../open/topics/topic.ts";
export { Topics, type TopicsOptions } from "../../open/topics/topics.ts";
export type { TopicsPart } from "./part.ts";

/**
 * Topics, for the option `topics` of a deployment, the option `parts` of an app, or the option `also` of a sweep.
 * @example export default sluice({ topics, consumers: [billing.consumer(charge)] });
 */
export const topics: TopicsPart = {
  paths: ["/v1/topics", "/v1/topics/*"],
  routes: async () => (await import("../routes/topics.ts")).topicRoutes,
  sweepPart: topicsPart(({ transport, options: { prefix, now, signal } }) =>
    addingTo({ transport }, opening({ transport, prefix, now }), signal),
  ),
  checkSubscribes: ({ name, subscribes }: Subscriber) =>
    void checkedAt(`${name}.`, () => subscriptionsOf(subscribes)),
  async apply({ queues, open, signal, log }) {
    for (const { queue, ...changes } of await applySubscriptions(
      { open, ref: refOf(open) },
      queues,
      signal,
    )) {
      log(declarationApplied(queue, changes, changes.unsubscribed.length > 0));
    }
  },
  connect: (queues, open) => [...topicsOf(queues)].map((topic) => topic.connect(open)),
  tools: (open) => ({ topic: <In>(topic: TopicOrName<In>) => new Topics({ open }).topic(topic) }),
};
