import { SluiceError } from "../errors.ts";
import type { Call, Replies } from "../kernel/call.ts";
import { sumOfCounts, type QueueCounts } from "../kernel/tasks/counts.ts";
import { exchangeByName } from "../features/partitions/stored-maps.ts";
import { countScript } from "../kernel/scripts/count-script.ts";
import { getScript } from "../kernel/scripts/get-script.ts";
import type { Shard } from "../kernel/shard.ts";
import { type Transport, withPrefix } from "../kernel/transport.ts";
import type { ListQueuesOptions } from "../sweep/registry.ts";
import { countCommands } from "./estimated-commands.ts";
import { queueSettings, type QueueSettings } from "./settings.ts";
import {
  readStatistics,
  readTotals,
  sumOfStatistics,
  sumOfTotals,
  type QueueStatistics,
  type TotalCounts,
} from "./statistics.ts";

/** The code of the error that prevented the counts of a queue. */
export interface NotCounted {
  readonly queue: string;
  readonly code: string;
}

/** The counts of a queue, or the code of the error that prevented them. */
export type CountedQueue = QueueCounts | NotCounted;

/** What there is to see of a queue at a glance. */
export interface QueueOverview extends QueueCounts {
  /** Redis's time, epoch ms. */
  readonly now: number;
  /** The number of the last lease. It rises with each delivery. */
  readonly leases: number;
  readonly settings: QueueSettings;
  readonly statistics: QueueStatistics;
  /** How many partitions may have tasks of the queue, those that get no new ones included; 1 without partitions. */
  readonly partitions: number;
}

/** As {@link QueueOverview}, with the sums of the statistics alone. */
export interface QueueTotals extends Omit<QueueOverview, "now" | "leases" | "statistics"> {
  readonly totals: TotalCounts;
  /** About how many Redis commands the counts of all its partitions cost. */
  readonly commands: number;
}

type CountOptions = Pick<ListQueuesOptions, "prefix" | "signal" | "now">;

/**
 * Counts the tasks of several queues in one request. A queue without tasks and workers costs 4 Redis commands,
 * each other one 10 to 14, and 3 more if its next task is cancelled. A fault of one queue does not fail the
 * others.
 *
 * Queues with partitions cost this for each partition, and one command for all of them. A function instance that does
 * not know yet that a queue has partitions needs two requests more.
 * @param names of the queues, in the order of the result
 * @throws {SluiceError} if Redis cannot be reached
 * @example const [emails, reports] = await countQueues(upstash(env), ["emails", "reports"]);
 */
export function countQueues(
  transport: Transport,
  names: readonly string[],
  options: CountOptions = {},
): Promise<CountedQueue[]> {
  return countEach(transport, names, "", options, (parts) => sumOfCounts(parts.map(({ counts }) => counts)));
}

/**
 * As {@link countQueues}, with the settings and statistics of each queue. They cost no further command.
 * @throws {SluiceError} if Redis cannot be reached
 */
export function queueOverviews(
  transport: Transport,
  names: readonly string[],
  options: CountOptions = {},
): Promise<(QueueOverview | NotCounted)[]> {
  return countEach(transport, names, "1", options, overviewOfParts);
}

/**
 * The overview of a queue.
 * @param parts the counts of its shards, with overviews, beginning with place 0
 */
export function overviewOfParts(parts: readonly CountReply[], queue: string): QueueOverview {
  const overviews = parts.map(overviewOf);
  return {
    queue,
    ...sumOfCounts(parts.map(({ counts }) => counts)),
    now: Math.max(...overviews.map(({ now }) => now)),
    leases: overviews.reduce((sum, { leases }) => sum + leases, 0),
    settings: settingsOf(overviews),
    statistics: sumOfStatistics(
      overviews.map(({ now, settings: stored, records }) =>
        readStatistics(queue, { now, on: queueSettings(stored).statistics, records }),
      ),
    ),
    partitions: parts.length,
  };
}

/**
 * As {@link queueOverviews}, without the minutes of the statistics, which are most of the bytes of an overview.
 * @throws {SluiceError} if Redis cannot be reached
 */
export function queueTotals(
  transport: Transport,
  names: readonly string[],
  options: CountOptions = {},
): Promise<(QueueTotals | NotCounted)[]> {
  return countEach(transport, names, "totals", options, (parts) => {
    const overviews = parts.map(overviewOf);
    return {
      ...sumOfCounts(parts.map(({ counts }) => counts)),
      settings: settingsOf(overviews),
      totals: sumOfTotals(overviews.map(({ records }) => readTotals(records))),
      partitions: parts.length,
      commands: parts.reduce((sum, { counts }) => sum + countCommands(counts), 0),
    };
  });
}

/**
 * The queues that have a task with this id, in one request. One that cannot be read is left out.
 * @throws {SluiceError} if Redis cannot be reached
 */
export async function queuesWithTask(
  transport: Transport,
  names: readonly string[],
  id: string,
  options: CountOptions,
): Promise<readonly string[]> {
  const { prefix, signal, now } = withPrefix(transport, options);
  const callsOf = (shard: Shard) => [shard.call(getScript, { id, payload: "" })] as const;
  const read = await exchangeByName({ transport, prefix, now }, names, callsOf, { signal });
  return names.filter((name) => read.get(name)?.some(({ replies: [task] }) => orNothing(task)));
}

function orNothing<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof SluiceError)) throw error;
    return undefined;
  }
}

export type CountReply = ReturnType<typeof countScript.decode>;
type Overview = NonNullable<CountReply["overview"]>;

function overviewOf({ overview }: CountReply): Overview {
  if (!overview) throw new SluiceError("unexpected_reply", "the script count returned no overview");
  return overview;
}

/** The settings of a queue: those of partition 0. */
function settingsOf([first]: readonly Overview[]): QueueSettings {
  return queueSettings(first?.settings ?? {});
}

/** @param read makes the result of a queue from the replies of its partitions, beginning with partition 0 */
function countEach<Counted extends object>(
  transport: Transport,
  names: readonly string[],
  overview: string,
  options: CountOptions,
  read: (parts: readonly CountReply[], queue: string) => Counted,
): Promise<(({ readonly queue: string } & Counted) | NotCounted)[]> {
  const callsOf = (shard: Shard) => [shard.call(countScript, { overview })] as const;
  return readEach(transport, names, callsOf, options, (parts, queue) =>
    read(
      parts.map(([counts]) => counts()),
      queue,
    ),
  );
}

/**
 * Makes the same calls on several queues, in one request. A fault of one queue does not fail the others.
 * @param callsOf the calls for one shard. At least one of them must fail on a key of another type
 * @param read makes the result of a queue from the replies of its shards, beginning with place 0
 * @throws {SluiceError} if Redis cannot be reached
 */
export async function readEach<const Calls extends readonly Call<unknown>[], Result extends object>(
  transport: Transport,
  names: readonly string[],
  callsOf: (shard: Shard) => Calls,
  options: CountOptions,
  read: (parts: readonly Replies<Calls>[], queue: string) => Result,
): Promise<(({ readonly queue: string } & Result) | NotCounted)[]> {
  if (names.length === 0) return [];
  const { prefix, signal, now } = withPrefix(transport, options);
  const found = await exchangeByName({ transport, prefix, now }, names, callsOf, { signal });
  return names.map((queue) => {
    try {
      const parts = (found.get(queue) ?? []).map(({ replies }) => replies);
      return { queue, ...read(parts, queue) };
    } catch (error) {
      if (!(error instanceof SluiceError)) throw error;
      return { queue, code: error.code };
    }
  });
}
