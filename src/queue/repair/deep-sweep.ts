import { invalidArgument, SluiceError } from "../../errors.ts";
import { checkQueues, type QueueCheck } from "./check-queues.ts";
import { readCursor, writeCursor } from "./deep-sweep-cursor.ts";
import { DeepPass, isStart, START, type Position } from "./deep-pass.ts";
import type { OnDeadLetter } from "../core/dead-letter.ts";
import { deadlineOf, type Duration } from "../core/duration.ts";
import { onlyOptions, optionalFunction, wholeNumber } from "../core/validation.ts";
import { readPartitionName } from "../core/keys.ts";
import { Shard } from "../../kernel/shard.ts";
import { isWrongType } from "../redis/wrong-type.ts";
import { Partitions } from "../partitions/partitions.ts";
import { partitionNames } from "../partitions/stored-maps.ts";
import { type DeepSweepReport, placeOf, Report } from "./deep-sweep-report.ts";
import { inOrder, queuesToSweep } from "./queues-to-sweep.ts";
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
  const names = await queuesToSweep(transport, options);
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
    rest.unshift(...inOrder(added));
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
  const shard = new Shard({ name: queue, prefix, transport, now }, partition, name);
  try {
    if (check?.valid === true) {
      findings.checked(check.entries);
    } else {
      const pass = new DeepPass(shard, { signal, onDeadLetter }, findings);
      const rest = await pass.continueFrom(from, timeIsUp);
      if (rest !== null) return rest;
    }
    if (check?.hasSchedules !== false && partition === 0) {
      const repair = new ScheduleRepair(shard, { signal }, findings);
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
