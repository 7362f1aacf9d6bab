import { invalidArgument, newerSchema, SluiceError } from "../../errors.ts";
import type { EnqueueRefusal } from "../redis/task-scripts.ts";

/** The errors for why a task is refused. */
export const ENQUEUE_ERRORS: Readonly<
  Record<EnqueueRefusal | "misplaced", (queue: string, at?: string) => SluiceError>
> = {
  full: (queue) =>
    new SluiceError("queue_full", `more tasks would be pending in ${queue} than its maxPending allows`),
  reused: () =>
    new SluiceError(
      "idempotency_key_reused",
      "an earlier enqueue with this idempotencyKey had other tasks; use a new key for new tasks",
      "idempotencyKey",
    ),
  newer_schema: () => newerSchema("the task with this id"),
  misplaced: (_, at = "") =>
    invalidArgument(
      `${at}dedup.key`,
      "must have the id of the task in braces: in a queue with partitions both are then in the same partition",
    ),
};
