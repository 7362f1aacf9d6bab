/** Calls of the scripts of topics. */
import { messagesKey, topicsKey } from "../../../src/features/topics/keys.ts";
import * as topics from "../../../src/features/topics/topic-scripts.ts";
import { callOf } from "../../../src/kernel/scripts/binding.ts";
import { lastReply } from "../../../src/kernel/scripts/replies.ts";
import type { Command } from "../../../src/kernel/transport.ts";
import type { Operation } from "./operation.ts";
import { now, type Caller } from "./starting-point.ts";

const keys = { topics: topicsKey(), messages: messagesKey("orders") };

/** Four messages, the first of which has been kept for long enough. */
const messages = ["a", "b", "c", "d"].flatMap((id, i) => [
  String(now() - 200_000 + 50_000 * i),
  `1;2;${id}\n{}j1`,
]);
const publish: Command = ["ZADD", keys.messages, "NX", ...messages];

const subscribing =
  (queue: string, was: string, declared: string, items: readonly (readonly [string, string, string])[]) =>
  async ({ transport }: Caller): Promise<unknown> => {
    const args = { queue, was, declared, most: "100", first: "7" };
    const each = items.map(([pair, record, replay]) => ({ pair, record, replay }));
    const call = callOf(topics.putSubscriptionsScript, keys, args, each);
    return topics.putSubscriptionsScript.decode(lastReply(await transport.send([call])));
  };

const declares = (text: string, was = "") =>
  subscribing("emails", was, text, [
    ["emails orders", "1;d;{}", "1;0;9;;0;0;"],
    ["emails old", "", ""],
  ]);

const subscribes = subscribing("", "", "", [
  ["emails orders.*", "1;o;{}", ""],
  ["emails old", "", ""],
]);

const existed =
  (...those: readonly boolean[]) =>
  (answer: object): unknown => ({ ...answer, existed: those });

export const ofTopics: readonly Operation[] = [
  { script: "putSubscriptions", call: subscribes, again: existed(true, false) },
  {
    script: "putSubscriptions",
    what: "of a declaration",
    call: declares("1;[]"),
    again: existed(true, false),
  },
  {
    script: "readTopic",
    call: async ({ transport }) => {
      const args = { from: "0", after: "", to: String(now()), size: "3", maxBytes: "1000" };
      const outcomes = await transport.send([publish, callOf(topics.readTopicScript, keys, args)]);
      return topics.readTopicScript.decode(lastReply(outcomes));
    },
  },
  {
    script: "trimTopic",
    call: async ({ transport }) => {
      await transport.send([publish]);
      const args = { testNow: String(now()), keepFor: "160000", most: "25", maxBytes: "1000" };
      return topics.trimTopicScript.decode(
        lastReply(await transport.send([callOf(topics.trimTopicScript, keys, args)])),
      );
    },
    again: (answer: object): unknown => ({ ...answer, removed: 0 }),
  },
];
