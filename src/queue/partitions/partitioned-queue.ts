import type { Transport } from "../redis/transport.ts";

/** Where a queue is. */
export interface PartitionedQueue {
  readonly name: string;
  readonly prefix: string | undefined;
  readonly transport: Transport;
  readonly signal?: AbortSignal | undefined;
  /** For tests only: the clock instead of Redis's. */
  readonly now?: (() => number) | undefined;
}
