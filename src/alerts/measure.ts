import { SluiceError } from "../errors.ts";
import { queueKeys } from "../queue/core/keys.ts";
import { queueOverviews } from "../queue/operate/count-queues.ts";
import { readStatistics } from "../queue/operate/statistics.ts";
import { callOf } from "../queue/redis/binding.ts";
import { statisticsScript } from "../queue/redis/operate-scripts.ts";
import { replyAt } from "../queue/redis/replies.ts";
import type { Command, CommandOutcome, Reply } from "../queue/redis/transport.ts";
import type { Measured } from "./conditions.ts";
import type { CheckedRule } from "./rules.ts";
import type { PassContext } from "./types.ts";

/** A queue with the rules that watch it. */
export interface WatchedQueue {
  readonly name: string;
  readonly rules: readonly CheckedRule[];
}

/** What was measured of a queue. */
export interface MeasuredQueue extends Measured {
  /** True if a rule needs statistics and the queue keeps none. */
  readonly lacksStatistics: boolean;
}

/** From when on dead letters are new, epoch ms. */
export type Since = (within: number) => number;

const NO_TASKS = { pending: 0, working: 0, oldestAge: null, paused: false, leases: 0 };

/**
 * Measures queues in one request, and in a second one those with pending tasks whose rules read the counts. So a
 * queue without pending tasks costs one command for the counts.
 * @returns by name; a queue that could not be measured is not in it
 */
export async function measure(
  queues: readonly WatchedQueue[],
  since: Since,
  { transport, prefix, signal, now }: PassContext,
): Promise<Map<string, MeasuredQueue>> {
  const measured = new Map<string, MeasuredQueue>();
  const readers = queues.map((queue) => new QueueReader(queue, since, prefix, now ? String(now()) : ""));
  const commands = readers.flatMap((reader) => reader.commands);
  if (commands.length === 0) return measured;
  const outcomes = await transport.send(commands, { signal });
  const found: { name: string; look: FirstLook }[] = [];
  let at = 0;
  for (const reader of readers) {
    const own = outcomes.slice(at, (at += reader.commands.length));
    try {
      found.push({ name: reader.queue.name, look: reader.read(own) });
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

/** What the first request finds. */
interface FirstLook extends MeasuredQueue {
  readonly hasPending: boolean;
}

/** The commands for one queue in the first request, and how their outcomes are read. */
class QueueReader {
  readonly commands: Command[] = [];
  readonly queue: WatchedQueue;
  readonly #withins: readonly number[];
  readonly #needsCounts: boolean;
  readonly #needsStatistics: boolean;

  constructor(queue: WatchedQueue, since: Since, prefix: string | undefined, testNow: string) {
    this.queue = queue;
    const keys = queueKeys(queue.name, prefix);
    const conditions = queue.rules.map(({ condition }) => condition);
    this.#needsCounts = conditions.some(({ needsCounts }) => needsCounts);
    this.#needsStatistics = conditions.some(({ needsStatistics }) => needsStatistics);
    this.#withins = [...new Set(conditions.flatMap(({ deadLettersWithin: within }) => within ?? []))];
    if (this.#needsCounts) {
      this.commands.push(["EXISTS", keys.pending, keys.fair, keys.limited]);
    }
    for (const within of this.#withins) {
      this.commands.push(["ZCOUNT", keys.dead, `(${since(within)}`, "+inf"]);
    }
    if (this.#needsStatistics) this.commands.push(callOf(statisticsScript, keys, { testNow }));
  }

  /** @throws {SluiceError} if Redis refused a command */
  read(outcomes: readonly CommandOutcome[]): FirstLook {
    let at = 0;
    const next = (): Reply => replyAt(outcomes, at++);
    const hasPending = this.#needsCounts && next() !== 0;
    const deadLetters = new Map(this.#withins.map((within) => [within, Number(next())]));
    const statistics = this.#needsStatistics
      ? readStatistics(this.queue.name, statisticsScript.decode(next()))
      : undefined;
    return {
      hasPending,
      deadLetters,
      lacksStatistics: statistics?.on === false,
      ...(statistics?.on && { minutes: statistics.minutes }),
    };
  }
}
