import { SluiceError } from "../../errors.ts";
import type { DeepSweepPart } from "../../sweep/deep-part.ts";
import { Partitions } from "./partitions.ts";
import { findPartitions, partitionNames } from "./stored-maps.ts";

/** The partitions of queues, each of which a deep sweep checks as a queue. */
export const partitionsRepair: DeepSweepPart = {
  namesOf: (queues, { transport, prefix, signal }) => findPartitions(transport, queues, prefix, { signal }),
  async namesOfMarked(queue, { signal }) {
    const partitions = new Partitions(queue);
    const isDivided = await partitions.find(signal).catch((error: unknown) => {
      if (!(error instanceof SluiceError) || error.code !== "newer_schema") throw error;
      return false;
    });
    return isDivided ? partitionNames(queue.name, await partitions.map(signal)) : undefined;
  },
};
