import type { Queue } from "../../queue/tasks/queue.ts";
import type { Batch } from "../../queue/tasks/leased-task.ts";
import type { DequeueOptions } from "../../queue/core/types.ts";

/** Where a consumer gets its tasks and settles them: a {@link Queue}, or a queue of the HTTP client. */
export type TaskSource<T = unknown> = Pick<
  Queue<never, T>,
  "name" | "dequeue" | "settle" | "settleAndDequeue"
> &
  Partial<Pick<Queue, "tracing">>;

/** A source that calls `onDequeue` with the tasks of each dequeue before it returns them. */
export function observed<T>(
  source: TaskSource<T>,
  onDequeue: (tasks: Batch<T>, options: DequeueOptions) => void,
): TaskSource<T> {
  return {
    name: source.name,
    tracing: source.tracing,
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
  };
}
