import * as v from "valibot";
import { name, taskId } from "../request-schemas/values.ts";
import { count, described, instant, nextCursor, worker } from "./values.ts";

export const workers = v.object({
  workers: v.array(
    v.object({
      ...worker.entries,
      node: v.exactOptional(v.string()),
      pid: v.exactOptional(count),
      silentAfter: v.exactOptional(
        described(count, "As the worker sent it, ms; absent if no sweep fails the worker for its silence."),
      ),
      goneAfter: v.exactOptional(described(count, "As the worker sent it, ms.")),
      state: v.exactOptional(
        described(
          v.picklist(["working", "idle", "gone"]),
          "gone: without a sign of life for longer than it said, or failed; else working or idle. Absent if it said neither silentAfter nor goneAfter.",
        ),
      ),
      seenAt: described(
        v.nullable(count),
        "Its last pull, heartbeat or extend of one of its first tasks, epoch ms; null if it was failed.",
      ),
      failedAt: v.exactOptional(
        described(
          count,
          "When its tasks were taken from it, epoch ms; absent if it has pulled since. A process that hangs does not come back by itself: restart it.",
        ),
      ),
      silentAt: instant("When it is failed, or leaves the list, unless it pulls or sends a heartbeat before"),
      working: described(count, "Number of its tasks."),
      tasks: described(v.array(taskId), "Ids of its tasks, at most 100, in the order in which it took them."),
    }),
  ),
  now: instant("The time of Redis"),
  cursor: nextCursor,
});

export const heartbeat = v.object({
  leases: described(count, "Number of tasks that the worker has."),
  deadlineAt: described(
    v.nullable(count),
    "The earliest deadline of their leases, epoch ms; null if it has none.",
  ),
  cancelRequested: described(
    v.array(taskId),
    "Ids of tasks that were cancelled while working. Stop their work.",
  ),
  lost: v.exactOptional(
    described(
      v.array(taskId),
      "If receipts were sent: ids of tasks that are not, or no longer, its own. Stop their work.",
    ),
  ),
});

export const failed = v.object({
  name,
  returned: described(
    count,
    "Tasks that became pending again: at the front of the queue, or at the back of their group if they have a group or a priority.",
  ),
  rejected: described(count, "Tasks that had no attempt left, or that were cancelled."),
  more: described(v.boolean(), "True if the limit was reached. Call again for the rest."),
});

export const forgotten = v.object({ name, forgotten: v.literal(true) });
