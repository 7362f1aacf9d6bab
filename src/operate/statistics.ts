import { onAll } from "../kernel/on-all.ts";
import { readFields } from "../kernel/record/settings-record.ts";
import type { RequestOptions } from "../kernel/options/types.ts";
import { onlyOptions, REQUEST_OPTIONS, trueOrFalse } from "../kernel/options/validation.ts";
import { statisticsScript } from "./operate-scripts.ts";
import { queueEvents, type QueueEvent } from "../kernel/tasks/events.ts";
import type { OperatedQueue } from "./operated-queue.ts";

/** How many tasks had each event. */
export type EventCounts = Readonly<Record<QueueEvent, number>>;

/**
 * The upper bounds of the classes of durations, ms. A duration belongs to the first class whose bound is not
 * below it. The last class has no bound.
 */
export const durationBounds = [
  10, 30, 100, 300, 1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000, 3_000_000,
] as const;

/** Durations, counted. */
export interface DurationCounts {
  /** How many there were. */
  readonly count: number;
  /** Their sum, ms. */
  readonly total: number;
  /** How many were in each class of {@link durationBounds}; the last number is of those above all bounds. */
  readonly classes: readonly number[];
}

/**
 * How many calls of each kind there were that caused an event. Calls that found no task are not counted. A settle of
 * more than 240 tasks counts as several.
 */
export interface CallCounts {
  readonly enqueue: number;
  readonly dequeue: number;
  readonly settle: number;
  /** Cancel, sweep, redrive and all others. Of large ones each slice counts, and costs about as much as a call. */
  readonly other: number;
}

/** What happened in a period. */
export interface PeriodCounts extends EventCounts {
  /** All attempts of the tasks that were completed or became dead letters in the period. */
  readonly attempts: number;
  /** The times from the enqueue of a task to its first dequeue. A delay is a part of it. */
  readonly waits: DurationCounts;
  /**
   * The times from a dequeue to its settle. Not counted: expired leases, tasks that are handed back, and those
   * that the settle cancels.
   */
  readonly runs: DurationCounts;
  /** Of the reclaimed tasks, those that an operator took back from their worker. */
  readonly takenBack: number;
  readonly calls: CallCounts;
}

export interface MinuteCounts extends PeriodCounts {
  /** The start of the minute, or of the five minutes, epoch ms. */
  readonly startsAt: number;
}

export interface StatisticsOptions extends RequestOptions {
  /** Whether to also read the last 24 hours. The request is then some five times as large. @default false */
  readonly history?: boolean | undefined;
}

export interface TotalCounts extends PeriodCounts {
  /** The start of the first minute, epoch ms; null if nothing was counted yet. */
  readonly since: number | null;
}

export interface QueueStatistics {
  readonly queue: string;
  /** Whether the queue keeps statistics. If not, all counts are 0. */
  readonly on: boolean;
  /** The last 60 minutes, oldest first. The last one is not over yet. */
  readonly minutes: readonly MinuteCounts[];
  /** The last 24 hours by five minutes, 288 in all, oldest first; the last ones are not over yet. Only on request. */
  readonly history?: readonly MinuteCounts[] | undefined;
  /** Tasks a minute, the mean of the last five full minutes: the rates by which to scale consumers. */
  readonly perMinute: EventCounts;
  /** All since the setting `statistics` was switched on. They begin again at 0 if it is switched off and on. */
  readonly totals: TotalCounts;
}

const MINUTE = 60_000;

/** Minutes that the queue keeps. */
const KEPT_MINUTES = 60;

/** The buckets of the history: how many minutes each has, and how many are a day. */
export const BUCKET_MINUTES = 5;
const KEPT_BUCKETS = 288;

/** Minutes over which rates are averaged. */
const RATE_MINUTES = 5;

/** How many attempts failed: their task was rejected or requeued, or their lease expired. */
export function failedAttempts({ runs, completed, reclaimed }: PeriodCounts): number {
  return runs.count - completed + reclaimed;
}

/** Reads a number of a record by its field. */
type Count = (field: string) => number;

function eventCounts(count: (event: QueueEvent) => number): EventCounts {
  return Object.fromEntries(queueEvents.map((event) => [event, count(event)])) as Record<QueueEvent, number>;
}

/** @param kind `w` or `d`, as in the records */
function durationCounts(count: Count, kind: string): DurationCounts {
  const classes = Array.from({ length: durationBounds.length + 1 }, (_, i) => count(`${kind}${i}`));
  return { count: classes.reduce((sum, number) => sum + number, 0), total: count(`${kind}ms`), classes };
}

function periodCounts(count: Count): PeriodCounts {
  return {
    ...eventCounts(count),
    attempts: count("attempts"),
    takenBack: count("taken"),
    waits: durationCounts(count, "w"),
    runs: durationCounts(count, "d"),
    calls: { enqueue: count("cE"), dequeue: count("cD"), settle: count("cS"), other: count("cO") },
  };
}

/** The counts of a minute without events. Minutes share them, because an overview has thousands of minutes. */
const NOTHING = periodCounts(() => 0);

/** Statistics as the scripts return them: records of the form `1;<minute>;<field>=<number>…`, or empty. */
export interface StoredStatistics {
  /** Of all minutes before that of `current`. */
  readonly totals: string;
  /** Of the last minute that had events. */
  readonly current: string;
  /** Of minutes before it, in any order. */
  readonly minutes: readonly string[];
  /** Of five minutes each, as far as these are before that of `current`, in any order; undefined if not asked for. */
  readonly buckets?: readonly string[] | undefined;
}

/**
 * Reads the statistics of a queue.
 * @param found.now Redis's time, epoch ms
 */
export function readStatistics(
  queue: string,
  { now, on, records }: { now: number; on: boolean; records: StoredStatistics },
): QueueStatistics {
  const { current, buckets, minutes: past } = records;
  const minutes = periodsOf([...past, current], now, 1, KEPT_MINUTES);
  const history = buckets && periodsOf([...buckets, current], now, BUCKET_MINUTES, KEPT_BUCKETS);
  const rated = minutes.slice(-RATE_MINUTES - 1, -1);
  const perMinute = eventCounts(
    (event) => rated.reduce((sum, minute) => sum + minute[event], 0) / RATE_MINUTES,
  );
  return { queue, on, minutes, perMinute, totals: readTotals(records), ...(history && { history }) };
}

/**
 * The last periods of some minutes each, oldest first.
 * @param records of these, and of minutes in them
 */
function periodsOf(records: readonly string[], now: number, length: number, count: number): MinuteCounts[] {
  const last = Math.floor(now / MINUTE / length);
  const counted = new Map<number, PeriodCounts>();
  for (const record of records) {
    const place = Math.floor(minuteOf(record) / length);
    const fields = readFields(record);
    const period = periodCounts((field) => Number(fields.get(field) ?? 0));
    const known = counted.get(place);
    counted.set(place, known ? sumOfPeriods([known, period]) : period);
  }
  return Array.from({ length: count }, (_, i) => {
    const place = last - count + 1 + i;
    return { startsAt: place * length * MINUTE, ...(counted.get(place) ?? NOTHING) };
  });
}

/** Reads the statistics of a queue: see `Operator.statistics`. */
export async function queueStatistics(
  { store }: OperatedQueue,
  options: StatisticsOptions,
): Promise<QueueStatistics> {
  onlyOptions(options, ["history", ...REQUEST_OPTIONS]);
  const args = { history: trueOrFalse(options.history ?? false, "history") ? "1" : "" };
  const found = await onAll(store, (shard) => shard.call(statisticsScript, args), options);
  return sumOfStatistics(Array.from(found.values(), (part) => readStatistics(store.queue.name, part)));
}

/** Reads the sums of all minutes. */
export function readTotals({ totals, current }: Pick<StoredStatistics, "totals" | "current">): TotalCounts {
  const parts = [readFields(totals), readFields(current)];
  const inTotal: Count = (field) => parts.reduce((sum, fields) => sum + Number(fields.get(field) ?? 0), 0);
  const first = minuteOf(totals || current);
  return { since: Number.isNaN(first) ? null : first * MINUTE, ...periodCounts(inTotal) };
}

/** The statistics of a queue, from those of its shards. */
export function sumOfStatistics(parts: readonly QueueStatistics[]): QueueStatistics {
  const [first] = parts;
  if (!first) throw new TypeError("a queue has at least one shard");
  if (parts.length === 1) return first;
  const minutes = sumOfLists(parts.map((part) => part.minutes));
  const histories = parts.flatMap(({ history }) => (history ? [history] : []));
  const events = (of: (part: QueueStatistics) => EventCounts) =>
    eventCounts((event) => parts.reduce((sum, part) => sum + of(part)[event], 0));
  return {
    queue: first.queue,
    on: parts.some(({ on }) => on),
    minutes,
    ...(histories.length > 0 && { history: sumOfLists(histories) }),
    perMinute: events(({ perMinute }) => perMinute),
    totals: sumOfTotals(parts.map(({ totals }) => totals)),
  };
}

/** The sums of the same periods. The last ones of the lists may differ, as the clocks of the partitions' nodes do. */
function sumOfLists(lists: readonly (readonly MinuteCounts[])[]): MinuteCounts[] {
  const startOf = (list: readonly MinuteCounts[]) => list.at(-1)?.startsAt ?? 0;
  const last = lists.reduce((late, list) => (startOf(list) > startOf(late) ? list : late), []);
  const byStart = lists.map((list) => new Map(list.map((period) => [period.startsAt, period])));
  return last.map(({ startsAt }) => {
    const same = byStart.flatMap((periods) => periods.get(startsAt) ?? []);
    return { startsAt, ...sumOfPeriods(same) };
  });
}

/** The totals of a queue, from those of its shards. */
export function sumOfTotals(parts: readonly TotalCounts[]): TotalCounts {
  const known = parts.flatMap(({ since }) => since ?? []);
  return { since: known.length > 0 ? Math.min(...known) : null, ...sumOfPeriods(parts) };
}

function sumOfPeriods(periods: readonly PeriodCounts[]): PeriodCounts {
  if (periods.every((period) => period.calls === NOTHING.calls)) return NOTHING;
  const sum = (read: (period: PeriodCounts) => number) =>
    periods.reduce((total, period) => total + read(period), 0);
  const durations = (kind: "waits" | "runs"): DurationCounts => ({
    count: sum((period) => period[kind].count),
    total: sum((period) => period[kind].total),
    classes: NOTHING[kind].classes.map((_, i) => sum((period) => period[kind].classes[i] ?? 0)),
  });
  const calls = (kind: keyof CallCounts) => sum((period) => period.calls[kind]);
  return {
    ...eventCounts((event) => sum((period) => period[event])),
    attempts: sum(({ attempts }) => attempts),
    takenBack: sum(({ takenBack }) => takenBack),
    waits: durations("waits"),
    runs: durations("runs"),
    calls: {
      enqueue: calls("enqueue"),
      dequeue: calls("dequeue"),
      settle: calls("settle"),
      other: calls("other"),
    },
  };
}

/** NaN without a record. */
function minuteOf(record: string): number {
  return Number.parseInt(record.split(";")[1] ?? "", 10);
}
