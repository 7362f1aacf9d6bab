import { registryKey } from "../core/keys.ts";
import { nextCursor, onlyOptions, pageArguments } from "../core/validation.ts";
import { noteRedisTime } from "../redis/clock.ts";
import { lastReply, replyAt } from "../redis/replies.ts";
import { callOf } from "../redis/binding.ts";
import { listQueuesScript } from "../redis/sweep-scripts.ts";
import { checkedTransport, type Command, type Transport } from "../redis/transport.ts";
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

/** What the registry has: queues, and reminders of schedules. A reminder's queue may be on another page. */
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
  noteRedisTime(transport, page.now);
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

/** What the registry has of one queue, as a page. The queue is in it even if it is not registered. One request. */
export async function readRegistered(
  transport: Transport,
  queue: string,
  { prefix, signal, now: testNow }: Pick<ListQueuesOptions, "prefix" | "signal" | "now"> = {},
): Promise<RegistryPage> {
  const commands: Command[] = [["ZSCORE", registryKey(prefix), `~${queue}`]];
  if (!testNow) commands.push(["TIME"]);
  const outcomes = await checkedTransport(transport).send(commands, { signal });
  const reminder = replyAt(outcomes, 0);
  const [seconds, micros] = testNow ? [] : (replyAt(outcomes, 1) as readonly (string | number)[]);
  const now = testNow ? testNow() : Number(seconds) * 1_000 + Math.floor(Number(micros) / 1_000);
  noteRedisTime(transport, now);
  return {
    queues: [{ name: queue, seenAt: now }],
    reminders: reminder === null ? [] : [{ queue, at: Number(reminder) }],
    now,
    cursor: null,
  };
}
