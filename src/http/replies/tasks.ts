import * as v from "valibot";
import { name, taskId } from "../schemas/values.ts";
import { base64, count, described, headers, instant, reason, state, worker } from "./values.ts";
import { taskStates } from "../../queue/core/types.ts";

export const enqueued = v.object({
  id: described(taskId, "With `dedup`, that of the first task with the key."),
  created: described(
    v.boolean(),
    "False where the id, or the key, was known already from another enqueue: nothing was changed. A copy of a request is answered as the first.",
  ),
});

export const enqueuedMany = v.object({ tasks: v.array(enqueued) });

export const pulled = v.object({
  tasks: v.array(
    v.object({
      id: taskId,
      receipt: described(v.string(), "Proof of the lease; send it with settle. Opaque."),
      payload: v.exactOptional(v.unknown()),
      encoding: v.exactOptional(base64("payload")),
      attempt: described(count, "The how-manyth delivery this is, from 1."),
      enqueuedAt: instant("When it was enqueued"),
      deadlineAt: instant("When the lease ends"),
      leasedFor: described(count, "How long the lease is, ms; an extend without a lease begins it anew."),
      group: v.exactOptional(name),
      headers: v.exactOptional(headers),
    }),
  ),
  nextDueAt: described(
    v.nullable(count),
    "When it is worth pulling again, epoch ms: at once, when the next delayed task is due or lease ends, or when a limit allows more; null where nothing waits.",
  ),
  paused: described(v.boolean(), "True where the queue is paused: it gives nothing until it is resumed."),
});

export const settled = v.object({
  results: v.array(
    v.union([
      v.object({
        receipt: v.string(),
        ok: v.literal(true),
        state: described(state, "Where the task is now. A requeue on the last attempt says rejected."),
        reason: v.exactOptional(reason),
        deadlineAt: v.exactOptional(instant("When the extended lease ends")),
        dueAt: v.exactOptional(instant("When the requeued task is due again")),
        cancelRequested: v.exactOptional(
          described(v.literal(true), "The task was cancelled while it was worked on: stop."),
        ),
      }),
      v.object({
        receipt: v.string(),
        ok: v.literal(false),
        code: described(
          v.picklist(["lease_lost", "newer_schema"]),
          "`lease_lost`: the lease is another's by now. `newer_schema`: a newer release of Sluice has changed the task. Nothing was changed.",
        ),
      }),
    ]),
  ),
  pull: v.exactOptional(pulled),
});

export const task = v.object({
  id: taskId,
  queue: v.string(),
  state,
  reason: v.exactOptional(described(reason, "Why it is rejected.")),
  attempt: described(count, "Deliveries so far."),
  charged: described(count, "Those that count towards maxAttempts."),
  lease: described(count, "Number of its latest lease; 0 before the first."),
  requeues: described(count, "How often a holder requeued it."),
  version: described(count, "Rises with every transition but promotion."),
  transitions: described(
    v.array(
      v.object({
        version: count,
        to: described(
          v.picklist([...taskStates, "cancelRequested"]),
          "`cancelRequested`: it goes on working, and its holder is to stop.",
        ),
        at: instant("When"),
      }),
    ),
    "The last ones since its enqueue, at most 16, the oldest first.",
  ),
  group: v.exactOptional(name),
  priority: v.exactOptional(count),
  worker: v.exactOptional(described(worker, "Who works on it, or did last, where it said so.")),
  progress: v.exactOptional(described(v.unknown(), "As its holder last told it.")),
  enqueuedAt: instant("When it was enqueued"),
  dueAt: v.exactOptional(instant("When it becomes pending")),
  dequeuedAt: v.exactOptional(instant("When it was last delivered")),
  deadlineAt: v.exactOptional(instant("When its lease ends")),
  requeuedAt: v.exactOptional(instant("When it was last requeued")),
  endedAt: v.exactOptional(instant("When it was completed or rejected")),
  cancelRequested: v.exactOptional(described(v.literal(true), "It was cancelled while it was worked on.")),
  headers: v.exactOptional(headers),
  result: v.exactOptional(v.unknown()),
  encoding: v.exactOptional(base64("result")),
  error: v.exactOptional(v.unknown()),
  errorEncoding: v.exactOptional(base64("error")),
});

export const cancelled = v.object({
  id: taskId,
  state: described(
    v.picklist(["rejected", "working"]),
    "`working`: its holder learns of it at the next extend or settle.",
  ),
});
