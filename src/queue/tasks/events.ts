import { SluiceError } from "../../errors.ts";
import type { Keys } from "../core/keys.ts";
import type { SendOptions, Transport } from "../redis/transport.ts";

/** What happens to tasks: the kinds of a queue's events, and what its statistics count. */
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

/** Something that happened to tasks of a queue, in one call. */
export interface PublishedEvent {
  readonly event: QueueEvent;
  /** When, epoch ms. */
  readonly at: number;
  /** The tasks, at most 1,000; `*` alone where the queue was deleted. */
  readonly ids: readonly string[];
}

/** Subscribes to a queue's events; see `Queue.events`. */
export async function subscribeTo(
  { tasks }: Pick<Keys, "tasks">,
  transport: Transport,
  options: SendOptions,
): Promise<AsyncIterable<PublishedEvent>> {
  if (transport.subscribe === undefined) {
    throw new SluiceError(
      "unsupported",
      "this transport cannot subscribe to a channel; those of sluice-queue/upstash and sluice-queue/resp can",
    );
  }
  return read(await transport.subscribe(tasks.replace(/tasks$/, "events"), options));
}

/** What else somebody publishes on the channel is passed by. */
async function* read(messages: AsyncIterable<string>): AsyncGenerator<PublishedEvent, void> {
  for await (const message of messages) {
    const [event = "", at = "", ...ids] = message.split(" ");
    if (isEvent(event) && /^\d{1,16}$/.test(at) && ids.length > 0) yield { event, at: Number(at), ids };
  }
}

function isEvent(word: string): word is QueueEvent {
  return (queueEvents as readonly string[]).includes(word);
}
