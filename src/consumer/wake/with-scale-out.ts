import type { Queue } from "../../queue/tasks/queue.ts";
import { type TaskSource, watched } from "../drain/source.ts";

/** How often one drain asks for another consumer, ms; the queue's window decides whether one is woken. */
const ASK_EVERY = 1_000;

/**
 * A queue that calls for another consumer while it has more tasks than this one takes: when a pull comes back full. What
 * the call meets is not this one's concern.
 */
export function withScaleOut<T>(queue: TaskSource<T> & Pick<Queue, "wakeAnother">): TaskSource<T> {
  let asked = Number.NEGATIVE_INFINITY;
  return watched(queue, (tasks, { max = 1 }) => {
    const now = performance.now();
    if (tasks.length < max || now - asked < ASK_EVERY) return;
    asked = now;
    queue.wakeAnother().catch(() => {});
  });
}
