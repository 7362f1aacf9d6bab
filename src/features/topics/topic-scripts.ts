/** Bindings of the scripts in lua/topics. */
import { okay, ReplyReader, type Binding } from "../../kernel/scripts/binding.ts";
import { putSubscriptions } from "../../lua/put-subscriptions.gen.ts";
import { readTopic } from "../../lua/read-topic.gen.ts";
import { trimTopic } from "../../lua/trim-topic.gen.ts";
import type { Reply } from "../../kernel/transport.ts";

export const putSubscriptionsScript = {
  script: putSubscriptions,
  keys: ["topics"],
  args: ["queue", "was", "declared", "most", "first"],
  each: ["pair", "record", "replay"],
  decode: (reply: Reply) => {
    const reader = new ReplyReader("putSubscriptions", reply);
    const status = reader.status("ok", "changed", "full");
    if (status !== "ok") return { status };
    return { status, version: reader.integer(), existed: reader.rest((item) => item.integer() === 1) };
  },
} as const satisfies Binding;

export const readTopicScript = {
  script: readTopic,
  keys: ["messages"],
  args: ["from", "after", "to", "size", "maxBytes"],
  decode: (reply: Reply) => {
    const reader = okay("readTopic", reply);
    return {
      from: Number(reader.text()),
      after: reader.text(),
      more: reader.integer() === 1,
      messages: reader.rest((item) => item.text()),
    };
  },
} as const satisfies Binding;

export const trimTopicScript = {
  script: trimTopic,
  keys: ["messages"],
  args: ["testNow", "keepFor", "most", "maxBytes"],
  decode: (reply: Reply) => {
    const reader = okay("trimTopic", reply);
    return {
      messages: reader.integer(),
      bytes: reader.integer(),
      removed: reader.integer(),
      more: reader.integer() === 1,
    };
  },
} as const satisfies Binding;
