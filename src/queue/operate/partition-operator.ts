import { copySettings } from "../partitions/copy-settings.ts";
import { owning, partitionsOf } from "../partitions/map.ts";
import { partitionCount, resizeQueue } from "../partitions/resize.ts";
import { countScript } from "../redis/operate-scripts.ts";
import { onlyOptions, REQUEST_OPTIONS } from "../core/validation.ts";
import type { QueueCounts } from "../core/counts.ts";
import type { RequestOptions } from "../core/types.ts";
import { TaskOperator } from "./task-operator.ts";

/** What one partition of a queue has. */
export interface PartitionInfo extends Pick<QueueCounts, "pending" | "delayed" | "working" | "rejected"> {
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

/** Shows the partitions of a queue, and changes their number. */
export class PartitionOperator extends TaskOperator {
  /**
   * Changes how many partitions the queue has, while it is in use: see docs/partitions.md. No task is lost,
   * delivered twice or moved. The first change renames the keys of the queue to those of partition 0.
   * @param partitions 1 to 62
   * @returns how many partitions new tasks go to now
   * @throws {SluiceError}
   */
  async resize(partitions: number, options: RequestOptions = {}): Promise<number> {
    onlyOptions(options, REQUEST_OPTIONS);
    const queue = { ...this.partitionedQueue(options), copySettings };
    const map = await resizeQueue(queue, partitionCount(partitions));
    this.storedOrDeclared().remember(map);
    return owning(map).length;
  }

  /**
   * Reads which partitions the queue has, and counts the tasks in each. Two requests.
   * @throws {SluiceError}
   */
  async listPartitions(options: RequestOptions = {}): Promise<QueuePartitions> {
    onlyOptions(options, REQUEST_OPTIONS);
    return this.overPartitions(() => this.#listPartitions(options), options);
  }

  async #listPartitions(options: RequestOptions): Promise<QueuePartitions> {
    const map = await this.storedOrDeclared().storedMap(options.signal);
    const all = partitionsOf(map);
    const args = { testNow: this.testNow(), overview: "" };
    const counted = await this.runIn(
      countScript,
      all.map((partition) => ({ partition, args })),
      options,
    );
    const partitions = all.map((partition, i) => {
      const { pending = 0, delayed = 0, working = 0, rejected = 0 } = counted[i]?.counts ?? {};
      const slots = map.owners.filter((owner) => owner === partition).length;
      return { partition, slots, pending, delayed, working, rejected };
    });
    const count = owning({ owners: map.next ?? map.owners }).length;
    return { queue: this.name, count, changing: map.next !== undefined, partitions };
  }
}
