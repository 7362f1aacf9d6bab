import type { Queue } from "../queue/queue.ts";
import type { DequeueOptions } from "../queue/types.ts";
import type { TaskSource } from "./source.ts";

/** How often one drain asks for another consumer, ms; the queue's window decides whether one is woken. */
const ASK_EVERY = 1_000;

/**
 * A queue that calls for another consumer while it has more tasks than this one takes: when a pull comes back full. What
 * the call meets is not this one's concern.
 */
export function reinforced<T>(queue: TaskSource<T> & Pick<Queue, "wakeAnother">): TaskSource<T> {
  let asked = Number.NEGATIVE_INFINITY;
  const look = (tasks: readonly unknown[], { max = 1 }: DequeueOptions) => {
    const now = performance.now();
    if (tasks.length < max || now - asked < ASK_EVERY) return;
    asked = now;
    queue.wakeAnother().catch(() => {});
  };
  return {
    name: queue.name,
    settle: (...args) => queue.settle(...args),
    async dequeue(options = {}) {
      const tasks = await queue.dequeue(options);
      look(tasks, options);
      return tasks;
    },
    async settleAndDequeue(settlements, options = {}) {
      const reply = await queue.settleAndDequeue(settlements, options);
      look(reply.tasks, options);
      return reply;
    },
  };
}
