import { newerSchema, SluiceError } from "../../errors.ts";
import type { EnqueueRefusal } from "../scripts/enqueue-script.ts";
import type { AddedTask } from "../store.ts";

/** What an enqueue throws for a task that was not added. */
export function whyNotAdded(answer: AddedTask | undefined, queue: string): unknown {
  if (answer && "failed" in answer) return answer.failed;
  if (answer && "refused" in answer) return refusal(answer.refused, queue);
  return new SluiceError("unexpected_reply", "the script enqueue returned too few answers");
}

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
    "an earlier enqueue with this idempotencyKey had other tasks; use a new key",
    "idempotencyKey",
  );
}
