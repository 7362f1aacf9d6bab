import { beforeEach, expect } from "vitest";
import { Operator, Queue } from "../../src/index.ts";
import type { PartitionedQueue } from "../../src/queue/partitions/partitioned-queue.ts";
import { partitionSpaces } from "../support/partition-spaces.ts";
import { QUEUE, type Rig } from "../support/rig.ts";
import type { BothClients } from "./python.ts";

/** A queue with partitions, for both clients. */
export interface BothOnPartitions {
  /** Where the queue is. Its transport is that of another function instance in each test, which knows no map yet. */
  place: PartitionedQueue;
  resize(count: number): Promise<number>;
  /** The queue of the library. */
  queueOf(partitions: number | "stored"): Queue;
  /** Runs code as {@link BothClients.python}. Returns what it reports. */
  reportOf<T>(code: string): Promise<T>;
  /** Each id with the partition that has it. No id may be in two of them. */
  partitionsOfIds(): Promise<Map<string, number>>;
}

/** Registers the set-up with vitest. */
export function useBothOnPartitions(rig: Rig, both: BothClients): BothOnPartitions {
  const partitioned: BothOnPartitions = {
    place: { name: QUEUE, prefix: undefined, transport: rig.transport },
    resize: (count) => new Operator(QUEUE, { transport: partitioned.place.transport }).resize(count),
    queueOf: (partitions) => new Queue(QUEUE, { transport: partitioned.place.transport, partitions }),
    reportOf: async <T>(code: string) => (await both.python(code)) as T,
    async partitionsOfIds() {
      const places = [...partitionSpaces(await rig.keySpace(), QUEUE)].flatMap(([partition, { tasks }]) =>
        [...tasks.keys()].filter((field) => !/^[.~]/.test(field)).map((id) => [id, partition] as const),
      );
      expect(new Set(places.map(([id]) => id)).size).toBe(places.length);
      return new Map(places);
    },
  };
  beforeEach(() => {
    const { transport } = both;
    partitioned.place = {
      name: QUEUE,
      prefix: undefined,
      transport: { send: (commands, options) => transport.send(commands, options) },
    };
  });
  return partitioned;
}
