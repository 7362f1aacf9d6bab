import type { Transport } from "../redis/transport.ts";

/** Where a queue is. */
export interface PartitionedQueue {
  readonly name: string;
  readonly prefix: string | undefined;
  readonly transport: Transport;
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
  /** For tests only: the clock instead of Redis's. */
  readonly now?: (() => number) | undefined;
}
