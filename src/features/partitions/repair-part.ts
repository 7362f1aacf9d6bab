import { SluiceError } from "../../errors.ts";
import type { DeepSweepPart } from "../../sweep/deep-part.ts";
import { Partitions } from "./partitions.ts";
import { findPartitions, shardsOf } from "./stored-maps.ts";

/** The partitions of queues, each of which a deep sweep checks as a queue. */
export const partitionsRepair: DeepSweepPart = {
  namesOf: findPartitions,
  async namesOfMarked(queue, { signal }) {
    const partitions = new Partitions(queue);
    const isDivided = await partitions.find(signal).catch((error: unknown) => {
      if (!(error instanceof SluiceError) || error.code !== "newer_schema") throw error;
      return false;
    });
    return isDivided ? shardsOf(queue, await partitions.map(signal)).map(({ name }) => name) : undefined;
  },
};
