import type { QueueRef } from "../../kernel/queue-ref.ts";

/** A queue, for what works on its partitions as a whole. */
export interface PartitionedQueue extends QueueRef {
  readonly signal?: AbortSignal | undefined;
  /**
   * Gives new partitions the settings of the queue. Who lacks it, as producers do, leaves that to others, unless the
   * queue has none.
   */
  readonly copySettings?:
    | ((
        queue: PartitionedQueue,
        partitions: readonly number[],
        added: readonly number[],
        options: { readonly testNow?: string | undefined },
      ) => Promise<void>)
    | undefined;
}
