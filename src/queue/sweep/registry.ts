import { registryKey } from "../core/keys.ts";
import { onlyOptions, scanCursor, wholeNumber } from "../core/validation.ts";
import { lastReply } from "../redis/replies.ts";
import { callOf } from "../redis/binding.ts";
import { listQueuesScript } from "../redis/sweep-scripts.ts";
import { checkedTransport, type Transport } from "../redis/transport.ts";
import type { Reminder } from "../schedules/schedule-pass.ts";

export interface RegisteredQueue {
  readonly name: string;
  /** When it was last known to be in use, epoch ms, to within some minutes. */
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
  /** @default "sluice" */
  readonly prefix?: string | undefined;
  /** The cursor of the page before. @default the first page */
  readonly cursor?: string | undefined;
  /** About this many queues, 1 to 1,000. @default 100 */
  readonly size?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  /** For tests only: the clock instead of Redis's. */
  readonly now?: (() => number) | undefined;
}

/** A page of the registry: queues, and reminders of schedules, not of the same queues. */
export interface RegistryPage extends QueuePage {
  readonly reminders: readonly Reminder[];
}

/**
 * A page of the registered queues, in no order. A queue may come twice where the registry changes
 * between pages; none that stays is missed (Redis's promise for ZSCAN).
 * @throws {SluiceError}
 */
export async function listQueues(transport: Transport, options: ListQueuesOptions = {}): Promise<QueuePage> {
  const { queues, now, cursor } = await readRegistry(transport, options);
  return { queues, now, cursor };
}

/** As {@link listQueues}, with reminders. */
export async function readRegistry(
  transport: Transport,
  options: ListQueuesOptions = {},
): Promise<RegistryPage> {
  onlyOptions(options, ["prefix", "cursor", "size", "signal", "now"]);
  const { prefix, cursor = "0", size = 100, signal, now } = options;
  const call = callOf(
    listQueuesScript,
    { queues: registryKey(prefix) },
    {
      testNow: now ? String(now()) : "",
      cursor: scanCursor(cursor),
      size: String(wholeNumber(size, "size", 1, 1_000)),
    },
  );
  const page = listQueuesScript.decode(lastReply(await checkedTransport(transport).send([call], { signal })));
  return {
    // No queue's name begins so.
    queues: page.queues.filter(({ name }) => !name.startsWith("~")),
    reminders: page.queues
      .filter(({ name }) => name.startsWith("~"))
      .map(({ name, seenAt }) => ({ queue: name.slice(1), at: seenAt })),
    now: page.now,
    cursor: page.cursor === "0" ? null : page.cursor,
  };
}
