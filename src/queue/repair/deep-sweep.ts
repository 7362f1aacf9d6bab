import { invalidArgument, SluiceError } from "../../errors.ts";
import { checkQueues, type QueueCheck } from "./check-queues.ts";
import { readCursor, writeCursor } from "./deep-sweep-cursor.ts";
import { DeepPass, isStart, START, type Position } from "./deep-pass.ts";
import type { Findings } from "./findings.ts";
import type { OnDeadLetter } from "../core/dead-letter.ts";
import { deadlineOf, type Duration } from "../core/duration.ts";
import type { Fault } from "../core/faults.ts";
import { onlyOptions, optionalFunction, queueName, wholeNumber } from "../core/validation.ts";
import { readPartitionName } from "../core/keys.ts";
import { slicesOf } from "../core/slices.ts";
import { isWrongType } from "../partitions/marker.ts";
import { Partitions } from "../partitions/partitions.ts";
import { findPartitions, partitionNames } from "../partitions/stored-maps.ts";
import { withoutPartitions } from "../partitions/registered.ts";
import { readRegistry } from "../sweep/registry.ts";
import { ScheduleRepair } from "./schedule-repair.ts";
import { type Transport, withPrefix } from "../redis/transport.ts";

export interface DeepSweepOptions {
  /** When to stop and return a cursor. A step that has begun is finished. @default "20s" */
  readonly budget?: Duration | undefined;
  /** The cursor of an earlier report, to continue from there. @default from the beginning */
  readonly cursor?: string | undefined;
  /** First part of every key. @default that of the transport, or "sluice" */
  readonly prefix?: string | undefined;
  /**
   * The only queue to sweep, registered or not, because a failover may have lost the registry too.
   * @default all registered queues
   */
  readonly queue?: string | undefined;
  /** Whether to sweep a registered queue. @default all of them */
  readonly queues?: ((name: string) => boolean) | undefined;
  /** How many ids the report has of each fault in each queue, 0 to 1,000. @default 10 */
  readonly examples?: number | undefined;
  /**
   * Called once with each task that the deep sweep makes a dead letter: it was working without a lease, on
   * its last attempt. Otherwise as for `sweep`.
   * @default none
   */
  readonly onDeadLetter?: OnDeadLetter | undefined;
  /** Aborts the requests; `deepSweep` then throws `aborted`. */
  readonly signal?: AbortSignal | undefined;
  /** For tests only: the clock (epoch ms) instead of Redis's. */
  readonly now?: (() => number) | undefined;
}

const OPTIONS = [
  "budget",
  "cursor",
  "prefix",
  "queue",
  "queues",
  "examples",
  "onDeadLetter",
  "signal",
  "now",
];

/** One kind of fault that was found in one queue, or one of its partitions, and repaired. */
export interface FaultReport {
  readonly queue: string;
  /** The partition; absent for partition 0, and for a queue without partitions. */
  readonly partition?: number | undefined;
  readonly fault: Fault;
  readonly count: number;
  /** Examples: ids of tasks, or names of groups, workers, schedules or control fields. */
  readonly ids: readonly string[];
}

export interface DeepSweepReport {
  /** How many queues were checked to the end; of one with partitions, at least one of them. */
  readonly queues: number;
  /** How many entries were checked. A task counts once for each key that holds it. */
  readonly entries: number;
  /** Empty if everything is valid. */
  readonly faults: readonly FaultReport[];
  /** Queues that could not be checked to the end, each with the code of the error. */
  readonly failed: readonly {
    readonly queue: string;
    readonly partition?: number | undefined;
    readonly code: string;
  }[];
  /** Continues from here with the option `cursor`; null if everything has been checked. */
  readonly cursor: string | null;
}

/** Of how many queues one request reads the partitions. */
const MAPS_PER_REQUEST = 1_000;

/** How many queues or partitions one request checks. */
const QUEUES_PER_REQUEST = 50;

/** Errors that the state of one queue can cause. Any other concerns the connection to Redis. */
const ERRORS_OF_ONE_QUEUE: readonly string[] = [
  "redis_error",
  "newer_schema",
  "queue_full",
  "unexpected_reply",
  "unsupported",
];

/**
 * Finds contradictions in the state of queues, repairs them, and reports what it found. A failover leaves
 * such contradictions if it sets single keys back in time. Tasks that no key lists are listed again, tasks
 * listed twice are listed once, lost leases are reclaimed, unreadable records are set aside, counts are
 * corrected. Valid state is not changed. It can run beside live traffic and other deep sweeps.
 *
 * A small queue without faults costs at most 20 Redis commands; 50 such queues go in one request. Other
 * queues cost about 5 commands for each 100 tasks, 15 if the tasks have groups. A resent call repairs nothing
 * twice, and reports what its own copy found. Each partition of a queue counts as a queue; with `queue`, one more
 * command reads which partitions it has.
 * @param transport how to reach Redis, such as `upstash(env)`
 * @param options by default all registered queues, for 20 s
 * @returns the faults found, and a cursor if the budget ended the sweep first
 * @throws {SluiceError} `invalid_argument`, or if Redis cannot be reached. A fault of one queue is in the
 *   report instead
 * @example
 * let cursor: string | undefined;
 * do {
 *   const report = await deepSweep(transport, { cursor });
 *   for (const { queue, fault, count } of report.faults) console.warn(queue, fault, count);
 *   cursor = report.cursor ?? undefined;
 * } while (cursor !== undefined);
 */
export async function deepSweep(
  transport: Transport,
  given: DeepSweepOptions = {},
): Promise<DeepSweepReport> {
  onlyOptions(given, OPTIONS);
  const options = withPrefix(transport, given);
  optionalFunction(options.onDeadLetter, "onDeadLetter");
  const report = new Report(wholeNumber(options.examples ?? 10, "examples", 0, 1_000));
  const deadline = deadlineOf(options.budget);
  const timeIsUp = () => performance.now() >= deadline;
  const start = readCursor(options.cursor);
  const begun = start && readPartitionName(start.queue).queue;
  if (options.queue !== undefined && begun !== undefined && begun !== options.queue) {
    throw invalidArgument("cursor", "must be the cursor of an earlier report on this queue");
  }
  const { names: queues, partitioned } =
    options.queue === undefined
      ? await registered(transport, options)
      : { names: [queueName(options.queue)], partitioned: true };
  const names = partitioned ? await partitionsOfAll(transport, queues, options) : queues.toSorted(byName);
  const rest = names.filter((name) => start === undefined || name >= start.queue);
  while (rest.length > 0) {
    const page = rest.splice(0, QUEUES_PER_REQUEST);
    if (report.begun > 0 && timeIsUp()) return report.done(writeCursor(page[0] ?? "", START));
    const continued = start !== undefined && !isStart(start.position) ? start.queue : undefined;
    const unbegun = page.filter((name) => name !== continued);
    const checks = await checkQueues(transport, unbegun, options);
    /** Partitions that queues of this page have got meanwhile. */
    const added: string[] = [];
    /** The cursor at a name. What was added before is not passed over. */
    const at = (name: string, position: Position) =>
      added[0] === undefined ? writeCursor(name, position) : writeCursor(added[0], START);
    for (const name of page) {
      const check = checks.get(name);
      // A valid queue takes no more time.
      if (check?.valid !== true && report.begun > 0 && timeIsUp()) {
        return report.done(at(name, START));
      }
      const position = start?.queue === name ? start.position : START;
      const left = await sweepQueue(transport, name, position, check, options, report, timeIsUp);
      if (left && "part" in left) return report.done(at(name, left));
      if (left) added.push(...left);
    }
    rest.unshift(...added.toSorted(byName));
  }
  return report.done(null);
}

/**
 * @returns the position at which to continue; null if the queue was checked to the end; its partitions if it has got
 *   some meanwhile
 */
async function sweepQueue(
  transport: Transport,
  name: string,
  from: Position,
  check: QueueCheck | undefined,
  { prefix, now, signal, onDeadLetter }: DeepSweepOptions,
  report: Report,
  timeIsUp: () => boolean,
): Promise<Position | readonly string[] | null> {
  const findings = report.begin(name);
  const { queue, partition } = readPartitionName(name);
  const base = {
    transport,
    prefix,
    now,
    signal,
    onDeadLetter,
    partitions: isPartition(name) ? "stored" : 1,
  } as const;
  try {
    if (check?.valid === true) {
      findings.checked(check.entries);
    } else {
      const pass = new DeepPass(queue, base, findings, partition);
      const rest = await pass.continueFrom(from, timeIsUp);
      if (rest !== null) return rest;
    }
    if (check?.hasSchedules !== false && partition === 0) {
      const repair = new ScheduleRepair(queue, base, findings);
      await repair.repair(check?.valid === true);
    }
    report.checked.add(queue);
    return null;
  } catch (error) {
    if (!(error instanceof SluiceError)) throw error;
    if (isWrongType(error) && !isPartition(name)) {
      const partitions = new Partitions({ name, prefix, transport, now });
      const found = await partitions.find(signal).catch((other: unknown) => {
        if (!(other instanceof SluiceError) || other.code !== "newer_schema") throw other;
        return false;
      });
      if (found) return partitionNames(name, await partitions.map(signal));
    }
    // On several nodes or databases others may be reached.
    const isReported = transport.cluster && error.code === "redis_unreachable";
    if (!isReported && !ERRORS_OF_ONE_QUEUE.includes(error.code)) throw error;
    report.failed.push({ ...placeOf(name), code: error.code });
    return null;
  }
}

const isPartition = (name: string) => name.includes("/");

/** The registered queues to sweep. */
async function registered(transport: Transport, options: DeepSweepOptions) {
  const { prefix, signal, now, queues = () => true } = options;
  const names = new Set<string>();
  /** Whether the registry shows that queues have partitions. */
  let partitioned = false;
  let cursor: string | undefined;
  do {
    const page = await readRegistry(transport, { prefix, signal, now, cursor, size: 1_000 });
    for (const { name } of withoutPartitions(page.queues)) if (queues(name)) names.add(name);
    partitioned ||= page.partitioned.length > 0;
    cursor = page.cursor ?? undefined;
  } while (cursor !== undefined);
  return { names: [...names], partitioned };
}

const byName = (one: string, other: string) => (one < other ? -1 : 1);

/** The names of all partitions of queues, in order, so that a cursor can name the next. */
async function partitionsOfAll(
  transport: Transport,
  queues: readonly string[],
  { prefix, signal }: DeepSweepOptions,
): Promise<string[]> {
  const names: string[] = [];
  for (const slice of slicesOf(queues, MAPS_PER_REQUEST)) {
    const found = await findPartitions(transport, slice, prefix, { signal });
    for (const queue of slice) {
      names.push(...(found.get(queue) ?? [queue]));
    }
  }
  return names.toSorted(byName);
}

/** A queue and its partition, as a report has them. */
function placeOf(name: string): { queue: string; partition?: number } {
  const { queue, partition } = readPartitionName(name);
  return partition === 0 ? { queue } : { queue, partition };
}

class Report {
  begun = 0;
  /** Queues of which partitions were checked to the end. */
  readonly checked = new Set<string>();
  readonly failed: { queue: string; partition?: number; code: string }[] = [];
  readonly #examples: number;
  readonly #faults = new Map<string, FaultReport & { count: number; ids: string[] }>();
  #entries = 0;

  constructor(examples: number) {
    this.#examples = examples;
  }

  begin(queue: string): Findings {
    this.begun++;
    return {
      checked: (entries) => (this.#entries += entries),
      found: (fault, id) => {
        const known = this.#faults.get(`${queue} ${fault}`) ?? {
          ...placeOf(queue),
          fault,
          count: 0,
          ids: [],
        };
        this.#faults.set(`${queue} ${fault}`, known);
        known.count++;
        const shown = printable(id);
        if (known.ids.length < this.#examples && !known.ids.includes(shown)) known.ids.push(shown);
      },
    };
  }

  done(cursor: string | null): DeepSweepReport {
    const { checked, failed } = this;
    return {
      queues: checked.size,
      entries: this.#entries,
      faults: [...this.#faults.values()],
      failed,
      cursor,
    };
  }
}

/** The visible form of an id: a broken key may hold any bytes in place of one. */
function printable(id: string): string {
  return id.slice(0, 140).replace(/[^ -~]/g, "?");
}
