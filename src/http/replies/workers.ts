import * as v from "valibot";
import { name, taskId } from "../schemas/values.ts";
import { count, described, instant, nextCursor, worker } from "./values.ts";

export const workers = v.object({
  workers: v.array(
    v.object({
      ...worker.entries,
      node: v.exactOptional(v.string()),
      pid: v.exactOptional(count),
      silentAfter: v.exactOptional(described(count, "Milliseconds, as it told; absent: it is never failed.")),
      seenAt: described(
        v.nullable(count),
        "Its last pull or heartbeat, epoch ms; null where it was failed and some of its tasks are still to be taken.",
      ),
      silentAt: instant("When it is failed, or leaves the list, unless it shows a sign of life before"),
      working: described(count, "How many tasks it has."),
      tasks: described(v.array(taskId), "Their ids, at most 100, the first taken first."),
    }),
  ),
  now: instant("Redis's time"),
  cursor: nextCursor,
});

export const heartbeat = v.object({
  leases: described(count, "How many tasks the worker has."),
  deadlineAt: described(
    v.nullable(count),
    "Until when all their leases last at least, epoch ms; null where it has none.",
  ),
  cancelRequested: described(
    v.array(taskId),
    "Those that were cancelled while it works on them: stop with them.",
  ),
  lost: v.exactOptional(
    described(
      v.array(taskId),
      "If receipts were sent: ids of tasks that are not, or no longer, its own. Stop working on them.",
    ),
  ),
});

export const failed = v.object({
  name,
  returned: described(
    count,
    "Tasks that became pending again: at the front, or at the back of their group if they have a group or a priority.",
  ),
  rejected: described(count, "Tasks that had no attempt left, or were to be cancelled."),
  more: described(v.boolean(), "True where the limit was reached: call again for the rest."),
});
