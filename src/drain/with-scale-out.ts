import type { Queue } from "../open/queue.ts";
import { endsWithin } from "../sleep.ts";
import { type TaskSource, observed } from "./source.ts";

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
