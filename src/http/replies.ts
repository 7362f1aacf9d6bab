import * as v from "valibot";
import { taskId } from "./schemas.ts";

/**
 * What the routes answer with. The app takes only the types from here; the OpenAPI document is built
 * from the schemas. Replies may gain fields, so these objects are not closed.
 */

/** The type of a reply, as a handler makes it: optional fields may be there and undefined. */
export type ReplyOf<Schema extends v.GenericSchema> = Loose<v.InferOutput<Schema>>;

type Loose<Value> = Value extends readonly (infer Item)[]
  ? readonly Loose<Item>[]
  : Value extends object
    ? {
        readonly [Key in keyof Value]: object extends Pick<Value, Key>
          ? Loose<Value[Key]> | undefined
          : Loose<Value[Key]>;
      }
    : Value;

const count = v.pipe(v.number(), v.integer(), v.minValue(0));
const described = <Schema extends v.GenericSchema>(schema: Schema, meaning: string) =>
  v.pipe(schema, v.description(meaning));
const instant = (meaning: string) => described(count, `${meaning}, epoch ms.`);
const base64 = (of: string) => described(v.literal("base64"), `The ${of} is bytes, in base64.`);
const state = v.picklist(["pending", "delayed", "working", "completed", "rejected"]);
const reason = v.picklist(["rejected", "attempts_exhausted", "lease_expired", "cancelled"]);
const headers = v.record(v.string(), v.string());

export const enqueued = v.object({
  id: taskId,
  created: described(
    v.boolean(),
    "False where the id was known already from another enqueue: nothing was changed. A copy of a request is answered as the first.",
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
      headers: v.exactOptional(headers),
    }),
  ),
  nextDueAt: described(
    v.nullable(count),
    "When it is worth pulling again, epoch ms: at once, or when the next delayed task is due or lease ends; null where nothing waits.",
  ),
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
  version: described(count, "Rises with every change of the record."),
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

export const queues = v.object({
  queues: v.array(
    v.object({ name: v.string(), seenAt: instant("When a task was last enqueued, to the minute") }),
  ),
  cursor: described(v.nullable(v.string()), "Where the next page begins; null on the last."),
});

export const queue = v.object({
  queue: v.string(),
  pending: count,
  delayed: count,
  working: count,
  rejected: described(count, "Dead letters."),
  oldestAge: described(v.nullable(count), "Age of the next task in line, ms; null where none is pending."),
  nextDueAt: described(
    v.nullable(count),
    "When the next delayed task is due or the next lease ends, epoch ms.",
  ),
  broken: described(count, "Entries without a usable record, put aside by a pull; 0 in a sound queue."),
});

export const swept = v.object({
  queues: described(count, "Queues that were swept."),
  promoted: described(count, "Delayed tasks that became pending."),
  reclaimed: described(count, "Expired leases whose task became pending again."),
  rejected: described(count, "Expired leases whose task had no attempt left."),
  expired: described(count, "Records whose time was over."),
  more: described(v.boolean(), "Whether the budget ended the sweep with work left: call again."),
  failed: described(
    v.array(v.object({ queue: v.string(), code: v.string() })),
    "Queues whose sweep failed, and why; the others were swept.",
  ),
});

export const health = v.object({ status: v.literal("ok") });

export const problem = v.object({
  type: v.string(),
  title: v.string(),
  status: count,
  code: described(v.string(), "Stable; what a program should look at."),
  detail: v.string(),
  errors: v.exactOptional(
    v.array(v.object({ path: described(v.string(), "Such as `tasks[3].delay`."), message: v.string() })),
  ),
  instance: v.exactOptional(described(v.string(), "Names this occurrence in the server's log.")),
});
