import { applyQueues, defineQueue, drain, Queue, sweep } from "../../../src/index.ts";
import { QUEUE } from "../../support/rig.ts";
import { addTo, oneAtATime, type StartFront, storedIn } from "../front.ts";

/** A program that makes its own queue, and drains and sweeps it. */
export const library: StartFront = async (rig, { declaration, handler, concurrency, prefix, tracing }) => {
  const { transport } = rig;
  const declared = defineQueue(QUEUE, declaration);
  const { failed } = await applyQueues(transport, [declared], { prefix });
  if (failed.length > 0) throw new Error(JSON.stringify(failed));
  const consumer = oneAtATime(() => drain(queue, handler, { budget: "1m", concurrency }));
  const wake = { wake: () => void consumer.start() };
  const queue = new Queue(declared, { transport, prefix, tracing, wake });
  return {
    add: (tasks) => addTo(queue, tasks),
    async run() {
      await sweep(transport, { prefix });
      await consumer.start();
    },
    get: (id) => queue.get(id),
    counts: () => queue.counts(),
    stored: () => storedIn(rig),
    stop: consumer.ended,
  };
};
