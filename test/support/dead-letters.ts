import type { NewTask, Queue } from "../../src/index.ts";

/**
 * Enqueues tasks, dequeues all, and rejects them in the order of delivery, each with its payload as error.
 */
export async function bury(queue: Queue, tasks: readonly NewTask<unknown>[]): Promise<void> {
  for (let first = 0; first < tasks.length; first += 1_000) {
    await queue.enqueueMany(tasks.slice(first, first + 1_000));
  }
  for (let batch = await queue.dequeue({ max: 1_000 }); batch.length > 0;) {
    await queue.settle(
      batch.map(({ receipt, payload }) => ({ receipt, outcome: "reject" as const, error: payload })),
    );
    batch = await queue.dequeue({ max: 1_000 });
  }
}
