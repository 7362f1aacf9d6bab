import { nameOfShard, readShardName, registryKey } from "../kernel/names/keys.ts";
import { nextCursor, onlyOptions, pageArguments } from "../kernel/options/validation.ts";
import { noteRedisTime } from "../kernel/clock.ts";
import { commandCall, exchange, run, scriptCall } from "../kernel/call.ts";
import { timeCall } from "../kernel/lease/peek.ts";
import { testNowOf } from "../kernel/queue-ref.ts";
import { listQueuesScript } from "../kernel/scripts/sweep-scripts.ts";
import { checkedTransport, type Transport, withPrefix } from "../kernel/transport.ts";

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
  /** First part of every key. @default that of the transport, or "sluice" */
  readonly prefix?: string | undefined;
  /** The cursor of the page before. @default the first page */
  readonly cursor?: string | undefined;
  /** About this many queues, 1 to 1,000. @default 100 */
  readonly size?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  /** For tests only: the clock instead of Redis's. */
  readonly now?: (() => number) | undefined;
}

/** A queue, or one of its shards, such as `emails/3`. */
export interface RegisteredShard extends RegisteredQueue {
  /** Whether it has nothing to do now: no task is ready or due. Only of one of several. */
  readonly isIdle: boolean;
}

/** A queue that has schedules, and when a sweep runs them next, epoch ms. */
export interface Reminder {
  readonly queue: string;
  readonly at: number;
}

/** What the registry has: the shards of queues, and reminders. Those of one queue may be on several pages. */
export interface RegistryPage extends Omit<QueuePage, "queues"> {
  readonly queues: readonly RegisteredShard[];
  /** Queues that have a map. One with a single partition, too, may have shares of limits, or have lost its markers. */
  readonly divided: readonly string[];
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
  return { queues: queuesOf(queues), now, cursor };
}

/** Reads a page as {@link listQueues}, with reminders. */
export async function readRegistry(
  transport: Transport,
  options: ListQueuesOptions = {},
): Promise<RegistryPage> {
  onlyOptions(options, ["prefix", "cursor", "size", "signal", "now"]);
  const { prefix, signal, now } = withPrefix(transport, options);
  const args = { testNow: testNowOf({ now }), ...pageArguments(options) };
  const call = scriptCall(listQueuesScript, { queues: registryKey(prefix) }, args);
  const page = await run(transport, call, { signal });
  noteRedisTime(transport, page.now);
  return {
    // What is not a queue begins with a character that no queue's name begins with.
    queues: page.queues
      .filter(({ name }) => !/^[~/]/.test(name))
      .map(({ name, seenAt }) => registeredShard(name, seenAt, page.now)),
    divided: page.queues.filter(({ name }) => name.startsWith("/")).map(({ name }) => name.slice(1)),
    reminders: page.queues
      .filter(({ name }) => name.startsWith("~"))
      .map(({ name, seenAt }) => ({ queue: name.slice(1), at: seenAt })),
    now: page.now,
    cursor: nextCursor(page.cursor),
  };
}

/** @param score as the registry has it */
function registeredShard(name: string, score: number, now: number): RegisteredShard {
  const isIdle = name.includes("/") && (score < 0 || score > now);
  return { name, seenAt: score > now && isIdle ? now : Math.abs(score), isIdle };
}

/**
 * What the registry has of one queue, as a page. The queue is in it even if it is not registered. One request, and
 * another one if it is divided.
 */
export async function readRegistered(
  transport: Transport,
  queue: string,
  { prefix, signal, now: testNow }: Pick<ListQueuesOptions, "prefix" | "signal" | "now"> = {},
): Promise<RegistryPage> {
  const first = scoresCall([`~${queue}`, `/${queue}`], prefix);
  const calls = testNow ? ([first] as const) : ([first, timeCall] as const);
  const [readScores, readTime] = await exchange(checkedTransport(transport), calls, { signal });
  const [reminder = null, count] = readScores();
  const now = testNow?.() ?? (readTime as () => number)();
  noteRedisTime(transport, now);
  const reminders: Reminder[] = reminder === null ? [] : [{ queue, at: Number(reminder) }];
  if (count == null) {
    const queues = [{ name: queue, seenAt: now, isIdle: false }];
    return { queues, divided: [], reminders, now, cursor: null };
  }
  const queues: RegisteredShard[] = [];
  const all = Array.from({ length: Number(count) }, (_, i) => nameOfShard(queue, i));
  const names = [...all, ...all.map((name) => `~${name}`)];
  const scores = await run(transport, scoresCall(names, prefix), { signal });
  for (const [i, name] of all.entries()) {
    const [score = null, at = null] = [scores[i], scores[all.length + i]];
    if (score !== null || i === 0) queues.push(registeredShard(name, Number(score ?? now), now));
    if (at !== null) reminders.push({ queue: name, at: Number(at) });
  }
  return { queues, divided: [queue], reminders, now, cursor: null };
}

/** Reads what the registry has of names. */
function scoresCall(names: readonly string[], prefix: string | undefined) {
  const command = ["ZMSCORE", registryKey(prefix), ...names] as const;
  return commandCall(command, (reply) => reply as readonly (string | null)[]);
}

/** The queues of a page of the registry: those of its shards, each once. */
export function queuesOf(
  registered: readonly { readonly name: string; readonly seenAt: number }[],
): { name: string; seenAt: number }[] {
  const queues = new Map<string, { name: string; seenAt: number }>();
  for (const { name: shard, seenAt } of registered) {
    const { queue: name } = readShardName(shard);
    const known = queues.get(name);
    queues.set(name, { name, seenAt: known ? Math.max(known.seenAt, seenAt) : seenAt });
  }
  return [...queues.values()];
}
