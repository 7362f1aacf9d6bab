import type { Store } from "../../kernel/store.ts";
import { partitionedStore } from "./partitioned-store.ts";
import { Partitions } from "./partitions.ts";

/** A queue that has partitions, or is to get some. */
export class DividedQueue {
  readonly partitions: Partitions;
  readonly store: Store;

  /**
   * @param plain its store without partitions
   * @param wanted how many partitions a queue without a map gets. @default it gets no map
   */
  constructor(plain: Store, wanted: number | undefined) {
    this.partitions = new Partitions(plain.queue, wanted);
    this.store = partitionedStore(plain, this.partitions);
  }

  /** Whether it is known to have partitions. Once it has, it keeps them. */
  get isSplit(): boolean {
    return this.partitions.isSplit;
  }
}
