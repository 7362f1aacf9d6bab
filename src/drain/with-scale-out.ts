import type { Queue } from "../open/queue.ts";
import { endsWithin } from "../sleep.ts";
import type { Batch } from "../kernel/lease/leased-task.ts";
import type { DequeueOptions } from "../kernel/options/types.ts";
import { counted, databasesOf } from "./limited-source.ts";
import { changed, type TaskSource } from "./source.ts";

/**
 * How often a drain asks for another consumer at most, ms. The `window` of the waker decides whether one is
 * woken.
 */
const ASK_EVERY = 1_000;

/**
 * A source that wakes another consumer when the queue may have more tasks than this consumer takes: when a
 * dequeue returns as many tasks as it asked for. It does so at most once a second, and ignores wakes that
 * fail. A drain waits for the wakes before it ends.
 * @param queue a queue with wakers
 * @returns the source to drain instead of the queue
 * @example
 * await drain(withScaleOut(emails), handler);
 */
export function withScaleOut<T>(queue: TaskSource<T> & Pick<Queue, "wakeAnother">): TaskSource<T> {
  return scalingOut(queue, () => queue.wakeAnother());
}

/** {@link withScaleOut} with another way to wake. */
export function scalingOut<T>(source: TaskSource<T>, wakeAnother: () => Promise<unknown>): TaskSource<T> {
  let asked = Number.NEGATIVE_INFINITY;
  let woken: Promise<unknown> = Promise.resolve();
  const scaling = observed(source, (tasks, { max = 1 }) => {
    const now = performance.now();
    if (tasks.length < max || now - asked < ASK_EVERY) return;
    asked = now;
    woken = Promise.allSettled([woken, wakeAnother()]);
  });
  return { ...scaling, ended: (timeLeft) => endsWithin(timeLeft, woken) };
}

/** A source that calls `onDequeue` with the tasks of each dequeue before it returns them. */
function observed<T>(
  source: TaskSource<T>,
  onDequeue: (tasks: Batch<T>, options: DequeueOptions) => void,
): TaskSource<T> {
  return changed(source, {
    databases: databasesOf(source),
    counted: (onSend) => observed(counted(source, onSend), onDequeue),
    settle: (...args) => source.settle(...args),
    async dequeue(options = {}) {
      const tasks = await source.dequeue(options);
      onDequeue(tasks, options);
      return tasks;
    },
    async settleAndDequeue(settlements, options = {}) {
      const reply = await source.settleAndDequeue(settlements, options);
      onDequeue(reply.tasks, options);
      return reply;
    },
  });
}
