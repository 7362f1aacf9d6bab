import { runAll } from "../../kernel/call.ts";
import type { QueueRef } from "../../kernel/queue-ref.ts";
import type { Adds } from "../../kernel/store.ts";
import type { QueueCounts } from "../../kernel/tasks/counts.ts";
import type { RequestOptions } from "../../kernel/options/types.ts";
import { countScript } from "../../kernel/scripts/count-script.ts";
import { prepareChange } from "./copy-settings.ts";
import { type MaybeDivided, partitionCount } from "./discovery.ts";
import { rememberMap } from "./map-memory.ts";
import { owning, type PartitionMap, partitionsOf } from "./map.ts";
import type { PartitionedQueue } from "./partitioned-queue.ts";
import { resizeQueue } from "./resize.ts";

/** What one partition of a queue has. */
export interface PartitionInfo extends Pick<
  QueueCounts,
  "pending" | "delayed" | "blocked" | "working" | "rejected"
> {
  /** Its number, from 0. */
  readonly partition: number;
  /** How many of the 256 slots it owns: its part of the new tasks. 0 if it takes none, or none yet. */
  readonly slots: number;
}

export interface QueuePartitions {
  readonly queue: string;
  /** How many partitions new tasks go to, or will go to once the change of the number has ended. */
  readonly count: number;
  /** Whether slots are changing hands. If the change has stopped on the way, the next sweep completes it. */
  readonly changing: boolean;
  /** All that may have tasks. One entry, for partition 0, if the queue has no partitions. */
  readonly partitions: readonly PartitionInfo[];
}

/** Gives a queue the number of partitions that its declaration has. */
export async function declarePartitions(
  queue: QueueRef & Pick<RequestOptions, "signal">,
  count: number,
): Promise<void> {
  rememberMap(queue, await resized({ ...queue, prepare: prepareChange }, count));
}

/** Changes how many partitions the queue has: see `Operator.resize`. */
export async function resizePartitions(
  store: Adds & MaybeDivided,
  count: number,
  { signal }: RequestOptions,
): Promise<number> {
  const map = await resized({ ...store.queue, signal, prepare: prepareChange }, partitionCount(count));
  const { partitions } = await store.divided();
  partitions.remember(map);
  return owning(map).length;
}

/** Changes the number of partitions, and lets groups in strict order go on in their new ones. */
async function resized(queue: PartitionedQueue, count: number): Promise<PartitionMap> {
  const map = await resizeQueue(queue, count);
  await queue.transport.passTurns?.(queue, map);
  return map;
}

/** Reads which partitions the queue has, and counts the tasks in each: see `Operator.listPartitions`. */
export async function listPartitions(
  store: Adds & MaybeDivided,
  options: RequestOptions,
): Promise<QueuePartitions> {
  return store.over(async () => {
    const { partitions: known } = await store.divided();
    const map = await known.storedMap(options.signal);
    const all = partitionsOf(map);
    const calls = all.map((partition) => known.shard(partition).call(countScript, { overview: "" }));
    const counted = await runAll(store.queue.transport, calls, options);
    const partitions = all.map((partition, i) => {
      const { pending = 0, delayed = 0, blocked = 0, working = 0, rejected = 0 } = counted[i]?.counts ?? {};
      const slots = map.owners.filter((owner) => owner === partition).length;
      return { partition, slots, pending, delayed, blocked, working, rejected };
    });
    const count = owning({ owners: map.next ?? map.owners }).length;
    return { queue: store.queue.name, count, changing: map.next !== undefined, partitions };
  }, options);
}
