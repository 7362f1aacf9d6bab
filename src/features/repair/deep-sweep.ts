import { invalidArgument, SluiceError } from "../../errors.ts";
import { checkQueues } from "./check-queues.ts";
import { readCursor, writeCursor } from "./deep-sweep-cursor.ts";
import { DeepPass, isStart, START, type Position } from "./deep-pass.ts";
import type { OnDeadLetter } from "../../kernel/record/dead-letter.ts";
import { deadlineOf, type Duration } from "../../kernel/options/duration.ts";
import { onlyOptions, optionalFunction, wholeNumber } from "../../kernel/options/validation.ts";
import { readShardName } from "../../kernel/names/keys.ts";
import { Shard } from "../../kernel/shard.ts";
import { isWrongType } from "../../kernel/scripts/wrong-type.ts";
import type { DeepSweepPart, QueueCheck } from "../../sweep/deep-part.ts";
import { type DeepSweepReport, placeOf, Report } from "./deep-sweep-report.ts";
import { inOrder, queuesToSweep } from "./queues-to-sweep.ts";
import { type Transport, withPrefix } from "../../kernel/transport.ts";

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
 * Checks queues and partitions one after the other, and repairs what is wrong. What features keep is repaired by parts.
 * @throws {SluiceError} `invalid_argument`, or if Redis cannot be reached. A fault of one queue is in the report instead
 */
export async function plainDeepSweep(
  transport: Transport,
  given: DeepSweepOptions,
  parts: readonly DeepSweepPart[],
): Promise<DeepSweepReport> {
  onlyOptions(given, OPTIONS);
  const options = withPrefix(transport, given);
  optionalFunction(options.onDeadLetter, "onDeadLetter");
  const report = new Report(wholeNumber(options.examples ?? 10, "examples", 0, 1_000));
  const deadline = deadlineOf(options.budget);
  const timeIsUp = () => performance.now() >= deadline;
  const start = readCursor(options.cursor);
  const begun = start && readShardName(start.queue).queue;
  if (options.queue !== undefined && begun !== undefined && begun !== options.queue) {
    throw invalidArgument("cursor", "must be the cursor of an earlier report on this queue");
  }
  const names = await queuesToSweep(transport, options, parts);
  const rest = names.filter((name) => start === undefined || name >= start.queue);
  while (rest.length > 0) {
    const page = rest.splice(0, QUEUES_PER_REQUEST);
    if (report.begun > 0 && timeIsUp()) return report.done(writeCursor(page[0] ?? "", START));
    const continued = start !== undefined && !isStart(start.position) ? start.queue : undefined;
    const unbegun = page.filter((name) => name !== continued);
    const checks = await checkQueues(transport, unbegun, options);
    /** Shards that queues of this page have got meanwhile. */
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
      const left = await sweepQueue(transport, name, position, check, options, parts, report, timeIsUp);
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
  parts: readonly DeepSweepPart[],
  report: Report,
  timeIsUp: () => boolean,
): Promise<Position | readonly string[] | null> {
  const findings = report.begin(name);
  const { queue, place } = readShardName(name);
  const shard = new Shard({ name: queue, prefix, transport, now }, place, name);
  try {
    if (check?.valid === true) {
      findings.checked(check.entries);
    } else {
      const pass = new DeepPass(shard, { signal, onDeadLetter }, findings);
      const rest = await pass.continueFrom(from, timeIsUp);
      if (rest !== null) return rest;
    }
    for (const part of parts) await part.repair?.(shard, check, findings, { signal });
    report.checked.add(queue);
    return null;
  } catch (error) {
    if (!(error instanceof SluiceError)) throw error;
    if (isWrongType(error) && !shard.isPart) {
      for (const part of parts) {
        const names = await part.namesOfMarked?.(shard.queue, { signal });
        if (names) return names;
      }
    }
    // On several nodes or databases others may be reached.
    const isReported = transport.cluster && error.code === "redis_unreachable";
    if (!isReported && !ERRORS_OF_ONE_QUEUE.includes(error.code)) throw error;
    report.failed.push({ ...placeOf(name), code: error.code });
    return null;
  }
}
