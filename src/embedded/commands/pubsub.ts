import type { Bytes } from "../bytes.ts";
import { commands, container, type Context, type Words } from "../command.ts";
import { noReply, type Value } from "../reply.ts";
import { matches } from "./pattern.ts";

const flags = "pubsub noscript loading stale";

export const pubsubCommands = [
  ...commands(
    ["@pubsub"],
    [
      ["subscribe", -2, flags, undefined, (context, words) => subscribe(context, words, "channels")],
      ["psubscribe", -2, flags, undefined, (context, words) => subscribe(context, words, "patterns")],
      ["unsubscribe", -1, flags, undefined, (context, words) => unsubscribe(context, words, "channels")],
      ["punsubscribe", -1, flags, undefined, (context, words) => unsubscribe(context, words, "patterns")],
      [
        "publish",
        3,
        "pubsub loading stale fast",
        undefined,
        ({ server }, [, channel = "", message = ""]) => server.publish(channel, message),
      ],
    ],
  ),
  container(
    "pubsub",
    commands(
      ["@pubsub"],
      [
        ["pubsub|channels", -2, "pubsub loading stale", undefined, channels],
        [
          "pubsub|numsub",
          -2,
          "pubsub loading stale",
          undefined,
          ({ server }, [, , ...names]) =>
            names.flatMap((name) => [
              name,
              [...server.clients].filter(({ channels }) => channels.has(name)).length,
            ]),
        ],
        [
          "pubsub|numpat",
          2,
          "pubsub loading stale",
          undefined,
          ({ server }) => new Set([...server.clients].flatMap(({ patterns }) => [...patterns])).size,
        ],
      ],
    ),
  ),
];

type Kind = "channels" | "patterns";

function subscribe({ client }: Context, [, ...names]: Words, kind: Kind): Value {
  for (const name of names) {
    client[kind].add(name);
    client.push([kind === "channels" ? "subscribe" : "psubscribe", name, client.subscriptions]);
  }
  return noReply;
}

function unsubscribe({ client }: Context, [, ...given]: Words, kind: Kind): Value {
  const names: readonly (Bytes | null)[] = given.length > 0 ? given : [...client[kind]];
  for (const name of names.length > 0 ? names : [null]) {
    if (name !== null) client[kind].delete(name);
    client.push([kind === "channels" ? "unsubscribe" : "punsubscribe", name, client.subscriptions]);
  }
  return noReply;
}

function channels({ server }: Context, [, , pattern = "*"]: Words): Value {
  const all = new Set([...server.clients].flatMap((client) => [...client.channels]));
  return [...all].filter(matches(pattern));
}
