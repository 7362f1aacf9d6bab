import { newerSchema, SluiceError } from "../errors.ts";
import type { EnqueueRefusal } from "./scripts/enqueue-script.ts";

/** The error for why a task is refused. */
export function refusal(why: EnqueueRefusal, queue: string): SluiceError {
  if (why === "newer_schema") return newerSchema("the task with this id");
  if (why === "full") {
    return new SluiceError(
      "queue_full",
      `more tasks would be pending in ${queue} than its maxPending allows`,
    );
  }
  return new SluiceError(
    "idempotency_key_reused",
    "an earlier enqueue with this idempotencyKey had other tasks; use a new key for new tasks",
    "idempotencyKey",
  );
}
