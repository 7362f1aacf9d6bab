import { SluiceError } from "../../errors.ts";
import { type Call, commandCall } from "../../kernel/call.ts";
import type { ReplyTo, Shard } from "../../kernel/shard.ts";
import { exchangeByName } from "../partitions/stored-maps.ts";
import { queueOverviews } from "../../operate/count-queues.ts";
import { readStatistics, sumOfStatistics, type QueueStatistics } from "../../operate/statistics.ts";
import { statisticsScript } from "../../operate/operate-scripts.ts";
import type { Measured } from "./condition.ts";
import { findingsOfQueues } from "./measure-findings.ts";
import type { WatchedQueue } from "./rules.ts";
import type { PassContext } from "./types.ts";

/** What was measured of a queue. */
export interface MeasuredQueue extends Measured {
  /** True if a rule needs statistics and the queue keeps none. */
  readonly lacksStatistics: boolean;
}

interface MeasureContext extends PassContext {
  /** Whether queues may be divided. One more command then reads which have any. */
  readonly divided: boolean;
}

/** From when on dead letters are new, epoch ms. */
export type Since = (within: number) => number;

const NO_TASKS = { pending: 0, working: 0, oldestAge: null, paused: false, leases: 0 };

/**
 * Measures queues: their numbers, and what is wrong with those whose rules watch findings.
 * @returns by name; a queue that could not be measured is not in it
 */
export async function measure(
  queues: readonly WatchedQueue[],
  since: Since,
  context: MeasureContext,
): Promise<Map<string, MeasuredQueue>> {
  const measured = await measureNumbers(queues, since, context);
  for (const [name, findings] of await findingsOfQueues(queues, context)) {
    measured.set(name, { lacksStatistics: false, ...measured.get(name), findings });
  }
  return measured;
}

/**
 * Measures queues in one request, and in a second one those with pending tasks whose rules read the counts. So a
 * queue without pending tasks costs one command for the counts.
 */
async function measureNumbers(
  queues: readonly WatchedQueue[],
  since: Since,
  { transport, prefix, signal, now, divided }: MeasureContext,
): Promise<Map<string, MeasuredQueue>> {
  const measured = new Map<string, MeasuredQueue>();
  const where = { transport, prefix, now };
  const all = queues.map((queue) => [queue.name, new QueueReader(queue, since)] as const);
  const readers = new Map(all.filter(([, reader]) => reader.isNeeded));
  if (readers.size === 0) return measured;
  const watched = [...readers.keys()];
  const callsOf = (shard: Shard) => readers.get(shard.queue.name)?.callsOf(shard) ?? [];
  const replies = await exchangeByName(where, watched, callsOf, { signal }, { readsMaps: divided });
  const found: { name: string; look: FirstLook }[] = [];
  for (const name of watched) {
    try {
      const parts = (replies.get(name) ?? []).flatMap((part) => readers.get(name)?.read(part.replies) ?? []);
      found.push({ name, look: sumOfLooks(parts) });
    } catch (error) {
      // The sweep reports the queue's error.
      if (!(error instanceof SluiceError)) throw error;
    }
  }
  const pending = found.filter(({ look }) => look.hasPending).map(({ name }) => name);
  const overviews = await queueOverviews(transport, pending, { prefix, signal, now });
  const counts = new Map(overviews.map((overview) => [overview.queue, overview]));
  for (const { name, look } of found) {
    const { hasPending, ...rest } = look;
    const counted = hasPending ? counts.get(name) : NO_TASKS;
    measured.set(name, { ...rest, ...(counted && "pending" in counted && { counts: counted }) });
  }
  return measured;
}

/** What the first request finds of one shard. */
interface ShardLook {
  readonly hasPending: boolean;
  readonly deadLetters: ReadonlyMap<number, number>;
  readonly statistics: QueueStatistics | undefined;
}

/** What the first request finds of a queue. */
interface FirstLook extends MeasuredQueue {
  readonly hasPending: boolean;
}

function sumOfLooks(parts: readonly ShardLook[]): FirstLook {
  const withins = parts[0]?.deadLetters.keys() ?? [];
  const deadLetters = Array.from(withins, (within) => {
    return [within, parts.reduce((sum, part) => sum + (part.deadLetters.get(within) ?? 0), 0)] as const;
  });
  const counted = parts.flatMap(({ statistics }) => statistics ?? []);
  const statistics = counted.length > 0 ? sumOfStatistics(counted) : undefined;
  return {
    hasPending: parts.some(({ hasPending }) => hasPending),
    deadLetters: new Map(deadLetters),
    lacksStatistics: statistics?.on === false,
    ...(statistics?.on && { minutes: statistics.minutes }),
  };
}

/** The calls for one queue in the first request, and how their replies are read. */
class QueueReader {
  readonly #name: string;
  readonly #since: Since;
  readonly #withins: readonly number[];
  readonly #needsCounts: boolean;
  readonly #needsStatistics: boolean;

  constructor({ name, rules }: WatchedQueue, since: Since) {
    this.#name = name;
    this.#since = since;
    const conditions = rules.map(({ condition }) => condition);
    this.#needsCounts = conditions.some(({ needsCounts }) => needsCounts);
    this.#needsStatistics = conditions.some(({ needsStatistics }) => needsStatistics);
    this.#withins = [...new Set(conditions.flatMap(({ deadLettersWithin: within }) => within ?? []))];
  }

  /** Whether the first request has anything to read. */
  get isNeeded(): boolean {
    return this.#needsCounts || this.#needsStatistics || this.#withins.length > 0;
  }

  callsOf(shard: Shard): Call<unknown>[] {
    const { pending, fair, limited, dead } = shard.keys;
    const calls: Call<unknown>[] = [];
    if (this.#needsCounts)
      calls.push(commandCall(["EXISTS", pending, fair, limited], (reply) => reply !== 0));
    for (const within of this.#withins)
      calls.push(commandCall(["ZCOUNT", dead, `(${this.#since(within)}`, "+inf"], Number));
    if (this.#needsStatistics) calls.push(shard.call(statisticsScript, { history: "" }));
    return calls;
  }

  /** @throws {SluiceError} if Redis refused a command */
  read(replies: readonly (() => unknown)[]): ShardLook {
    let at = 0;
    const next = () => replies[at++]?.();
    const hasPending = this.#needsCounts && next() === true;
    const deadLetters = new Map(this.#withins.map((within) => [within, next() as number]));
    const statistics = this.#needsStatistics
      ? readStatistics(this.#name, next() as ReplyTo<typeof statisticsScript>)
      : undefined;
    return { hasPending, deadLetters, statistics };
  }
}
