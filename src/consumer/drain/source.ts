import type { Queue } from "../../queue/tasks/queue.ts";
import type { Batch } from "../../queue/tasks/leased-task.ts";
import type { DequeueOptions } from "../../queue/core/types.ts";

/** Where a consumer gets its tasks and settles them: a {@link Queue}, or a queue of the HTTP client. */
export type TaskSource<T = unknown> = Pick<
  Queue<never, T>,
  "name" | "dequeue" | "settle" | "settleAndDequeue"
>;

/** A source whose every pull is looked at before its tasks are given. */
export function watched<T>(
  source: TaskSource<T>,
  look: (tasks: Batch<T>, options: DequeueOptions) => void,
): TaskSource<T> {
  return {
    name: source.name,
    settle: (...args) => source.settle(...args),
    async dequeue(options = {}) {
      const tasks = await source.dequeue(options);
      look(tasks, options);
      return tasks;
    },
    async settleAndDequeue(settlements, options = {}) {
      const reply = await source.settleAndDequeue(settlements, options);
      look(reply.tasks, options);
      return reply;
    },
  };
}
