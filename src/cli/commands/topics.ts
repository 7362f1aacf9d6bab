import { Command } from "commander";
import type { ListedSubscription } from "../../client/topics/index.ts";
import { type HeaderFilter, topicName } from "../../features/topics/index.ts";
import { span } from "../../kernel/options/span.ts";
import { operation, type Running, type Session } from "../session.ts";

/** A topic, as the HTTP interface returns it. */
interface ShownTopic {
  readonly subscriptions: readonly ListedSubscription[];
  readonly retain?: { readonly for: number; readonly bytes: number } | null;
}

export function topicsCommand(running: Running): Command {
  const command = new Command("topics")
    .summary("list which queues have subscribed to which topics")
    .description(
      "Lists the subscriptions of queues to topics, of one topic also those by patterns. Deployments make those that queues declare.",
    )
    .argument("[topic]");
  return operation(running, command, async ({ api, out }: Session, _: unknown, topic?: string) => {
    const path = topic === undefined ? "/v1/topics" : `/v1/topics/${topicName(topic, "<topic>")}`;
    const { subscriptions, retain }: ShownTopic = await api.get(path, "subscriptions");
    out.rows(
      subscriptions.toSorted((one, other) => (one.topic < other.topic ? -1 : 1)),
      [
        { title: "TOPIC", copied: true, of: (one) => one.topic },
        { title: "QUEUE", copied: true, of: ({ queue }) => queue },
        {
          title: "FILTER",
          optional: true,
          fills: true,
          of: ({ filter }) => filter.map(filterText).join(", "),
        },
        { title: "BY", of: ({ by }) => by },
      ],
      `No queue has subscribed${topic === undefined ? "" : ` to ${topic}`}.`,
    );
    if (retain)
      out.note(`${topic} keeps its messages for ${span(retain.for)}, at most ${retain.bytes} bytes.`);
  });
}

function filterText(condition: HeaderFilter): string {
  const { header } = condition;
  if ("in" in condition) return `${header} in ${condition.in.join(" ")}`;
  if ("notIn" in condition) return `${header} not in ${condition.notIn.join(" ")}`;
  return `${condition.exists ? "with" : "without"} ${header}`;
}
