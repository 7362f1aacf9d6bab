import type { EnqueueOptions, LeasedTask } from "../../src/index.ts";
import type { Rig } from "./rig.ts";

/** The ids of tasks, in their order. */
export const idsOf = (tasks: readonly { readonly id: string }[]) => tasks.map(({ id }) => id);

/** Enqueues the task `a` and leases it. */
export const leasing =
  (rig: Rig) =>
  async (options: EnqueueOptions = {}, lease = 1_000) => {
    const queue = rig.queue();
    await queue.enqueue("work", { id: "a", ...options });
    const [task] = await queue.dequeue({ lease });
    return { queue, task: task as LeasedTask };
  };
