import { SluiceError } from "../../errors.ts";
import { MAX_PARTITIONS } from "../core/partition-slots.ts";
import type { EnqueueOptions, RequestOptions } from "../core/types.ts";
import type { Partitions } from "../partitions/partitions.ts";

/**
 * Runs an enqueue again while the partition that it chose has no room for its tasks, and another one may have. Only
 * tasks without id, group and dedup key can be in any. A refused enqueue of such tasks has added none.
 * @param known the partitions of the queue, as far as they are known by then: the enqueue may find them out
 * @throws {SluiceError} as the enqueue
 */
export async function tryPartitions<Result>(
  known: () => Partitions | undefined,
  tasks: readonly Pick<EnqueueOptions, "id" | "group" | "dedup">[],
  options: RequestOptions,
  run: () => Promise<Result>,
): Promise<Result> {
  for (let left = MAX_PARTITIONS; ; left--) {
    try {
      return await run();
    } catch (error) {
      const isFull = error instanceof SluiceError && error.code === "queue_full" && left > 0;
      const isPlaced = () => tasks.some(({ id, group, dedup }) => id ?? group ?? dedup);
      if (!isFull || options.idempotencyKey !== undefined || isPlaced()) throw error;
      if (!(await known()?.mayHaveRoom(tasks.length, options.signal))) throw error;
    }
  }
}
