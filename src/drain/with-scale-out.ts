import type { Queue } from "../open/queue.ts";
import { endsWithin } from "../sleep.ts";
import type { Batch } from "../kernel/lease/leased-task.ts";
import type { DequeueOptions, Settlement } from "../kernel/options/types.ts";
import { counted, databasesOf } from "./limited-source.ts";
import { changed, type TaskSource } from "./source.ts";
import { isHandBack } from "./to-settlement.ts";

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
  return afterCalls(source, ({ isFull }) => {
    const now = performance.now();
    if (!isFull || now - asked < ASK_EVERY) return undefined;
    asked = now;
    return wakeAnother();
  });
}

/** A source that wakes other consumers each time that it may leave tasks to them, or hands tasks back. */
export function sharedOut<T>(source: TaskSource<T>, wakeOthers: () => Promise<unknown>): TaskSource<T> {
  return afterCalls(source, wakeOthers);
}

/** A call of a drain after which other consumers may find tasks. */
interface Call {
  /** Whether it took as many tasks as it asked for: the queue may have more. Otherwise it has handed tasks back. */
  readonly isFull: boolean;
}

/** A source that calls `wake` after such calls. A drain waits for what it returns before it ends. */
function afterCalls<T>(
  source: TaskSource<T>,
  wake: (call: Call) => Promise<unknown> | undefined,
): TaskSource<T> {
  let woken: Promise<unknown> = Promise.resolve();
  const onCall = (call: Call) => {
    const called = wake(call);
    // Without the values, which would keep all those before.
    if (called) woken = Promise.allSettled([woken, called]).then(() => {});
  };
  const ended = (timeLeft: number) => endsWithin(timeLeft, Promise.all([woken, source.ended?.(timeLeft)]));
  return { ...observed(source, onCall), ended };
}

function observed<T>(source: TaskSource<T>, onCall: (call: Call) => void): TaskSource<T> {
  const dequeued = (tasks: Batch<T>, { max = 1 }: DequeueOptions) => {
    // If the batch has no time to dequeue again, no task waits.
    if (tasks.length >= max && tasks.nextDueAt !== null) onCall({ isFull: true });
  };
  const settled = (settlements: readonly Settlement[]) => {
    if (settlements.some(isHandBack)) onCall({ isFull: false });
  };
  return changed(source, {
    databases: databasesOf(source),
    counted: (onSend) => observed(counted(source, onSend), onCall),
    async settle(settlements, options) {
      const results = await source.settle(settlements, options);
      settled(settlements);
      return results;
    },
    async dequeue(options = {}) {
      const tasks = await source.dequeue(options);
      dequeued(tasks, options);
      return tasks;
    },
    async settleAndDequeue(settlements, options = {}) {
      const reply = await source.settleAndDequeue(settlements, options);
      settled(settlements);
      dequeued(reply.tasks, options);
      return reply;
    },
  });
}
