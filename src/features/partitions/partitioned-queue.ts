import { nameOfShard } from "../../kernel/names/keys.ts";
import type { QueueRef } from "../../kernel/queue-ref.ts";
import type { PartitionMap } from "./map.ts";
import { Shard } from "../../kernel/shard.ts";

/** A queue, for what works on its partitions as a whole. */
export interface PartitionedQueue extends QueueRef {
  readonly signal?: AbortSignal | undefined;
  /**
   * Prepares a change: see `prepareChange`. Producers do not have it: if the queue has settings, they leave changes to
   * others.
   * @returns whether the slots may change hands
   */
  readonly prepare?:
    | ((queue: PartitionedQueue, map: PartitionMap, added: readonly number[]) => Promise<boolean>)
    | undefined;
}

/** The shard of a partition. */
export function partitionOf(queue: QueueRef, partition: number): Shard {
  return new Shard(queue, partition, nameOfShard(queue.name, partition));
}
