import { SluiceError } from "../../errors.ts";
import type { QueueCounts } from "../core/counts.ts";
import { queueKeys } from "../core/keys.ts";
import { callOf } from "../redis/binding.ts";
import { countScript } from "../redis/operate-scripts.ts";
import { replyAt } from "../redis/replies.ts";
import { checkedTransport, type Transport } from "../redis/transport.ts";
import type { ListQueuesOptions } from "../sweep/registry.ts";
import { queueSettings, type QueueSettings } from "./settings.ts";
import { readStatistics, readTotals, type QueueStatistics, type TotalCounts } from "./statistics.ts";

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
}

/** As {@link QueueOverview}, with the sums of the statistics alone. */
export interface QueueTotals extends QueueCounts {
  readonly settings: QueueSettings;
  readonly totals: TotalCounts;
}

type CountOptions = Pick<ListQueuesOptions, "prefix" | "signal" | "now">;

/**
 * Counts the tasks of several queues in one request. A queue without tasks and workers costs 4 Redis commands,
 * each other one 10 to 14, and 3 more if its next task is cancelled. A fault of one queue does not fail the
 * others.
 * @param names of the queues, in the order of the result
 * @throws {SluiceError} if Redis cannot be reached
 * @example const [emails, reports] = await countQueues(upstash(env), ["emails", "reports"]);
 */
export function countQueues(
  transport: Transport,
  names: readonly string[],
  options: CountOptions = {},
): Promise<CountedQueue[]> {
  return countEach(transport, names, "", options, ({ counts }) => counts);
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
  return countEach(transport, names, "1", options, ({ counts, overview }, queue) => {
    if (!overview) throw noOverview();
    const { now, leases, settings: stored, records } = overview;
    const settings = queueSettings(stored);
    const statistics = readStatistics(queue, { now, on: settings.statistics, records });
    return { ...counts, now, leases, settings, statistics };
  });
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
  return countEach(transport, names, "totals", options, ({ counts, overview }) => {
    if (!overview) throw noOverview();
    return { ...counts, settings: queueSettings(overview.settings), totals: readTotals(overview.records) };
  });
}

const noOverview = () => new SluiceError("unexpected_reply", "the script count returned no overview");

async function countEach<Counted extends object>(
  transport: Transport,
  names: readonly string[],
  overview: string,
  { prefix, signal, now }: CountOptions,
  read: (found: ReturnType<typeof countScript.decode>, queue: string) => Counted,
): Promise<(({ readonly queue: string } & Counted) | NotCounted)[]> {
  if (names.length === 0) return [];
  const args = { testNow: now ? String(now()) : "", overview };
  const calls = names.map((name) => callOf(countScript, queueKeys(name, prefix), args));
  const outcomes = await checkedTransport(transport).send(calls, { signal });
  return names.map((queue, i) => {
    try {
      return { queue, ...read(countScript.decode(replyAt(outcomes, i)), queue) };
    } catch (error) {
      if (!(error instanceof SluiceError)) throw error;
      return { queue, code: error.code };
    }
  });
}
