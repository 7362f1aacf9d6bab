import { Worker, type ConnectionOptions } from "bullmq";
import type { Queue } from "sluice-queue";

/** Takes the place of the worker: each job becomes a task with the same id. */
export function forward<T>(queue: Queue<T>, connection: ConnectionOptions) {
  return new Worker<T>(
    "emails",
    async ({ id, data }) => {
      await queue.enqueue(data, { id });
    },
    { connection, concurrency: 100 },
  );
}
