import { registryKey } from "../core/keys.ts";
import { nextCursor, onlyOptions, pageArguments } from "../core/validation.ts";
import { lastReply } from "../redis/replies.ts";
import { callOf } from "../redis/binding.ts";
import { listQueuesScript } from "../redis/sweep-scripts.ts";
import { checkedTransport, type Transport } from "../redis/transport.ts";
import type { Reminder } from "../schedules/schedule-pass.ts";

export interface RegisteredQueue {
  readonly name: string;
  /** When the queue was last in use, epoch ms, to within some minutes. */
  readonly seenAt: number;
}

export interface QueuePage {
  readonly queues: readonly RegisteredQueue[];
  /** Redis's time, epoch ms. */
  readonly now: number;
  /** For the next page; null after the last. */
  readonly cursor: string | null;
}

export interface ListQueuesOptions {
  /** First part of every key. @default "sluice" */
  readonly prefix?: string | undefined;
  /** The cursor of the page before. @default the first page */
  readonly cursor?: string | undefined;
  /** About this many queues, 1 to 1,000. @default 100 */
  readonly size?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  /** For tests only: the clock instead of Redis's. */
  readonly now?: (() => number) | undefined;
}

/** A page of the registry: queues, and reminders of schedules. A reminder's queue may be on another page. */
export interface RegistryPage extends QueuePage {
  readonly reminders: readonly Reminder[];
}

/**
 * Reads a page of the registered queues, in no order. If the registry changes between pages, a queue may come
 * twice. No queue that stays registered is missed, as Redis promises for ZSCAN. One request.
 * @param transport how to reach Redis, such as `upstash(env)`
 * @throws {SluiceError}
 * @example const { queues, cursor } = await listQueues(upstash(env))
 */
export async function listQueues(transport: Transport, options: ListQueuesOptions = {}): Promise<QueuePage> {
  const { queues, now, cursor } = await readRegistry(transport, options);
  return { queues, now, cursor };
}

/** Reads a page as {@link listQueues}, with reminders. */
export async function readRegistry(
  transport: Transport,
  options: ListQueuesOptions = {},
): Promise<RegistryPage> {
  onlyOptions(options, ["prefix", "cursor", "size", "signal", "now"]);
  const { prefix, signal, now } = options;
  const call = callOf(
    listQueuesScript,
    { queues: registryKey(prefix) },
    { testNow: now ? String(now()) : "", ...pageArguments(options) },
  );
  const page = listQueuesScript.decode(lastReply(await checkedTransport(transport).send([call], { signal })));
  return {
    // A reminder begins with a character that no queue's name begins with.
    queues: page.queues.filter(({ name }) => !name.startsWith("~")),
    reminders: page.queues
      .filter(({ name }) => name.startsWith("~"))
      .map(({ name, seenAt }) => ({ queue: name.slice(1), at: seenAt })),
    now: page.now,
    cursor: nextCursor(page.cursor),
  };
}
