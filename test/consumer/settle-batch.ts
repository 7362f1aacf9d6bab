import type { BatchHandler, HeldTask } from "../../src/consumer/drain/types.ts";
import type { TaskSource } from "../../src/consumer/drain/source.ts";

/** Gives all that is pending to the handler, once, and settles it as the handler says. */
export async function settleBatch<T>(
  queue: TaskSource<T>,
  handler: BatchHandler<T>,
  signal = new AbortController().signal,
): Promise<void> {
  const tasks = await queue.dequeue({ max: 100 });
  const held = tasks.map((task): HeldTask<T> => {
    const { id, receipt, payload, attempt, enqueuedAt, headers, group } = task;
    const extend: HeldTask["extend"] = (lease, options) => task.extend(lease, options);
    return { id, receipt, payload, attempt, enqueuedAt, headers, group, signal, extend };
  });
  const verdicts = await handler(held, signal);
  await queue.settle(verdicts.map((verdict, at) => ({ receipt: tasks[at]?.receipt ?? "", ...verdict })));
}
