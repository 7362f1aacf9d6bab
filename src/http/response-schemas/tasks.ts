import * as v from "valibot";
import { name, taskId } from "../request-schemas/values.ts";
import {
  base64,
  count,
  described,
  headers,
  instant,
  payloadsHidden,
  reason,
  state,
  worker,
} from "./values.ts";
import { taskStates } from "../../kernel/options/types.ts";

export const enqueued = v.object({
  id: described(
    taskId,
    "The id of the task. With `dedup`, the id of the first task with the key; with another key, of the task concerned.",
  ),
  created: described(
    v.boolean(),
    "False if the id or the key was already known from another enqueue. Then nothing was changed. A resent request gets the first response.",
  ),
});

export const enqueuedOne = v.object({
  ...enqueued.entries,
  outcome: v.exactOptional(
    described(
      v.picklist(["created", "replaced", "dropped", "appended"]),
      "With `debounce`, `throttle`, `singleton` or `replace`, what was done: a task was created; the payload of one that waits was replaced; the new payload was dropped; or it was appended to those of a task that waits.",
    ),
  ),
});

export const keyForgotten = v.object({
  key: name,
  known: described(v.boolean(), "Whether the key was known."),
});

export const enqueuedMany = v.object({ tasks: v.array(enqueued) });

export const pulled = v.object({
  tasks: v.array(
    v.object({
      id: taskId,
      receipt: described(v.string(), "Proof of the lease, opaque. Send it with settle."),
      payload: v.exactOptional(v.unknown()),
      encoding: v.exactOptional(base64("payload")),
      attempt: described(count, "Delivery number, from 1."),
      enqueuedAt: instant("When it was enqueued"),
      deadlineAt: instant("When the lease ends"),
      leasedFor: described(
        count,
        "Length of the lease, ms. An extend without a lease uses the same length again.",
      ),
      group: v.exactOptional(name),
      headers: v.exactOptional(headers),
    }),
  ),
  nextDueAt: described(
    v.nullable(count),
    "When to pull again, epoch ms. It is now if a pull may return more tasks. Otherwise it is when the next delayed task is due, the next lease expires, or a limit allows more. null if no task waits.",
  ),
  paused: described(
    v.boolean(),
    "True if the queue is paused. Pulls return no tasks until it is resumed, or until `nextDueAt`.",
  ),
});

export const settled = v.object({
  results: v.array(
    v.union([
      v.object({
        receipt: v.string(),
        ok: v.literal(true),
        state: described(state, "The new state. A requeue on the last attempt rejects the task."),
        reason: v.exactOptional(reason),
        deadlineAt: v.exactOptional(instant("When the extended lease ends")),
        dueAt: v.exactOptional(instant("When the requeued task is due again")),
        cancelRequested: v.exactOptional(
          described(v.literal(true), "The task was cancelled while it was working. Stop the work."),
        ),
      }),
      v.object({
        receipt: v.string(),
        ok: v.literal(false),
        code: described(
          v.picklist(["lease_lost", "newer_schema"]),
          "`lease_lost`: the receipt is no longer that of the current lease. `newer_schema`: a newer release of Sluice has changed the task. Nothing was changed.",
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
  reason: v.exactOptional(reason),
  attempt: described(count, "Deliveries so far."),
  charged: described(count, "Deliveries that count towards maxAttempts."),
  lease: described(count, "Number of the latest lease; 0 before the first."),
  requeues: described(count, "How many times it was requeued."),
  version: described(count, "Increases with every transition except promotion."),
  transitions: described(
    v.array(
      v.object({
        version: count,
        to: described(
          v.picklist([...taskStates, "cancelRequested"]),
          "`cancelRequested`: the task is still working, and its holder should stop.",
        ),
        at: instant("When"),
      }),
    ),
    "The last transitions since the enqueue, at most 16, the oldest first.",
  ),
  errors: described(
    v.array(
      v.object({
        attempt: described(count, "Which delivery, from 1."),
        at: instant("When it ended"),
        error: described(
          v.nullable(v.string()),
          "The error with which it was requeued or rejected, as text of at most 200 characters: `name: message` of an exception, other values as JSON. null if the lease expired or the worker fell silent: the consumer crashed, hung or lost its connection; and if it was taken back.",
        ),
        takenBack: v.exactOptional(
          described(v.literal(true), "An operator took the task back from its worker."),
        ),
        encoding: v.exactOptional(
          described(v.literal("base64"), "The error is encrypted: bytes, in base64."),
        ),
      }),
    ),
    "The attempts that did not complete the task: the last 16, the oldest first. They are kept as long as the result or the last error.",
  ),
  group: v.exactOptional(name),
  priority: v.exactOptional(count),
  worker: v.exactOptional(
    described(worker, "The worker that has or last had the task, if it gave its name."),
  ),
  progress: v.exactOptional(described(v.unknown(), "The progress that its holder last sent.")),
  enqueuedAt: instant("When it was enqueued"),
  dueAt: v.exactOptional(instant("When it becomes pending")),
  dequeuedAt: v.exactOptional(instant("When it was last delivered")),
  deadlineAt: v.exactOptional(instant("When its lease ends")),
  requeuedAt: v.exactOptional(instant("When it was last requeued")),
  endedAt: v.exactOptional(instant("When it was completed or rejected")),
  cancelRequested: v.exactOptional(
    described(v.literal(true), "The task was cancelled while it was working."),
  ),
  headers: v.exactOptional(headers),
  options: v.exactOptional(
    described(
      v.object({
        lease: v.exactOptional(count),
        maxAttempts: v.exactOptional(count),
        resultTtl: v.exactOptional(count),
        deadTtl: v.exactOptional(count),
        unique: v.exactOptional(count),
      }),
      "The options that the task fixed at its enqueue, without those that have the default; durations in ms.",
    ),
  ),
  payload: v.exactOptional(described(v.unknown(), "If it was requested and is still kept.")),
  payloadEncoding: v.exactOptional(base64("payload")),
  result: v.exactOptional(v.unknown()),
  encoding: v.exactOptional(base64("result")),
  error: v.exactOptional(described(v.unknown(), "The last error, in full.")),
  errorEncoding: v.exactOptional(base64("error")),
  payloadsHidden: payloadsHidden("payload, result, progress and headers"),
});

export const cancelled = v.object({
  id: taskId,
  state: described(
    v.picklist(["rejected", "working"]),
    "`working`: the holder gets `cancelRequested` at its next extend or settle.",
  ),
});
