import type { Queue } from "../queue/queue.ts";

/** Where a consumer gets its tasks and settles them: a {@link Queue}, or a queue of the HTTP client. */
export type TaskSource<T = unknown> = Pick<
  Queue<never, T>,
  "name" | "dequeue" | "settle" | "settleAndDequeue"
>;
