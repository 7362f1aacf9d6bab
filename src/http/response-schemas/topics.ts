import * as v from "valibot";
import { taskId } from "../request-schemas/values.ts";
import { count, described } from "./values.ts";

const queue = v.string();

const copies = described(
  v.array(
    v.object({
      queue,
      created: described(v.boolean(), "False if the queue had it already. Then nothing was added."),
    }),
  ),
  "The queues that have a copy, as a task with the id of the message.",
);

const published = {
  id: described(taskId, "The id of the message, and of its copy in each queue."),
  copies,
};

const reread = described(
  v.boolean(),
  "True if the subscriptions had changed, and new ones got their copies with further requests to Redis.",
);

export const publishedOne = v.object({ ...published, reread });

export const publishedMany = v.object({ messages: v.array(publishedOne) });

/** What became of each message, in a problem. */
export const partlyPublished = described(
  v.array(
    v.object({
      ...published,
      failed: described(
        v.array(v.object({ queue, code: v.string() })),
        "The queues that have no copy, and the code of why.",
      ),
    }),
  ),
  "Of a publish: what became of each message.",
);

export const preview = v.object({
  queues: described(v.array(queue), "The queues that would get a copy."),
  filtered: described(
    v.array(queue),
    "The queues that have subscribed, but would get none, because of their filters.",
  ),
});

const texts = v.array(v.string());

const subscription = v.object({
  topic: described(v.string(), "The topic, or the pattern."),
  queue,
  by: described(
    v.picklist(["deployment", "operator"]),
    "Who has made it: the declaration of the queue, which also removes it, or a request.",
  ),
  filter: described(
    v.array(
      v.object({
        header: v.string(),
        in: v.exactOptional(texts),
        notIn: v.exactOptional(texts),
        exists: v.exactOptional(v.boolean()),
      }),
    ),
    "The conditions that the headers of a message must meet, all of them.",
  ),
});

const subscriptions = described(
  v.array(subscription),
  "Those of the queues that the token may see, by queue and topic.",
);

export const topics = v.object({ subscriptions });

export const topic = v.object({
  topic: v.string(),
  subscriptions,
  retain: described(
    v.nullable(
      v.object({
        for: described(count, "For how long, ms."),
        bytes: described(count, "The most bytes of messages."),
      }),
    ),
    "For how long the topic keeps its messages for replays, as its publishers have declared. null: it does not.",
  ),
});

const replayed = {
  messages: described(count, "How many messages the queue was given. It may have had them already."),
  more: described(v.boolean(), "True if messages are left. The next sweeps give them to the queue."),
};

export const subscribed = v.object({
  topic: v.string(),
  queue,
  created: described(v.boolean(), "False if the subscription was there; then its filter was replaced."),
  replayed: v.exactOptional(
    described(v.object(replayed), "With `since`, if it is new: what was published before."),
  ),
});

export const unsubscribed = v.object({
  topic: v.string(),
  queue,
  removed: described(v.boolean(), "False if there was none."),
});

export const replay = v.object({ topic: v.string(), queue, ...replayed });
