import type { Subscriber } from "../../open/topics/apply.ts";
import type { DefinedTopic } from "./define-topic.ts";

/** The declared topics to which queues subscribe. Those behind patterns and names are not known. */
export function topicsOf(
  queues: readonly Pick<Subscriber, "subscribes">[],
): ReadonlySet<Pick<DefinedTopic, "connect" | "requireTransport">> {
  const named = queues.flatMap(({ subscribes }) => [subscribes].flat(2) as unknown[]);
  return new Set(named.filter(isConnectable));
}

/** Whether `defineTopic` made it. Not by its class: a bundle may have two copies of it. */
const isConnectable = (value: unknown): value is DefinedTopic =>
  typeof (Object(value) as Partial<DefinedTopic>).connect === "function";
