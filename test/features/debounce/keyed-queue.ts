import { type KeyedCalls, withDebounce } from "../../../src/features/debounce/index.ts";
import type { Queue, QueueOptions } from "../../../src/index.ts";
import type { Rig } from "../../support/rig.ts";

/** The queue of a rig with keys. */
export function useKeyed(rig: Rig) {
  const queue = (options: Partial<QueueOptions> = {}): Omit<Queue, "enqueue"> & KeyedCalls<unknown> =>
    withDebounce<unknown, unknown, Queue>(rig.queue(options));
  const begin = async (max = 100) => [...(await queue().dequeue({ max }))];
  return {
    queue,
    /** Leases all tasks that are ready. */
    begin,
    /** The payloads of all tasks that are ready; their leases go on. */
    payloads: async () => (await begin()).map(({ payload }) => payload),
  };
}
