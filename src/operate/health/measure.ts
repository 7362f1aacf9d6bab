import { LAST_INSTANT } from "../../kernel/options/instants.ts";
import { unescaped } from "../../kernel/options/validation.ts";
import { readWorker } from "../../kernel/record/read-record.ts";
import { countScript } from "../../kernel/scripts/count-script.ts";
import type { ReplyTo, Shard } from "../../kernel/shard.ts";
import type { Transport } from "../../kernel/transport.ts";
import type { ListQueuesOptions } from "../../sweep/registry.ts";
import { type CountReply, type NotCounted, overviewOfParts, readEach } from "../count-queues.ts";
import { groupSettings } from "../settings.ts";
import { failedAttempts, type MinuteCounts, type QueueStatistics } from "../statistics.ts";
import { examineScript } from "./examine-script.ts";
import { skippedOf } from "../../features/schedules/index.ts";
import type { GroupAtLimit, QueueFacts } from "./facts.ts";
import { lastSeen, lostWorkers } from "./lost-workers.ts";
import { readError } from "./quoted-error.ts";
import { OVERDUE } from "./stuck.ts";

/** The next occurrence of a schedule that is paused or has ended, as the feature `schedules` writes it. */
const NEVER = LAST_INSTANT + 1;

const MINUTE = 60_000;

interface Part {
  readonly count: CountReply;
  readonly examined: ReplyTo<typeof examineScript>;
}

/**
 * Measures queues in one request, as {@link queueOverviews} does, with one more script call for each. That costs 2
 * Redis commands if the queue is empty, else some 12 to 20, and up to 8 more if groups are at a limit.
 * @param recent for how long a dead letter is new, and for how long expired leases count, ms
 * @returns a queue that could not be measured has the code of the error
 * @throws {SluiceError} if Redis cannot be reached
 */
export function measureQueues(
  transport: Transport,
  names: readonly string[],
  recent: number,
  options: Pick<ListQueuesOptions, "prefix" | "signal" | "now">,
): Promise<(QueueFacts | NotCounted)[]> {
  const args = { recent: String(recent), late: String(OVERDUE), never: String(NEVER) };
  const callsOf = (shard: Shard) =>
    [shard.call(countScript, { overview: "1" }), shard.call(examineScript, args)] as const;
  return readEach(transport, names, callsOf, options, (parts, queue) =>
    factsOf(
      queue,
      parts.map(([count, examined]) => ({ count: count(), examined: examined() })),
      recent,
    ),
  );
}

function factsOf(queue: string, parts: readonly Part[], recent: number): QueueFacts {
  const { statistics, ...overview } = overviewOfParts(
    parts.map(({ count }) => count),
    queue,
  );
  const { now } = overview;
  const examined = parts.map((part) => part.examined);
  const started = examined.filter(({ work }) => work.since > 0).map(({ work }) => work);
  const [first] = started.toSorted((one, other) => one.since - other.since);
  const workers = examined.flatMap((part) => part.workers);
  const sum = (read: (part: Part["examined"]) => number) =>
    examined.reduce((total, part) => total + read(part), 0);
  return {
    ...overview,
    work: {
      since: first?.since ?? null,
      worker: first && first.worker !== "" ? readWorker(first.worker).name : undefined,
      lease: Math.max(...examined.map(({ work }) => work.lease)),
    },
    ...attemptsOf(examined, statistics, now),
    lastTakenAt:
      lastLeaseOf(parts) ??
      takenUntil(examined) ??
      lastMinuteWith(({ dequeued }) => dequeued, statistics, now),
    lastEndedAt: lastMinuteWith((minute) => minute.completed + failedAttempts(minute), statistics, now),
    workerSeenAt: lastSeen(workers),
    lostWorkers: lostWorkers(workers, now),
    expiring: examined.flatMap(({ work }) => work.expiring),
    requeued: requeuedWithin(statistics, recent, now),
    expired: expiredWithin(statistics, recent, now),
    limited: sum(({ limited }) => limited),
    groups: groupsOf(examined),
    lateSchedules: {
      count: sum(({ lateSchedules }) => lateSchedules.count),
      first: examined.flatMap(({ lateSchedules }) => lateSchedules.first),
    },
    pausedSchedules: examined.flatMap(({ pausedSchedules }) =>
      pausedSchedules.map(({ name, at, record }) => ({ name, at, skipped: skippedOf(record, now) })),
    ),
    newDeadLetters: {
      count: sum(({ newDeadLetters }) => newDeadLetters.count),
      firstAt: Math.min(...examined.flatMap(({ newDeadLetters }) => newDeadLetters.firstAt || [])),
      lastAt: Math.max(...examined.map(({ newDeadLetters }) => newDeadLetters.lastAt)),
    },
  };
}

/** The attempts of all shards, and when a task was completed last. */
function attemptsOf(examined: readonly Part["examined"][], statistics: QueueStatistics, now: number) {
  const parts = examined.map(({ attempts }) => attempts);
  const [last] = parts.toSorted((one, other) => other.lastAt - one.lastAt);
  const counted = lastMinuteWith(({ completed }) => completed, statistics, now);
  const seen = Math.max(...parts.map(({ completedAt }) => completedAt));
  const since = parts.flatMap((part) => (part.failed > 0 ? part.since : []));
  const hasCompleted = statistics.minutes.some(({ completed }) => completed > 0);
  return {
    attempts: {
      tried: parts.reduce((sum, { tried }) => sum + tried, 0),
      failed: parts.reduce((sum, { failed }) => sum + failed, 0),
      since: since.length > 0 ? Math.min(...since) : 0,
      lastAt: last?.lastAt ?? 0,
      id: last?.id ?? "",
      error: readError(last?.error ?? ""),
      workingError: readError(parts.find(({ workingError }) => workingError !== "")?.workingError ?? ""),
    },
    completedAt: Math.max(seen, hasCompleted ? (counted ?? 0) : 0),
    isCompletionKnown: counted !== undefined && counted <= now - MINUTE,
  };
}

/** When the last lease was taken, if in each shard its task is still working. */
function lastLeaseOf(parts: readonly Part[]): number | undefined {
  let last = 0;
  for (const { count, examined } of parts) {
    const leases = count.overview?.leases ?? 0;
    if (leases !== examined.work.lastLease) return undefined;
    last = Math.max(last, examined.work.lastTakenAt);
  }
  return last > 0 ? last : undefined;
}

/** Until when tasks were taken, by the rate of the queue. */
function takenUntil(examined: readonly Part["examined"][]): number | undefined {
  return Math.max(...examined.map((part) => part.takenUntil)) || undefined;
}

/**
 * The end of the last minute that had events of a kind; if none of the last hour had, the beginning of that hour.
 * Undefined if the queue keeps no statistics. Before they were switched on, anything may have happened.
 */
function lastMinuteWith(
  countOf: (minute: MinuteCounts) => number,
  { on, minutes, totals }: QueueStatistics,
  now: number,
): number | undefined {
  const last = minutes.findLast((minute) => countOf(minute) > 0);
  if (last) return Math.min(now, last.startsAt + MINUTE);
  if (!on || totals.since === null) return undefined;
  return Math.max(totals.since, minutes[0]?.startsAt ?? now);
}

/** The leases that expired within a time, to the minute. */
function expiredWithin({ minutes }: QueueStatistics, within: number, now: number): QueueFacts["expired"] {
  const expiredIn = ({ reclaimed, takenBack }: MinuteCounts) => reclaimed - takenBack;
  const recent = minutes.filter((minute) => minute.startsAt + MINUTE > now - within && expiredIn(minute) > 0);
  return {
    leases: recent.reduce((sum, minute) => sum + expiredIn(minute), 0),
    minutes: recent.length,
    lastAt: Math.min(now, (recent.at(-1)?.startsAt ?? -MINUTE) + MINUTE),
  };
}

/** The attempts that failed within a time and are tried again, to the minute. */
function requeuedWithin({ minutes }: QueueStatistics, within: number, now: number): QueueFacts["requeued"] {
  const recent = minutes.filter(({ startsAt, requeued }) => startsAt + MINUTE > now - within && requeued > 0);
  return {
    attempts: recent.reduce((sum, { requeued }) => sum + requeued, 0),
    since: recent[0]?.startsAt ?? 0,
  };
}

/** The groups at a limit, each once: one that goes to another partition has tasks in two. */
function groupsOf(examined: readonly Part["examined"][]): GroupAtLimit[] {
  const found = new Map<string, GroupAtLimit>();
  for (const { group: recorded, settings, ...counts } of examined.flatMap(({ groups }) => groups)) {
    const group = unescaped(recorded);
    const { paused, pausedUntil, maxWorking, rate } = groupSettings(settings);
    const known = found.get(group);
    found.set(group, {
      group,
      paused: paused || (known?.paused ?? false),
      pausedUntil: pausedUntil ?? known?.pausedUntil ?? null,
      maxWorking: maxWorking ?? known?.maxWorking ?? null,
      rate: rate ?? known?.rate ?? null,
      working: counts.working + (known?.working ?? 0),
      limited: counts.limited + (known?.limited ?? 0),
      oldestAt: Math.min(counts.oldestAt, known?.oldestAt ?? counts.oldestAt),
    });
  }
  return [...found.values()];
}
