import { nameOfShard } from "../../kernel/names/keys.ts";
import type { QueueRef } from "../../kernel/queue-ref.ts";
import { Shard } from "../../kernel/shard.ts";

/** A queue, for what works on its partitions as a whole. */
export interface PartitionedQueue extends QueueRef {
  readonly signal?: AbortSignal | undefined;
  /**
   * Gives new partitions the settings of the queue. Producers do not have it: if the queue has settings, they leave new
   * partitions to others.
   */
  readonly copySettings?:
    | ((queue: PartitionedQueue, partitions: readonly number[], added: readonly number[]) => Promise<void>)
    | undefined;
}

/** The shard of a partition. */
export function partitionOf(queue: QueueRef, partition: number): Shard {
  return new Shard(queue, partition, nameOfShard(queue.name, partition));
}
