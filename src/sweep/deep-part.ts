/** What a feature does in a deep sweep, beside the check of each queue. */
import type { QueueRef } from "../kernel/queue-ref.ts";
import type { Shard } from "../kernel/shard.ts";
import type { Fault } from "../kernel/errors/faults.ts";
import type { SendOptions, Transport } from "../kernel/transport.ts";

/** Collects what a deep sweep finds in one queue. */
export interface Findings {
  /** @param entries how many more entries were checked */
  checked(entries: number): void;
  /** @param id of the task, or the name of the group, worker, schedule or control field */
  found(fault: Fault, id: string): void;
}

/** What one script call finds in a queue. */
export interface QueueCheck {
  /** True if it has no fault except perhaps in its schedules; null if the queue is too large for one call. */
  readonly valid: boolean | null;
  readonly entries: number;
  readonly hasSchedules: boolean;
  /** Whether it may have nodes of flows that have not ended. */
  readonly hasFlows: boolean;
}

export interface CheckOptions {
  readonly prefix?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly now?: (() => number) | undefined;
}

/**
 * Checks queues or partitions, in one request, and changes nothing. One whose check fails is not in the result.
 * @param names such as `emails`, or `emails/3` for a partition
 */
export type CheckQueues = (
  transport: Transport,
  names: readonly string[],
  options: CheckOptions,
) => Promise<ReadonlyMap<string, QueueCheck>>;

/** The part of a feature in deep sweeps. */
export interface DeepSweepPart {
  /**
   * The names that the registry has of queues that are divided. One request.
   * @returns those of some or all of the queues
   */
  readonly namesOf?: (
    queues: readonly string[],
    where: SendOptions & { readonly transport: Transport; readonly prefix?: string | undefined },
  ) => Promise<ReadonlyMap<string, readonly string[]>>;
  /**
   * The same for a queue whose own keys hold values of another type.
   * @returns undefined if it is not divided
   */
  readonly namesOfMarked?: (queue: QueueRef, options: SendOptions) => Promise<readonly string[] | undefined>;
  /**
   * Repairs what the feature keeps under the keys of a queue, or of a part of it.
   * @param checked undefined if the check failed, or an earlier sweep made it
   * @throws {SluiceError} why it cannot be repaired
   */
  readonly repair?: (
    shard: Shard,
    checked: QueueCheck | undefined,
    findings: Findings,
    options: SendOptions,
  ) => Promise<void>;
}
