import { endable } from "../../endable.ts";
import { SluiceError } from "../../errors.ts";
import type { QueueRef } from "../queue-ref.ts";
import { queueKeys } from "../names/keys.ts";
import type { SendOptions } from "../transport.ts";
import type { Values } from "../values/values.ts";
import { openReported, readDetails, type ReportedTask } from "./reported-task.ts";

/** The kinds of a queue's events, which its statistics count. */
export const queueEvents = [
  "enqueued",
  "dequeued",
  "completed",
  "requeued",
  "rejected",
  "cancelled",
  "cancelRequested",
  "reclaimed",
  "redriven",
  "deleted",
] as const;

export type QueueEvent = (typeof queueEvents)[number];

/** An event of one or more tasks that one call caused. */
export interface PublishedEvent {
  readonly event: QueueEvent | "progress";
  /** When, epoch ms. */
  readonly at: number;
  /** Ids of the tasks, at most 1,000; only `*` if the queue was deleted. */
  readonly ids: readonly string[];
  /**
   * Of `completed`, `requeued`, `rejected`, `reclaimed` and `progress`: what happened to each of the tasks, in the order
   * of `ids`.
   */
  readonly tasks?: readonly ReportedTask[] | undefined;
}

/** Subscribes to a queue's events; see `Queue.events`. */
export async function subscribeTo(
  { name, prefix, transport }: QueueRef,
  values: Values,
  options: SendOptions,
): Promise<AsyncIterable<PublishedEvent>> {
  if (transport.subscribe === undefined) {
    throw new SluiceError(
      "unsupported",
      "this transport cannot subscribe to a channel; use one of sluice-queue/upstash or sluice-queue/resp",
    );
  }
  const feed = await transport.subscribe(queueKeys(name, prefix).tasks.replace(/tasks$/, "events"), options);
  const messages = feed[Symbol.asyncIterator]();
  const end = () => void messages.return?.().catch(() => {});
  return endable(read({ [Symbol.asyncIterator]: () => messages }, values), end);
}

/** Reads events, and ignores other messages on the channel. */
async function* read(messages: AsyncIterable<string>, values: Values): AsyncGenerator<PublishedEvent, void> {
  for await (const message of messages) {
    const [first = "", ...lines] = message.split("\n");
    const [event = "", at = "", ...ids] = first.split(" ");
    if (!isEvent(event) || !/^\d{1,16}$/.test(at) || ids.length === 0) continue;
    const details = ids.flatMap((id, i) => readDetails(event, id, lines[i]) ?? []);
    const tasks = await Promise.all(details.map((task) => openReported(values, task)));
    yield { event, at: Number(at), ids, ...(tasks.length > 0 && { tasks }) };
  }
}

function isEvent(word: string): word is PublishedEvent["event"] {
  return word === "progress" || (queueEvents as readonly string[]).includes(word);
}
