import type { FlowQueue } from "../../../src/features/flows/flow-tasks.ts";
import type { Queue } from "../../../src/index.ts";

/** What `addFlow` needs of a queue. */
export function flowQueueOf(queue: Queue): FlowQueue {
  const { store, values } = queue as unknown as Pick<FlowQueue, "store" | "values">;
  return { store, values, defaults: {}, schema: undefined };
}
