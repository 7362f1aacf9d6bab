import type { BatchHandler, Task } from "../../src/drain/types.ts";
import type { TaskSource } from "../../src/drain/source.ts";

/** Passes all pending tasks to the handler, once, and settles them as it says. */
export async function settleBatch<T>(
  queue: TaskSource<T>,
  handler: BatchHandler<T>,
  signal = new AbortController().signal,
): Promise<void> {
  const tasks = await queue.dequeue({ max: 100 });
  const held = tasks.map((task): Task<T> => {
    const { id, receipt, payload, attempt, enqueuedAt, headers, group } = task;
    const extend: Task["extend"] = (lease, options) => task.extend(lease, options);
    return { id, receipt, payload, attempt, enqueuedAt, headers, group, signal, extend };
  });
  const outcomes = await handler(held, signal);
  await queue.settle(outcomes.map((outcome, at) => ({ receipt: tasks[at]?.receipt ?? "", ...outcome })));
}
