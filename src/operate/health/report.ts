import { invalidArgument } from "../../errors.ts";
import { type Duration, milliseconds } from "../../kernel/options/duration.ts";
import { matches, QUEUE_PATTERN, queuePatternForm } from "../../kernel/names/queue-pattern.ts";
import { onlyOptions } from "../../kernel/options/validation.ts";
import type { Transport } from "../../kernel/transport.ts";
import { queueNames } from "../queue-names.ts";
import { LONGEST_STUCK } from "./bounds.ts";
import type { DatabaseCode, DeploymentCode } from "./codes.ts";
import { type DatabaseScope, examineDatabase, examineQueues } from "./examine.ts";
import { type Finding, finding, type Health, worst } from "./finding.ts";
import type { QueueFinding } from "./queue-finding.ts";

/** The most queues of a report. */
const MOST_QUEUES = 1_000;

export interface HealthOptions {
  /** The queues that it looks at: a name, or a pattern such as "emails-*". @default "*" */
  readonly queues?: string | undefined;
  /**
   * How long a queue may be stuck, and how long a dead letter is new, "1s" to "59m". Tasks with a longer lease may
   * work so long.
   * @default "10m"
   */
  readonly after?: Duration | undefined;
  /** First part of every key. @default that of the transport, or "sluice" */
  readonly prefix?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  /** For tests only: the clock instead of Redis's. */
  readonly now?: (() => number) | undefined;
}

/** A finding about the database, the deployment, or a queue. */
export type HealthFinding = Finding<DatabaseCode | DeploymentCode> | QueueFinding;

/** How a queue is. It has counts if it could be read. */
export interface QueueHealth {
  readonly queue: string;
  readonly status: Health;
  readonly pending?: number;
  readonly working?: number;
}

export interface HealthReport {
  /** The worst of the findings. What could not be checked counts as fine. */
  readonly status: Health;
  /** Redis's time, epoch ms. */
  readonly now: number;
  /** First all about the database and the deployment, also what is fine; then what is not fine of each queue, by name. */
  readonly findings: readonly HealthFinding[];
  /** The queues that it looked at, by name. */
  readonly queues: readonly QueueHealth[];
  /** True if there are more queues than a report has. */
  readonly truncated: boolean;
}

/** What limits a report to what its reader may see. */
export interface HealthScope extends DatabaseScope {
  readonly maySee: (queue: string) => boolean;
  /** What the deployment found about itself. @default nothing */
  readonly own?: readonly Finding<DeploymentCode>[] | undefined;
}

const ALL: HealthScope = { maySee: () => true, hasDatabase: true, whose: "this machine" };

/**
 * Looks for all that may be wrong with the queues and their database, and says what to do. At most 1,000 queues: a
 * request for each fifty, and four more. What it says of deliveries and ended tasks is better known of queues that
 * keep statistics.
 * @param transport how to reach Redis, such as `upstash(env)`
 * @throws {SluiceError} `invalid_argument`, or if Redis cannot be reached. A queue that cannot be read is a finding
 * @example
 * const { status, findings } = await queueHealth(upstash(env), { after: "5m" });
 * for (const { about, found, advice } of findings) console.log(`${about}: ${found}`, advice);
 */
export async function queueHealth(transport: Transport, options: HealthOptions = {}): Promise<HealthReport> {
  return healthReport(transport, options, ALL);
}

/** As {@link queueHealth}, of what a reader may see. */
export async function healthReport(
  transport: Transport,
  { queues: pattern = "*", after: given = "10m", ...options }: HealthOptions,
  scope: HealthScope,
): Promise<HealthReport> {
  onlyOptions(options, ["prefix", "signal", "now"]);
  if (typeof pattern !== "string" || !QUEUE_PATTERN.test(pattern))
    throw invalidArgument("queues", queuePatternForm);
  const after = milliseconds(given, "after", { min: 1_000, max: LONGEST_STUCK });
  const database = await examineDatabase(transport, scope, options);
  const isWanted = (name: string) => matches(pattern, name) && scope.maySee(name);
  const { names, truncated } = await queueNames(transport, isWanted, MOST_QUEUES, options);
  const examined = await examineQueues(transport, names, after, options);
  const isUnmatched = pattern !== "*" && names.length === 0;
  const findings = [
    ...database.findings,
    ...(scope.own ?? []),
    // A queue that has been empty for an hour is no longer registered: nothing need be wrong.
    ...(isUnmatched ? [finding("unknown", "no_queue", "queues", `no queue in use matches ${pattern}`)] : []),
    ...examined.flatMap((one) => one.findings),
  ];
  const queues = examined.map(({ queue, findings: own, counts }) => ({
    queue,
    status: worst(own),
    ...counts,
  }));
  return { status: worst(findings), now: database.now, findings, queues, truncated };
}
