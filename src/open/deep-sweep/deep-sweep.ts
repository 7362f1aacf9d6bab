import { flowsRepair } from "../../features/flows/index.ts";
import { schedulesRepair } from "../../features/schedules/index.ts";
import { partitionsRepair } from "../../features/partitions/stored-maps.ts";
import type { Transport } from "../../kernel/transport.ts";
import { type DeepSweepOptions, type DeepSweepReport, plainDeepSweep } from "../../features/repair/index.ts";

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
  options: DeepSweepOptions = {},
): Promise<DeepSweepReport> {
  return plainDeepSweep(transport, options, [partitionsRepair, schedulesRepair, flowsRepair]);
}
